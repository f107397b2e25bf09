/* standby STEPS MICROSECONDS MEBIBYTES [OBSTACLE]: a program whose ranks may go on from parked copies. Each
 * step has a ring, a sum, receives from any source, a question for the time, and a line in a file of the
 * rank; some have a communicator of their own. A rank reads a file, too, and has so much memory that it
 * changes a little. Prints a line for each hundredth step and a digest of all at the end. The order in which
 * messages from any source come is no part of it. An OBSTACLE (pipe, twice, timer, file, requests) is why no
 * copy can be made. With `wiped` a copy lacks a page of the memory, and goes another way. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

typedef unsigned long long word;

static word mix(word state, word with) {
  return state * 6364136223846793005ULL + 1442695040888963407ULL + with;
}

/* One message from each other rank, in the order in which they come. */
static word from_any(int rank, int size, word state) {
  word sum = 0, got = 0;
  MPI_Request requests[16];
  int count = 0;
  for (int other = 0; other < size; other++)
    if (other != rank)
      MPI_Isend(&state, 1, MPI_UNSIGNED_LONG_LONG, other, 9, MPI_COMM_WORLD, &requests[count++]);
  for (int other = 1; other < size; other++) {
    int there = 0;
    while (!there) MPI_Iprobe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    MPI_Recv(&got, 1, MPI_UNSIGNED_LONG_LONG, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sum += got;
  }
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  return sum;
}

/* A communicator that is freed at once. */
static word from_root(int root, word state) {
  MPI_Comm other;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  MPI_Bcast(&state, 1, MPI_UNSIGNED_LONG_LONG, root, other);
  MPI_Comm_free(&other);
  return state;
}

/* More communicators at a time than are kept for later ones when they are freed. */
static void use_many(void) {
  enum { many = 24 };
  MPI_Comm others[many];
  for (int i = 0; i < many; i++) {
    MPI_Comm_dup(MPI_COMM_WORLD, &others[i]);
    MPI_Barrier(others[i]);
  }
  for (int i = 0; i < many; i++) MPI_Comm_free(&others[i]);
}

/* A page that the kernel gives to copies as zeros. */
static word nothing, *wiped = &nothing;

static void wipe_on_fork(void) {
  wiped = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (wiped == MAP_FAILED || madvise(wiped, 4096, MADV_WIPEONFORK) != 0) MPI_Abort(MPI_COMM_WORLD, 2);
  *wiped = 5;
}

static void make_obstacle(const char* name) {
  static int ends[2], got;
  static MPI_Request request;
  static MPI_File file;
  const struct itimerval late = {{0, 0}, {100000, 0}};
  if (strcmp(name, "wiped") == 0) wipe_on_fork();
  if (strcmp(name, "pipe") == 0 && pipe(ends) != 0) MPI_Abort(MPI_COMM_WORLD, 2);
  if (strcmp(name, "twice") == 0 && !fopen("input", "r")) MPI_Abort(MPI_COMM_WORLD, 2);
  if (strcmp(name, "timer") == 0 && setitimer(ITIMER_REAL, &late, NULL) != 0) MPI_Abort(MPI_COMM_WORLD, 2);
  if (strcmp(name, "file") == 0)
    MPI_File_open(MPI_COMM_WORLD, "file", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  if (strcmp(name, "requests") == 0) MPI_Irecv(&got, 1, MPI_INT, 0, 99, MPI_COMM_SELF, &request);
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int steps = atoi(argv[1]), pause = atoi(argv[2]);
  const size_t words = (size_t)atoi(argv[3]) * 131072 + 1;
  word* const memory = calloc(words, sizeof(word));
  for (size_t i = 0; i < words; i++) memory[i] = i;
  char name[64];
  snprintf(name, sizeof name, "written.%d", rank);
  FILE* const written = fopen(name, "w");
  setvbuf(written, NULL, _IOLBF, 4096); /* an operation on a file in each step */
  FILE* const input = fopen("input", "r");
  if (argc > 4) make_obstacle(argv[4]);
  word state = 1 + (word)rank, from_left = 0, sum = 0, read = 0;
  double last = MPI_Wtime();
  for (int step = 1; step <= steps; step++) {
    usleep((unsigned)pause);
    state = mix(state, from_left + *wiped);
    memory[state % words] += state;
    state ^= memory[(state >> 20) % words];
    MPI_Sendrecv(&state, 1, MPI_UNSIGNED_LONG_LONG, (rank + 1) % size, 7, &from_left, 1,
                 MPI_UNSIGNED_LONG_LONG, (rank + size - 1) % size, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    state += from_any(rank, size, state);
    MPI_Allreduce(&state, &sum, 1, MPI_UNSIGNED_LONG_LONG, MPI_BXOR, MPI_COMM_WORLD);
    state ^= sum >> 7;
    if (step % 7 == 0) state ^= from_root(step % size, state) >> 5;
    if (step == 5) use_many();
    const double now = MPI_Wtime();
    if (now < last) printf("rank %d: the clock went back in step %d\n", rank, step);
    last = now;
    if (fscanf(input, "%llu", &read) == 1) state += read;
    fprintf(written, "%d %llx\n", step, state);
    if (step % 100 == 0) {
      printf("rank %d step %d state %llx\n", rank, step, state);
      fflush(stdout);
    }
  }
  fclose(written);
  printf("rank %d ends with %llx\n", rank, state);
  MPI_Finalize();
  return 0;
}
