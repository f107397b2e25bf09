/* repeated [STEPS [SEED [SIZES]]]: buffers that are sent again and again, unchanged, changed in a byte, or
 * anew, in messages and collectives of the first so many sizes, 4 KiB to 1 MiB. All ranks draw alike, so each
 * knows what all others send. */
#include "check.h"

enum { buffer_count = 5, ranks_most = 5, size_most = 1 << 20 };

static const int sizes[] = {4096, 5000, 20000, 65536, 70001, 262144, 300000, size_most};
static int sizes_used = sizeof sizes / sizeof *sizes;
static uint64_t state;
static unsigned char* buffers[ranks_most][buffer_count]; /* of every rank, as it has them now */
static unsigned char* arriving[buffer_count];

static unsigned drawn(unsigned below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(state >> 33) % below;
}

static int drawn_size(void) { return sizes[drawn((unsigned)sizes_used)]; }

/* What most messages of this buffer have. */
static int usual_size(int buffer) { return sizes[buffer < sizes_used ? sizes_used - 1 - buffer : 0]; }

/* Mostly nothing; a byte anywhere; the whole. */
static void change(unsigned char* buffer, int size) {
  unsigned choice = drawn(8);
  if (choice == 0) {
    int value = (int)drawn(256);
    for (int i = 0; i < size; i++) buffer[i] = (unsigned char)(value + i * 7 + (i >> 8));
  } else if (choice < 3) {
    buffer[drawn((unsigned)size)]++;
  }
}

/* Each rank gives the next one some of its buffers, which that one takes in another order. */
static void hand_on(void) {
  int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
  int count = 1 + (int)drawn(buffer_count), late = (int)drawn(2), blocking = (int)drawn(2),
      bytes[buffer_count];
  MPI_Request receives[buffer_count], sends[buffer_count];
  for (int i = 0; i < count; i++) {
    bytes[i] = drawn(4) ? usual_size(i) : drawn_size();
    for (int r = 0; r < ranks; r++) change(buffers[r][i], bytes[i]);
  }
  if (!late)
    for (int i = count; i-- > 0;)
      MPI_Irecv(arriving[i], size_most, MPI_BYTE, last, i, MPI_COMM_WORLD, &receives[i]);
  for (int i = 0; i < count; i++) {
    sends[i] = MPI_REQUEST_NULL;
    if (blocking && !late)
      MPI_Send(buffers[rank][i], bytes[i], MPI_BYTE, next, i, MPI_COMM_WORLD);
    else
      MPI_Isend(buffers[rank][i], bytes[i], MPI_BYTE, next, i, MPI_COMM_WORLD, &sends[i]);
  }
  if (late)
    for (int i = count; i-- > 0;)
      MPI_Irecv(arriving[i], size_most, MPI_BYTE, last, i, MPI_COMM_WORLD, &receives[i]);
  MPI_Waitall(count, receives, MPI_STATUSES_IGNORE);
  MPI_Waitall(count, sends, MPI_STATUSES_IGNORE);
  for (int i = 0; i < count; i++) CHECK(memcmp(arriving[i], buffers[last][i], (size_t)bytes[i]) == 0);
}

/* The same with all of them. */
static void share(void) {
  int size = drawn_size(), root = (int)drawn((unsigned)ranks), part = size / ranks;
  for (int r = 0; r < ranks; r++) change(buffers[r][0], size);
  if (rank == root) memcpy(arriving[0], buffers[root][0], (size_t)size);
  MPI_Bcast(rank == root ? buffers[root][0] : arriving[0], size, MPI_BYTE, root, MPI_COMM_WORLD);
  CHECK(memcmp(arriving[0], buffers[root][0], (size_t)size) == 0);
  MPI_Alltoall(buffers[rank][0], part, MPI_BYTE, arriving[1], part, MPI_BYTE, MPI_COMM_WORLD);
  MPI_Allgather(buffers[rank][0], part, MPI_BYTE, arriving[2], part, MPI_BYTE, MPI_COMM_WORLD);
  for (int r = 0; r < ranks; r++) {
    CHECK(memcmp(arriving[1] + r * part, buffers[r][0] + rank * part, (size_t)part) == 0);
    CHECK(memcmp(arriving[2] + r * part, buffers[r][0], (size_t)part) == 0);
  }
}

int main(int argc, char** argv) {
  begin("repeated", &argc, &argv);
  int steps = argc > 1 ? atoi(argv[1]) : 30;
  state = argc > 2 ? (uint64_t)atoi(argv[2]) : 1;
  if (argc > 3) sizes_used = atoi(argv[3]);
  for (int i = 0; i < buffer_count; i++) {
    arriving[i] = malloc(size_most);
    for (int r = 0; r < ranks; r++) buffers[r][i] = calloc(1, size_most);
  }
  for (int step = 0; step < steps; step++) {
    hand_on();
    if (step % 4 == 3) share();
  }
  for (int i = 0; i < buffer_count; i++) {
    free(arriving[i]);
    for (int r = 0; r < ranks; r++) free(buffers[r][i]);
  }
  return finish();
}
