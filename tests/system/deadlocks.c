/* Programs whose ranks wait for each other for ever, and programs that only look so. The argument says which.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { large = 1 << 20 };
static int rank, size;
static char bytes[large];

static int is(const char* kind, const char* name) { return strcmp(kind, name) == 0; }
static void receive(int from, int tag) {
  MPI_Recv(bytes, large, MPI_CHAR, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void send(int to, int tag) { MPI_Send(bytes, 1, MPI_CHAR, to, tag, MPI_COMM_WORLD); }

/* ---- for ever */

static void receives(void) {
  if (rank > 1) return;
  if (rank == 1)
    for (int i = 0; i < 3; ++i) send(0, 6);
  receive(1 - rank, rank == 0 ? 5 : 7);
}

static void synchronous_sends(void) { MPI_Ssend(bytes, 8, MPI_CHAR, (rank + 1) % size, 3, MPI_COMM_WORLD); }

static void large_sends(void) { MPI_Send(bytes, large, MPI_CHAR, (rank + 1) % size, 4, MPI_COMM_WORLD); }

static void ring(void) { receive((rank + size - 1) % size, 1); }

static void missing_in_barrier(void) {
  if (rank == size - 1) receive(0, 9);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void roots(void) { MPI_Bcast(bytes, 4, MPI_CHAR, (rank + 1) % size, MPI_COMM_WORLD); }

static void order(void) {
  MPI_Comm first, second;
  MPI_Comm_dup(MPI_COMM_WORLD, &first);
  MPI_Comm_dup(MPI_COMM_WORLD, &second);
  MPI_Comm_set_name(first, "first");
  MPI_Comm_set_name(second, "second");
  MPI_Barrier(rank == 0 ? first : second);
  MPI_Barrier(rank == 0 ? second : first);
}

static void left(void) {
  if (rank == 0) receive(1, 2);
}

static void all_of_several(void) {
  MPI_Request requests[2];
  MPI_Irecv(bytes, 1, MPI_CHAR, (rank + 1) % size, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(bytes + 1, 1, MPI_CHAR, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &requests[1]);
  send((rank + size - 1) % size, 1);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void probes(void) {
  MPI_Status status;
  MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
}

static void nonblocking(void) {
  MPI_Request request;
  if (rank == 0) receive(1, 1);
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank == 1) send(0, 1);
}

static void window(void) {
  MPI_Win win;
  MPI_Group all, other;
  int peer = 1 - rank;
  MPI_Win_create(bytes, 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, &peer, &other);
  MPI_Win_start(other, 0, win);
}

/* ---- not for ever */

static void polls(void) {
  if (rank == 0) {
    for (int flag = 0; !flag;) {
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
      usleep(20000);
    }
    for (int other = 1; other < size; ++other) receive(other, 1), send(other, 2);
  } else {
    sleep(2);
    send(0, 1);
    receive(0, 2);
  }
}

static void sleep_first(unsigned seconds) {
  if (rank == 0) {
    sleep(seconds);
    for (int other = 1; other < size; ++other) send(other, 1);
  } else {
    receive(0, 1);
  }
}

static void sleeps(void) { sleep_first(3); }
/* until the job is ended */
static void sleeps_on(void) { sleep_first(600); }

static void reads_input(void) {
  char line[16];
  if (rank == 0 && fgets(line, sizeof line, stdin) == NULL && !feof(stdin)) exit(3);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void* send_later(void* unused) {
  sleep(3);
  MPI_Send(bytes, 1, MPI_CHAR, 1 - rank, 1, MPI_COMM_WORLD);
  return unused;
}

static void second_thread(void) {
  pthread_t thread;
  if (rank > 1) return;
  pthread_create(&thread, NULL, send_later, NULL);
  receive(1 - rank, 1);
  pthread_join(thread, NULL);
}

static void bursts(void) {
  for (int round = 0; round < 4; ++round) {
    if (rank == 0) usleep(700000);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 50; ++i) {
      MPI_Sendrecv_replace(bytes, large, MPI_CHAR, (rank + 1) % size, 0, (rank + size - 1) % size, 0,
                           MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Allreduce(MPI_IN_PLACE, bytes, 8192, MPI_CHAR, MPI_BOR, MPI_COMM_WORLD);
    }
  }
}

static void up(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("up\n"), fflush(stdout);
}

static void long_work(void) {
  up();
  if (rank == 0)
    for (;;) pause();
  receive(rank - 1, 1);
}

static void exchange(void) {
  up();
  for (;;) MPI_Allreduce(MPI_IN_PLACE, bytes, 64, MPI_CHAR, MPI_BOR, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } kinds[] = {{"receives", receives},
               {"synchronous_sends", synchronous_sends},
               {"large_sends", large_sends},
               {"ring", ring},
               {"missing_in_barrier", missing_in_barrier},
               {"roots", roots},
               {"order", order},
               {"left", left},
               {"all_of_several", all_of_several},
               {"probes", probes},
               {"nonblocking", nonblocking},
               {"window", window},
               {"polls", polls},
               {"sleeps", sleeps},
               {"sleeps_on", sleeps_on},
               {"reads_input", reads_input},
               {"second_thread", second_thread},
               {"bursts", bursts},
               {"long_work", long_work},
               {"exchange", exchange}};
  const char* kind = argc > 1 ? argv[1] : "";
  int provided;
  MPI_Init_thread(&argc, &argv, is(kind, "second_thread") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                  &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; ++i)
    if (is(kind, kinds[i].name)) kinds[i].run();
  MPI_Finalize();
  return 0;
}
