/* What the settings of a job change: "tuning MEASURE FILE" prints one number, which tuning.sh compares under
 * different settings. */
#include <fcntl.h>
#include <unistd.h>

#include "check.h"

static const char* path;

static void await_file(void) {
  while (access(path, F_OK) != 0) usleep(1000);
}
static void make_file(void) { close(open(path, O_CREAT | O_WRONLY, 0600)); }

/* A variable of the library now, in all its life. */
static unsigned long long variable(const char* name, int kind) {
  MPI_T_pvar_session session;
  MPI_T_pvar_handle handle;
  int index, count;
  unsigned long long value = 0;
  OK(MPI_T_pvar_get_index(name, kind, &index));
  OK(MPI_T_pvar_session_create(&session));
  OK(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count));
  if (kind == MPI_T_PVAR_CLASS_COUNTER) {
    OK(MPI_T_pvar_start(session, handle));
  }
  OK(MPI_T_pvar_read(session, handle, &value));
  OK(MPI_T_pvar_session_free(&session));
  return value;
}

static MPI_T_pvar_session counting;
static MPI_T_pvar_handle counter;
static void start_counter(const char* name) {
  int index, count;
  OK(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index));
  OK(MPI_T_pvar_session_create(&counting));
  OK(MPI_T_pvar_handle_alloc(counting, index, NULL, &counter, &count));
  OK(MPI_T_pvar_start(counting, counter));
}
static unsigned long long counted(void) {
  unsigned long long value = 0;
  OK(MPI_T_pvar_read(counting, counter, &value));
  return value;
}

static unsigned long long setting(const char* name) {
  MPI_T_cvar_handle handle;
  MPI_Datatype type;
  int index, count;
  unsigned long long value = 0;
  OK(MPI_T_cvar_get_index(name, &index));
  OK(MPI_T_cvar_get_info(index, NULL, NULL, NULL, &type, NULL, NULL, NULL, NULL, NULL));
  OK(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
  OK(MPI_T_cvar_read(handle, &value));
  OK(MPI_T_cvar_handle_free(&handle));
  return type == MPI_UNSIGNED ? (unsigned)value : value;
}

/* Bytes that went in pieces when rank 0 has sent `bytes` to rank 1. */
static unsigned long long bulk(int bytes) {
  char* data = allocate((size_t)bytes);
  start_counter("llamada_bytes_bulk");
  if (rank == 0) OK(MPI_Send(data, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD));
  if (rank == 1) OK(MPI_Recv(data, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  return counted();
}

/* How many of `count` operations that `start` begins are over while the other ranks are outside MPI. */
static unsigned long long over(int count, int bytes, int collective) {
  static MPI_Request requests[200];
  char* data = allocate((size_t)count * bytes);
  unsigned long long found = 0;
  int others_begin = rank > 0;
  if (others_begin) await_file();
  for (int i = 0; i < count; i++) {
    char* at = data + (size_t)i * bytes;
    if (collective)
      OK(MPI_Ibcast(at, bytes, MPI_CHAR, 0, MPI_COMM_WORLD, &requests[i]));
    else if (rank == 0)
      OK(MPI_Isend(at, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &requests[i]));
    else if (rank == 1)
      OK(MPI_Irecv(at, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &requests[i]));
    else
      requests[i] = MPI_REQUEST_NULL;
  }
  for (int round = 0; rank == 0 && round < 50; round++) {
    int some, indices[200];
    OK(MPI_Testsome(count, requests, &some, indices, MPI_STATUSES_IGNORE));
    if (some != MPI_UNDEFINED) found += (unsigned long long)some;
    usleep(1000);
  }
  if (rank == 0) make_file();
  OK(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
  return found;
}

/* How often rank 0 slept while it waited for the others. */
static unsigned long long sleeps(void) {
  start_counter("llamada_sleeps");
  if (rank > 0) usleep(300 * 1000);
  MPI_Barrier(MPI_COMM_WORLD);
  return counted();
}

/* Messages from rank 1 that rank 0 has taken in, which only sends. */
static unsigned long long taken_in(void) {
  int value = 7;
  unsigned long long found = 0;
  if (rank == 1) {
    OK(MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD));
    make_file();
    OK(MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  } else if (rank == 0) {
    await_file();
    OK(MPI_Send(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD));
    found = variable("llamada_unexpected_queue_length", MPI_T_PVAR_CLASS_LEVEL);
    OK(MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  }
  return found;
}

/* What a member sends for `bytes` of a broadcast. */
static unsigned long long sent_in_broadcast(int bytes, int root) {
  char* data = allocate((size_t)bytes);
  start_counter("llamada_messages_sent");
  OK(MPI_Bcast(data, bytes, MPI_CHAR, root, MPI_COMM_WORLD));
  return counted();
}

static unsigned long long measure(const char* what) {
  if (!strcmp(what, "bulk_small")) return bulk(4000);
  if (!strcmp(what, "bulk_large")) return bulk(600 * 1000);
  if (!strcmp(what, "sends_over")) return over(100, 8000, 0);
  if (!strcmp(what, "broadcasts_over")) return over(50, 60 * 1000, 1);
  if (!strcmp(what, "sleeps")) return sleeps();
  if (!strcmp(what, "taken_in")) return taken_in();
  if (!strcmp(what, "sent_by_root")) return sent_in_broadcast(1 << 20, 0);
  if (!strcmp(what, "sent_by_other")) return sent_in_broadcast(8, 1);
  if (!strcmp(what, "memory")) {
    bulk(20 * 1000 * 1000);
    return variable("llamada_log_bytes_touched", MPI_T_PVAR_CLASS_SIZE);
  }
  return setting(what);
}

int main(int argc, char** argv) {
  int provided;
  begin("tuning", &argc, &argv);
  OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
  CHECK(argc == 3 && ranks == 3);
  path = argv[2];
  unsigned long long found = measure(argv[1]);
  if (rank == 0) printf("%llu\n", found);
  MPI_Finalize();
  return 0;
}
