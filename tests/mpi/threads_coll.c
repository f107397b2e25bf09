/* Collectives of several threads at once, each on a communicator of its own; communicators, attributes,
 * datatypes, operations and errors made and used by several threads (MPI 3.1, 12.4). */
#include "threads.h"

static MPI_Comm comms[THREADS];

static void collectives(int thread) {
  MPI_Comm comm = comms[thread];
  int* values = allocate(sizeof(int) * 20000);
  for (int round = 0; round < 15; round++) {
    int own = (int)(pattern(rank, thread, round) & 0xffff), sum = 0, expected = 0, root = round % ranks;
    for (int r = 0; r < ranks; r++) expected += (int)(pattern(r, thread, round) & 0xffff);
    OK(MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_EQ(sum, expected);
    int count = round % 3 ? round : 20000;
    if (rank == root) fill(values, count, thread, round);
    OK(MPI_Bcast(values, count, MPI_INT, root, comm));
    CHECK(filled(values, count, thread, round));
    if (round % 4 == thread % 4) OK(MPI_Barrier(comm));
    int all[64];
    OK(MPI_Allgather(&own, 1, MPI_INT, all, 1, MPI_INT, comm));
    for (int r = 0; r < ranks; r++) CHECK_EQ(all[r], (int)(pattern(r, thread, round) & 0xffff));
  }
  free(values);
}

/* Messages of communicators made at the same time stay apart: each carries its maker's mark. */
static void communicators(int thread) {
  enum { MADE = 10 };
  MPI_Comm made[MADE];
  for (int i = 0; i < MADE; i++) {
    if (i % 3 == 2)
      OK(MPI_Comm_split(comms[thread], 0, rank, &made[i]));
    else if (i % 3 == 1)
      OK(MPI_Comm_dup(made[i - 1], &made[i]));
    else
      OK(MPI_Comm_dup(comms[thread], &made[i]));
  }
  int in[MADE], out[MADE];
  MPI_Request requests[2 * MADE];
  for (int i = 0; i < MADE; i++) {
    int at = MADE - 1 - i;
    OK(MPI_Irecv(&in[at], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, made[at], &requests[at]));
  }
  for (int i = 0; i < MADE; i++) {
    out[i] = thread * 1000 + i;
    OK(MPI_Isend(&out[i], 1, MPI_INT, (rank + 1) % ranks, 0, made[i], &requests[MADE + i]));
  }
  OK(MPI_Waitall(2 * MADE, requests, MPI_STATUSES_IGNORE));
  for (int i = 0; i < MADE; i++) {
    int sum = 0, one = thread + i;
    CHECK_EQ(in[i], thread * 1000 + i);
    OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, made[i]));
    CHECK_EQ(sum, ranks * (thread + i));
    OK(MPI_Comm_free(&made[i]));
  }
}

/* A group's communicator, by threads of the same processes, told apart by the tag. */
static void groups(int thread) {
  MPI_Group group;
  MPI_Comm made;
  int sum = 0, one = thread;
  OK(MPI_Comm_group(MPI_COMM_WORLD, &group));
  for (int i = 0; i < 5; i++) {
    OK(MPI_Comm_create_group(MPI_COMM_WORLD, group, thread, &made));
    OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, made));
    CHECK_EQ(sum, thread * ranks);
    OK(MPI_Comm_free(&made));
  }
  OK(MPI_Group_free(&group));
}

/* Callbacks may call MPI, and wait for locks that other threads hold around MPI calls. */
static pthread_mutex_t program_lock = PTHREAD_MUTEX_INITIALIZER;
static int copies;

static int copy_attribute(MPI_Comm comm, int keyval, void* extra, void* value, void* copy, int* flag) {
  int size = 0;
  (void)keyval, (void)extra;
  MPI_Comm_size(comm, &size);
  pthread_mutex_lock(&program_lock);
  copies++;
  pthread_mutex_unlock(&program_lock);
  *(void**)copy = value;
  *flag = size == ranks;
  return MPI_SUCCESS;
}

