/* Collectives that move data: each of them blocking, nonblocking, persistent; in place or not. */
#include "phases.h"

typedef enum {
  barrier,
  bcast,
  gather,
  gatherv,
  scatter,
  scatterv,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  alltoallw,
  moves
} Move;
static const char* const names[] = {"barrier",  "bcast",     "gather",    "gatherv",
                                    "scatter",  "scatterv",  "allgather", "allgatherv",
                                    "alltoall", "alltoallv", "alltoallw"};

/* A collective under way. All of it stays until it has completed. */
typedef struct {
  Move move;
  Members where;
  int root, in_place, counts[ranks_most][ranks_most]; /* elements from one to the other */
  Element out, in;
  Blocks sent, received;
  int sent_bytes[ranks_most], received_bytes[ranks_most]; /* where blocks are, for alltoallw */
  MPI_Datatype sent_types[ranks_most], received_types[ranks_most];
  Operation* operation;
  unsigned char sending[];
} Job;

/* MPICH 4.0's persistent collectives send in later rounds what was there in the first one. */
Mode draw_mode(void) {
  Mode mode = (Mode)draw(3);
#ifdef HAS_MPI_4
  if (mode == persistent && is_mpich) mode = nonblocking;
#else
  if (mode == persistent) mode = nonblocking;
#endif
  return mode;
}

static int has_counts(Move move) {
  return move == gatherv || move == scatterv || move == allgatherv || move == alltoallv || move == alltoallw;
}
static int spreads(Move move) {
  return move == scatter || move == scatterv || move == alltoall || move == alltoallv || move == alltoallw;
}
static int has_root(Move move) { return move >= bcast && move <= scatterv; }

/* Whether a rank has a block for each other one, or only one for all. */
static int many_sent(const Job* job) {
  if (job->move == barrier) return 0;
  return !spreads(job->move) ? 1 : has_root(job->move) && job->where.me != job->root ? 0 : job->where.size;
}
static int many_received(const Job* job) {
  if (job->move == barrier) return 0;
  if (job->move == bcast || job->move == scatter || job->move == scatterv) return 1;
  return has_root(job->move) && job->where.me != job->root ? 0 : job->where.size;
}

static void draw_counts(Job* job, size_t most) {
  int size = job->where.size, same = (int)(draw_bytes(most) / job->out.width);
  int symmetric = job->in_place && job->move >= alltoall;
  for (int i = 0; i < size; i++)
    for (int j = 0; j < size; j++) {
      job->counts[i][j] = has_counts(job->move) ? (int)(draw_bytes(most) / job->out.width) : same;
      if (!spreads(job->move)) job->counts[i][j] = job->counts[i][0];
      if (has_root(job->move) && spreads(job->move)) job->counts[i][j] = job->counts[0][j];
      if (symmetric && j < i) job->counts[i][j] = job->counts[j][i];
    }
}

/* Sender and receiver of the block that this rank has for, or from, its partner `i`. */
static int sent_count(const Job* job, int i) { return job->counts[job->where.me][i]; }
static int received_count(const Job* job, int i) {
  return job->counts[job->move == scatter || job->move == scatterv ? job->root : i]
                    [spreads(job->move) ? job->where.me : 0];
}

static uint64_t block_base(const Job* job, int from, int to, int round) {
  return value_of(job->where.world[from], spreads(job->move) ? job->where.world[to] : 0, round);
}

static void lay_out(Job* job) {
  job->sent.many = many_sent(job);
  job->received.many = many_received(job);
  for (int i = 0; i < job->sent.many; i++) job->sent.counts[i] = sent_count(job, i);
  for (int i = 0; i < job->received.many; i++) job->received.counts[i] = received_count(job, i);
  place_blocks(&job->sent, &job->out, !has_counts(job->move) || job->sent.many == 1);
  place_blocks(&job->received, &job->in, !has_counts(job->move) || job->received.many == 1);
  for (int i = 0; i < job->where.size; i++) {
    job->sent_bytes[i] = job->sent.at[i] * (int)job->out.extent;
    job->received_bytes[i] = job->received.at[i] * (int)job->in.extent;
    job->sent_types[i] = job->out.type;
    job->received_types[i] = job->in.type;
  }
}

static Job* make_job(Move move, const Members* where, size_t most) {
  Job small = {.move = move, .where = *where, .root = (int)draw((uint64_t)where->size)};
  Element drawn = draw_element();
  small.in_place = draw(4) == 0 && move != bcast && move != barrier;
#ifdef OPEN_MPI
  if (move == alltoallw) small.in_place = 0; /* Open MPI 4.1 leaves some blocks as they were */
#endif
  small.out = make_element(&drawn);
  small.in = make_element(&drawn);
  draw_counts(&small, most);
  lay_out(&small);
  Job* job = allocate(sizeof *job + small.sent.span + 8);
  *job = small;
  Operation* operation = job->operation = new_operation();
  operation->span = job->received.span;
  operation->memory = blank(operation->span);
  operation->image = blank(operation->span);
  operation->more = job;
  operation->name = names[move];
  return job;
}

