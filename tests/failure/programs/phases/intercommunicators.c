/* Two groups that face each other: messages, collectives, and at the end one communicator of both. */
#include "phases.h"

enum { most = 3000 };
static int out[most * ranks_most], in[most * ranks_most];

typedef struct {
  MPI_Comm comm;
  int side, size, me, others; /* 0 or 1; of this side; ranks of the other one */
} Facing;

/* The even ones and the odd ones. */
static MPI_Comm split(Facing* facing) {
  MPI_Comm mine;
  facing->side = rank % 2;
  MPI_Comm_split(MPI_COMM_WORLD, facing->side, 0, &mine);
  MPI_Comm_size(mine, &facing->size);
  MPI_Comm_rank(mine, &facing->me);
  facing->others = ranks - facing->size;
  MPI_Intercomm_create(mine, 0, MPI_COMM_WORLD, 1 - facing->side, tag_of(0), &facing->comm);
  return mine;
}

static int remote_world(const Facing* facing, int other) { return 2 * other + 1 - facing->side; }

static void fill(int* to, int from, int for_whom, int k, int count) {
  write_bytes((unsigned char*)to, value_of(from, for_whom, k), 0, (size_t)count * 4);
}

static void check(const int* got, int from, int for_whom, int k, int count) {
  static int expected[most];
  fill(expected, from, for_whom, k, count);
  CHECK(memcmp(got, expected, (size_t)count * 4) == 0);
}

/* Completes a collective in the mode in which it was called. */
static void complete(Mode mode, MPI_Request* request) {
  if (mode == persistent) MPI_Start(request);
  if (mode != blocking) MPI_Wait(request, MPI_STATUS_IGNORE);
  if (mode == persistent) MPI_Request_free(request);
}

static void messages(const Facing* facing, int k, int count) {
  MPI_Request requests[2 * ranks_most];
  int posted = 0;
  for (int i = 0; i < facing->others; i++)
    MPI_Irecv(in + i * count, count, MPI_INT, i, tag_of(1 + k), facing->comm, &requests[posted++]);
  for (int i = 0; i < facing->others; i++) {
    fill(out + i * count, rank, remote_world(facing, i), k, count);
    MPI_Isend(out + i * count, count, MPI_INT, i, tag_of(1 + k), facing->comm, &requests[posted++]);
  }
  MPI_Waitall(posted, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < facing->others; i++) check(in + i * count, remote_world(facing, i), rank, k, count);
}

static void broadcast(const Facing* facing, int k, int count, Mode mode) {
  MPI_Request handle, *request = &handle;
  int giving = (int)draw(2), sizes[2] = {(ranks + 1) / 2, ranks / 2};
  int root = (int)draw((uint64_t)sizes[giving]), root_world = 2 * root + giving;
  int as_seen = facing->side != giving ? root : facing->me == root ? MPI_ROOT : MPI_PROC_NULL;
  if (rank == root_world) fill(in, root_world, 0, k, count);
  CALL(Bcast, bcast, in, count, MPI_INT, as_seen, facing->comm);
  complete(mode, request);
  if (facing->side != giving) check(in, root_world, 0, k, count);
}

static void gather_all(const Facing* facing, int k, int count, Mode mode) {
  MPI_Request handle, *request = &handle;
  fill(out, rank, 0, k, count);
  CALL(Allgather, allgather, out, count, MPI_INT, in, count, MPI_INT, facing->comm);
  complete(mode, request);
  for (int i = 0; i < facing->others; i++) check(in + i * count, remote_world(facing, i), 0, k, count);
}

static void exchange_all(const Facing* facing, int k, int count, Mode mode) {
  MPI_Request handle, *request = &handle;
  for (int i = 0; i < facing->others; i++) fill(out + i * count, rank, remote_world(facing, i), k, count);
  CALL(Alltoall, alltoall, out, count, MPI_INT, in, count, MPI_INT, facing->comm);
  complete(mode, request);
  for (int i = 0; i < facing->others; i++) check(in + i * count, remote_world(facing, i), rank, k, count);
}

static void reduce_all(const Facing* facing, int k, int count, Mode mode) {
  MPI_Request handle, *request = &handle;
  static int expected[most], one[most];
  fill(out, rank, 0, k, count);
  memset(expected, 0, sizeof expected);
  for (int i = 0; i < facing->others; i++) {
    fill(one, remote_world(facing, i), 0, k, count);
    for (int j = 0; j < count; j++) expected[j] ^= one[j];
  }
  CALL(Allreduce, allreduce, out, in, count, MPI_INT, MPI_BXOR, facing->comm);
  complete(mode, request);
  CHECK(memcmp(in, expected, (size_t)count * 4) == 0);
}

static void merge(const Facing* facing) {
  MPI_Comm both;
  MPI_Intercomm_merge(facing->comm, facing->side, &both);
  Members where = members_of(both);
  CHECK(where.size == ranks);
  for (int i = 0; i < ranks; i++) {
    int evens = (ranks + 1) / 2;
    CHECK(where.world[i] == (i < evens ? 2 * i : 2 * (i - evens) + 1));
  }
  MPI_Barrier(both);
  MPI_Comm_free(&both);
}

void intercommunicator(void) {
  Facing facing;
  if (ranks < 2) return;
  MPI_Comm mine = split(&facing);
  for (int k = 0, steps = 1 + (int)draw(4); k < steps; k++) {
    int count = (int)draw_bytes(most * 4) / 4;
    Mode mode = draw_mode();
    if (is_mpich) mode = blocking; /* MPICH 4.0's MPI_Ibcast fails here */
    switch (draw(6)) {
      case 0:
        messages(&facing, k, count);
        break;
      case 1:
        broadcast(&facing, k, count, mode);
        break;
      case 2:
        gather_all(&facing, k, count, mode);
        break;
      case 3:
        exchange_all(&facing, k, count, mode);
        break;
      case 4:
        reduce_all(&facing, k, count, mode);
        break;
      default:
        MPI_Barrier(facing.comm);
    }
  }
  if (draw(3) == 0) merge(&facing);
  MPI_Comm_free(&facing.comm);
  MPI_Comm_free(&mine);
}