static int key;
static void callbacks(int thread) {
  for (int i = 0; i < 20; i++) {
    if (thread % 2) {
      int flag;
      pthread_mutex_lock(&program_lock);
      OK(MPI_Iprobe(MPI_ANY_SOURCE, 99, comms[thread], &flag, MPI_STATUS_IGNORE));
      pthread_mutex_unlock(&program_lock);
      CHECK(!flag);
      continue;
    }
    MPI_Comm made;
    void* value = NULL;
    int flag = 0;
    OK(MPI_Comm_dup(comms[thread], &made));
    OK(MPI_Comm_get_attr(made, key, &value, &flag));
    CHECK(flag && value == &comms[thread]);
    OK(MPI_Comm_free(&made));
  }
}

/* Errors are those of the thread that has made them. */
static void errors(int thread) {
  MPI_Comm comm = comms[thread];
  for (int i = 0; i < 30; i++) {
    char text[MPI_MAX_ERROR_STRING], number[32];
    int length, rank_asked = 1000 + thread * 100 + i;
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    int code = MPI_Send(&i, 1, MPI_INT, rank_asked, 0, comm), class;
    OK(MPI_Error_class(code, &class));
    CHECK_EQ(class, MPI_ERR_RANK);
    OK(MPI_Error_string(code, text, &length));
    snprintf(number, sizeof number, "%d", rank_asked);
    if (is_strict()) CHECK(strstr(text, number) != NULL);
  }
}

/* Handles of all kinds, made and freed by all. */
static void maximum_of_pairs(void* in, void* inout, int* count, MPI_Datatype* type) {
  int size;
  MPI_Type_size(*type, &size);
  for (int i = 0; i < *count; i++)
    if (((int*)in)[2 * i] > ((int*)inout)[2 * i]) memcpy((int*)inout + 2 * i, (int*)in + 2 * i, (size_t)size);
}

static void objects(int thread) {
  for (int i = 0; i < 20; i++) {
    MPI_Datatype pair, strided;
    MPI_Op op;
    MPI_Info info;
    MPI_Group group, half;
    int own[2] = {rank * 10 + i, thread}, top[2] = {-1, -1}, range[1][3] = {{0, ranks - 1, 2}};
    OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    OK(MPI_Type_commit(&pair));
    OK(MPI_Type_vector(3, 1, 2, pair, &strided));
    OK(MPI_Op_create(maximum_of_pairs, 1, &op));
    OK(MPI_Allreduce(own, top, 1, pair, op, comms[thread]));
    CHECK(top[0] == (ranks - 1) * 10 + i && top[1] == thread);
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "a", "b"));
    OK(MPI_Comm_group(comms[thread], &group));
    OK(MPI_Group_range_incl(group, 1, range, &half));
    OK(MPI_Group_free(&half));
    OK(MPI_Group_free(&group));
    OK(MPI_Info_free(&info));
    OK(MPI_Op_free(&op));
    OK(MPI_Type_free(&strided));
    OK(MPI_Type_free(&pair));
  }
}

int main(int argc, char** argv) {
  begin_threads("threads_coll", &argc, &argv);
  OK(MPI_Comm_create_keyval(copy_attribute, MPI_COMM_NULL_DELETE_FN, &key, NULL));
  for (int t = 0; t < THREADS; t++) {
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]));
    OK(MPI_Comm_set_attr(comms[t], key, &comms[t]));
  }
  in_threads(THREADS, collectives);
  in_threads(THREADS, communicators);
  in_threads(THREADS, groups);
  in_threads(THREADS, callbacks);
  CHECK(copies > 0);
  in_threads(THREADS, errors);
  in_threads(THREADS, objects);
  OK(MPI_Comm_free_keyval(&key));
  for (int t = 0; t < THREADS; t++) OK(MPI_Comm_free(&comms[t]));
  return finish();
}