static unsigned char* received_at(const Job* job, unsigned char* memory, int i) {
  return memory + (size_t)job->received.at[i] * job->in.extent;
}

/* What of the receive buffer is read: everything of an alltoall in place, else this rank's own block. */
static void fill_in_place(Job* job, int round) {
  int me = job->where.me;
  unsigned char* memory = job->operation->memory;
  if (job->move == bcast && me == job->root)
    write_block(memory, &job->in, block_base(job, me, 0, round), job->received.counts[0]);
  if (!job->in_place) return;
  for (int i = 0; i < job->received.many; i++) {
    if (job->move >= alltoall)
      write_block(received_at(job, memory, i), &job->in, block_base(job, me, i, round),
                  job->received.counts[i]);
    else if (i == me && job->move != scatter && job->move != scatterv)
      write_block(received_at(job, memory, i), &job->in, block_base(job, me, me, round),
                  job->received.counts[i]);
  }
}

static int root_keeps_its_own(const Job* job) {
  return job->in_place && (job->move == scatter || job->move == scatterv) && job->where.me == job->root;
}

static void fill(void* of, int round) {
  Job* job = of;
  int me = job->where.me, from_root = job->move == bcast || job->move == scatter || job->move == scatterv;
  for (int i = 0; i < job->sent.many; i++)
    write_block(job->sending + (size_t)job->sent.at[i] * job->out.extent, &job->out,
                block_base(job, me, i, round), job->sent.counts[i]);
  for (int i = 0; i < job->received.many && !root_keeps_its_own(job); i++)
    write_block(received_at(job, job->operation->image, i), &job->in,
                block_base(job, from_root ? job->root : i, me, round), job->received.counts[i]);
  fill_in_place(job, round);
}

static void call(Job* job, Mode mode) {
  MPI_Request* request = &job->operation->request;
  MPI_Comm comm = job->where.comm;
  MPI_Datatype out = job->out.type, in = job->in.type;
  Blocks *sent = &job->sent, *received = &job->received;
  int root = job->root, at_root = job->where.me == root, sends = job->counts[0][0], takes = sends;
  void *sending = job->sending, *receiving = job->operation->memory;
  void* all_in_place = job->in_place ? MPI_IN_PLACE : sending;
  void* root_in_place = job->in_place && at_root ? MPI_IN_PLACE : sending;
  void* root_keeps = job->in_place && at_root ? MPI_IN_PLACE : receiving;
  switch (job->move) {
    case barrier:
#ifdef HAS_MPI_4
      if (mode == persistent)
        MPI_Barrier_init(comm, MPI_INFO_NULL, request);
      else
#endif
          if (mode == nonblocking)
        MPI_Ibarrier(comm, request);
      else
        MPI_Barrier(comm);
      break;
    case bcast:
      CALL(Bcast, bcast, receiving, takes, in, root, comm);
      break;
    case gather:
      CALL(Gather, gather, root_in_place, sends, out, receiving, takes, in, root, comm);
      break;
    case gatherv:
      CALL(Gatherv, gatherv, root_in_place, sent->counts[0], out, receiving, received->counts, received->at,
           in, root, comm);
      break;
    case scatter:
      CALL(Scatter, scatter, sending, sends, out, root_keeps, takes, in, root, comm);
      break;
    case scatterv:
      CALL(Scatterv, scatterv, sending, sent->counts, sent->at, out, root_keeps, received->counts[0], in,
           root, comm);
      break;
    case allgather:
      CALL(Allgather, allgather, all_in_place, sends, out, receiving, takes, in, comm);
      break;
    case allgatherv:
      CALL(Allgatherv, allgatherv, all_in_place, sent->counts[0], out, receiving, received->counts,
           received->at, in, comm);
      break;
    case alltoall:
      CALL(Alltoall, alltoall, all_in_place, sends, out, receiving, takes, in, comm);
      break;
    case alltoallv:
      CALL(Alltoallv, alltoallv, all_in_place, sent->counts, sent->at, out, receiving, received->counts,
           received->at, in, comm);
      break;
    default:
      CALL(Alltoallw, alltoallw, all_in_place, sent->counts, job->sent_bytes, job->sent_types, receiving,
           received->counts, job->received_bytes, job->received_types, comm);
  }
}

static void free_types(Job* job) {
  free_element(&job->out);
  free_element(&job->in);
}

void movement(void) {
  const Members* where = draw_members();
  Move move = (Move)draw(moves);
  Mode mode = draw_mode();
  size_t most = draw(10) ? 5000 : draw(5) ? 140000 : 1100000;
  if (where->comm == MPI_COMM_NULL) return;
  room_for(1);
  Job* job = make_job(move, where, most);
  if (phase.certain) job->operation->counts = phase.base;
  if (mode != persistent) fill(job, 0);
  call(job, mode);
  free_types(job);
  see_through(job->operation, mode, fill);
}
