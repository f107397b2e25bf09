/* A program with a wild pointer: after some rounds of messages and collectives, which check all that they are
 * given, one rank writes over words of the MPI library's memory, which it finds in /proc/self/maps: its own
 * arena (docs/internals/arena.md).
 *
 *   wild_pointer SEED          the rank, the round, the places and the values follow from SEED; 0: nothing is
 *                              written
 *   wild_pointer SEED die      that rank writes, and is killed
 *   wild_pointer SEED stay     each rank but the first writes, and all stay in the program for those who look
 *   wild_pointer SEED content  it writes few words, of values as they may be there
 *   wild_pointer SEED mixed    the ranks communicate in many ways, and ask again and again instead of waiting
 *
 * Output: one line at the end. What the library cannot see, since it is the content of a message, the program
 * does, and says which rank sent it. */
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { rounds = 60, longest = 300000 };

static int rank, size, culprit;
static uint64_t state;

static uint64_t next_random(void) {
  state += 0x9e3779b97f4a7c15u;
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
static uint64_t below(uint64_t bound) { return next_random() % bound; }

/* The arena of this process: what it may write, and what is reserved behind that. */
static char* own_arena(uint64_t* bytes) {
  FILE* maps = fopen("/proc/self/maps", "r");
  char line[512];
  char* found = NULL;
  while (maps && fgets(line, sizeof line, maps)) {
    unsigned long begin, end;
    char rights[8];
    if (!strstr(line, "llamada-arena") || sscanf(line, "%lx-%lx %7s", &begin, &end, rights) != 3) continue;
    if (!found && rights[1] == 'w') found = (char*)begin;
    if (!found || (char*)begin > found + *bytes || (rights[0] == 'r' && rights[1] != 'w')) continue;
    *bytes = (uint64_t)((char*)end - found);
  }
  if (maps) fclose(maps);
  return found;
}

static uint64_t word_of(const char* arena, uint64_t at) {
  uint64_t word;
  memcpy(&word, arena + at, sizeof word);
  return word;
}

/* The place of a chunk's header, in the row of chunks that the pool is. */
static uint64_t some_chunk(const char* arena) {
  const uint64_t pool = word_of(arena, 24), end = pool + word_of(arena, 192);
  uint64_t chunk = pool;
  for (uint64_t steps = below(60); steps > 0; --steps) {
    uint32_t cells;
    memcpy(&cells, arena + chunk + 4, sizeof cells);
    const uint64_t next = chunk + 64 + 64ull * cells + word_of(arena, chunk + 8);
    if (next >= end) break;
    chunk = next;
  }
  return chunk;
}

static uint64_t some_place(const char* arena) {
  switch (below(5)) {
    case 0:
      return below(56) * 8; /* the header */
    case 1:
      return word_of(arena, 32) + below(8) * 64 + below(8) * 8; /* a log's entry */
    case 2:
      return word_of(arena, 40) + below(8) * 32 + below(4) * 8; /* a cursor */
    case 3:
      return some_chunk(arena) + below(5) * 8; /* a chunk's header */
    default:
      return some_chunk(arena) + 64 + below(16) * 64 + below(4) * 8; /* a cell */
  }
}

static uint64_t some_value(const char* arena, uint64_t place, uint64_t bytes) {
  switch (below(7)) {
    case 0:
      return bytes / 2 + below(1 << 20) * 64; /* within the mapping, and behind the file's end */
    case 1:
      return next_random();
    case 2:
      return 0;
    case 3:
      return ~0ull;
    case 4:
      return below(4);
    case 5:
      return word_of(arena, place) ^ 1ull << below(64);
    default:
      return below(1 << 17) * 64;
  }
}

/* A value as it may lie in an arena: what is there, a little changed, or a word from elsewhere in it. */
static uint64_t some_content(const char* arena, uint64_t place) {
  const uint64_t word = word_of(arena, place);
  switch (below(6)) {
    case 0:
      return word + (below(2) ? 1 : -1);
    case 1:
      return word + (below(2) ? 64 : -64);
    case 2:
      return word ^ 1ull << below(64);
    case 3:
      return ((word >> 32) + 1) << 32 | (uint32_t)word;
    case 4:
      return word_of(arena, some_place(arena));
    default:
      return below(3);
  }
}

static void write_wildly(int is_content) {
  uint64_t bytes = 0;
  char* const arena = own_arena(&bytes);
  if (!arena) {
    printf("rank %d has no arena\n", rank);
    MPI_Abort(MPI_COMM_WORLD, 4);
  }
  for (uint64_t stores = 1 + below(is_content ? 8 : 64); stores > 0; --stores) {
    const uint64_t place = some_place(arena);
    const uint64_t value = is_content ? some_content(arena, place) : some_value(arena, place, bytes);
    memcpy(arena + place, &value, sizeof value);
  }
}

/* Until the job is ended. */
static void stay(void) {
  if (rank > 0) write_wildly(0);
  printf("written\n");
  fflush(stdout);
  for (;;) pause();
}

static unsigned char content(int from, int round, size_t at) {
  return (unsigned char)(from * 37 + round * 11 + at * 3 + (at >> 8));
}

static void check(int right, int from) {
  if (right) return;
  fprintf(stderr, "rank %d was given what rank %d did not send\n", rank, from);
  fflush(NULL);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static size_t length_of(int round) {
  static const size_t lengths[] = {8, 40, 1000, 8, 5000, 70000, 16, longest};
  return lengths[round % 8];
}

static void exchange(int round, unsigned char* out, unsigned char* in) {
  const size_t length = length_of(round);
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  MPI_Request requests[2];
  MPI_Status statuses[2];
  int count = 0;
  for (size_t i = 0; i < length; ++i) out[i] = content(rank, round, i);
  MPI_Irecv(in, longest, MPI_BYTE, from, round, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out, (int)length, MPI_BYTE, to, round, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, statuses);
  MPI_Get_count(&statuses[0], MPI_BYTE, &count);
  check((size_t)count == length, from);
  for (size_t i = 0; i < length; ++i) check(in[i] == content(from, round, i), from);
}

static void agree(int round) {
  long sum = rank + round, parts[64];
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  check(sum == (long)size * round + (long)size * (size - 1) / 2, culprit);
  parts[rank] = rank * 1000 + round;
  MPI_Allgather(MPI_IN_PLACE, 1, MPI_LONG, parts, 1, MPI_LONG, MPI_COMM_WORLD);
  for (int other = 0; other < size; ++other) check(parts[other] == other * 1000 + round, other);
}

/* Asks again and again, instead of waiting. */
static void poll_for(MPI_Request* request) {
  for (int there = 0; !there;) MPI_Test(request, &there, MPI_STATUS_IGNORE);
}

/* One of many ways to communicate, the same in all ranks. */
static void mix(uint64_t seed, int round, unsigned char* out, unsigned char* in) {
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  const int length = (int)length_of(round / 3);
  const int root = (int)((seed + (uint64_t)round) % (uint64_t)size);
  MPI_Request request;
  MPI_Status status;
  for (int i = 0; i < length; ++i) out[i] = content(rank, round, (size_t)i);
  switch ((seed >> 3 ^ (uint64_t)round * 0x9e3779b97f4a7c15u) % 9) {
    case 0:
      MPI_Irecv(in, length, MPI_BYTE, from, round, MPI_COMM_WORLD, &request);
      MPI_Send(out, length, MPI_BYTE, to, round, MPI_COMM_WORLD);
      poll_for(&request);
      break;
    case 1:
      MPI_Isend(out, length, MPI_BYTE, to, round, MPI_COMM_WORLD, &request);
      for (int there = 0; !there;) MPI_Iprobe(MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &there, &status);
      MPI_Recv(in, length, MPI_BYTE, status.MPI_SOURCE, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    case 2:
      MPI_Irecv(in, length, MPI_BYTE, MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &request);
      MPI_Ssend(out, length, MPI_BYTE, to, round, MPI_COMM_WORLD);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    case 3:
      if (rank == root) memcpy(in, out, (size_t)length);
      MPI_Bcast(in, length, MPI_BYTE, root, MPI_COMM_WORLD);
      for (int i = 0; i < length; ++i) check(in[i] == content(root, round, (size_t)i), root);
      return;
    case 4:
      MPI_Ibarrier(MPI_COMM_WORLD, &request);
      poll_for(&request);
      return;
    case 5: {
      double mine = rank + 1, sum = 0;
      MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
      if (rank == root) check(sum == size * (size + 1) / 2, culprit);
      return;
    }
    case 6: {
      MPI_Comm copy;
      MPI_Comm_dup(MPI_COMM_WORLD, &copy);
      MPI_Barrier(copy);
      MPI_Comm_free(&copy);
      return;
    }
    case 7:
      MPI_Iallgather(out, 100, MPI_BYTE, in, 100, MPI_BYTE, MPI_COMM_WORLD, &request);
      poll_for(&request);
      for (int i = 0; i < 100 * size && length > 100; ++i)
        check(in[i] == content(i / 100, round, (size_t)(i % 100)), i / 100);
      return;
    default:
      for (int i = 0; i < 20; ++i)
        MPI_Sendrecv(out, length / 20, MPI_BYTE, to, round, in, length / 20, MPI_BYTE, from, round,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      for (int i = 0; i < length / 20; ++i) check(in[i] == content(from, round, (size_t)i), from);
      return;
  }
  for (int i = 0; i < length; ++i) check(in[i] == content(from, round, (size_t)i), from);
}

int main(int argc, char** argv) {
  static unsigned char out[longest], in[longest];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
  state = seed;
  const int is_wild = state != 0;
  culprit = (int)below((uint64_t)size);
  const int when = 1 + (int)below(rounds - 1);
  if (argc > 2 && strcmp(argv[2], "stay") == 0) stay();
  const int is_mixed = argc > 2 && strncmp(argv[2], "mixed", 5) == 0;
  const int is_content = argc > 2 && strstr(argv[2], "content") != NULL;
  for (int round = 0; round < rounds; ++round) {
    if (is_wild && rank == culprit && round == when) {
      write_wildly(is_content);
      if (argc > 2 && strcmp(argv[2], "die") == 0) raise(SIGKILL);
    }
    if (is_mixed) {
      mix(seed, round, out, in);
    } else {
      exchange(round, out, in);
      agree(round);
    }
  }
  if (rank == 0) printf("%d ranks have agreed %d times\n", size, rounds);
  MPI_Finalize();
  return 0;
}
