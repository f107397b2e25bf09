/* The least that messages take on this machine: what pingpong.c and stream.c do, between two threads that do
 * nothing else, without a library. Each figure is that of the best of several ways, and says in which
 * state of the machine that was (state.h).
 *   bare pingpong|rate|bandwidth         rooms that are used again and again, or from memory to memory
 *   bare pingpong|rate|bandwidth kept    each message is kept: it is written where none was before */
#include "two_cores.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

enum { line = 64, beside_max = 60, buffer_bytes = 16 << 20, batches_max = 5 };
/* Far more than the caches hold, so that what is kept comes from memory. */
static const size_t pool_bytes = (size_t)256 << 20;

enum copying { by_libc, by_movsb, by_lines };
enum passing { whole, in_pieces, read_by_taker, by_both };

/* A way to pass messages on. */
struct way {
  enum passing passing;
  enum copying in, out; /* of a room: its writer's copy and its reader's */
  size_t piece;         /* in_pieces: bytes */
  int rooms;            /* for messages or pieces, which are used in turn */
  int pause;            /* turns of an empty loop before the first look for an answer */
  int gathered;         /* a stream's reader waits until so many are there */
  int ahead;            /* the writer takes back the first line of the room that comes so much later */
};

/* The first line of a room: a number that says whose turn it is, and what is short. */
struct room {
  _Alignas(line) atomic_uint number;
  char beside[beside_max];
};

/* One of the two threads, and what it writes. */
struct side {
  _Alignas(2 * line) atomic_uint taken; /* of the other's rooms; announces, too, that a copy is done */
  _Alignas(2 * line) atomic_uint lent;
  _Alignas(2 * line) atomic_uint met;
  char* buffer;
  char* pool;
  size_t writes_at, reads_at; /* in this one's pool, in the other's */
  unsigned written, read, lent_before;
};

static struct side sides[2];
static struct meeting meeting;
static bool keeps, streams;
static struct way way;
static int size, rounds, batches, window;
static double seconds[batches_max];
static struct state state_before, state_after; /* of the batches of a way */

static struct side* other_of(const struct side* me) { return me == sides ? &sides[1] : &sides[0]; }

/* ---- copies */

static void take_line(const void* address) {
#if defined(__x86_64__)
  __asm__ volatile("prefetchw %0" ::"m"(*(const char*)address));
#else
  __builtin_prefetch(address, 1);
#endif
}

/* By lines that are fetched ahead, those to be written with the right to do so. */
static void copy_by_lines(char* to, const char* from, size_t bytes) {
  enum { ahead = 512 };
  for (size_t at = 0; at < bytes; at += line) {
    if (at + ahead < bytes) {
      take_line(to + at + ahead);
      __builtin_prefetch(from + at + ahead);
    }
    memcpy(to + at, from + at, bytes - at < line ? bytes - at : line);
  }
}

static void copy(enum copying how, void* to, const void* from, size_t bytes) {
  if (how == by_lines) {
    copy_by_lines(to, from, bytes);
    return;
  }
#if defined(__x86_64__)
  if (how == by_movsb) {
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes)::"memory");
    return;
  }
#endif
  memcpy(to, from, bytes);
}

/* ---- rooms */

static size_t room_bytes(size_t bytes) {
  return line + (bytes <= beside_max ? 0 : (bytes + line - 1) / line * line);
}

/* The room of message `number`, or of one `later`, in the writer's pool; `at`: where that of `number` lies if
 * all are kept. */
static struct room* room_of(const struct side* writer, size_t at, unsigned number, int later, size_t bytes) {
  if (!keeps)
    at = (number + (unsigned)later) % (unsigned)way.rooms * room_bytes(bytes);
  else
    at += (size_t)later * room_bytes(bytes);
  return (struct room*)(writer->pool + at);
}

/* Writer and reader count alike, so that the reader knows where the writer goes. */
static size_t next_place(size_t at, size_t bytes) {
  at += room_bytes(bytes);
  return at + room_bytes(bytes) > pool_bytes ? 0 : at;
}

static void await(const atomic_uint* word, unsigned number) {
  while ((int)(atomic_load_explicit(word, memory_order_acquire) - number) < 0) {
  }
}

/* Whether a writer might be more than its rooms ahead: who waits for an answer is not. */
static bool has_to_be_told(void) { return !keeps && (streams || way.passing == in_pieces); }

static void put(struct side* me, const char* from, size_t bytes) {
  unsigned number = ++me->written;
  if (has_to_be_told()) await(&other_of(me)->taken, number - (unsigned)way.rooms);
  struct room* room = room_of(me, me->writes_at, number, 0, bytes);
  if (way.ahead > 0) take_line(room_of(me, me->writes_at, number, way.ahead, bytes));
  copy(way.in, bytes <= beside_max ? room->beside : (char*)(room + 1), from, bytes);
  atomic_store_explicit(&room->number, number, memory_order_release);
  me->writes_at = next_place(me->writes_at, bytes);
}

/* `left`: how many are to come in this window, this one among them. */
static void get(struct side* me, char* to, size_t bytes, int left) {
  struct side* other = other_of(me);
  unsigned number = ++me->read;
  if (way.gathered > 0 && (int)number % way.gathered == 1 && left >= way.gathered) {
    const struct room* last = room_of(other, me->reads_at, number, way.gathered - 1, bytes);
    for (int looks = 0; looks < 200 && atomic_load_explicit(&last->number, memory_order_acquire) !=
                                           number + (unsigned)way.gathered - 1;)
      looks++;
  }
  struct room* room = room_of(other, me->reads_at, number, 0, bytes);
  while (atomic_load_explicit(&room->number, memory_order_acquire) != number) {
  }
  copy(way.out, to, bytes <= beside_max ? room->beside : (char*)(room + 1), bytes);
  me->reads_at = next_place(me->reads_at, bytes);
  /* Seldom, for the writer need not know at once. */
  if (has_to_be_told() && (way.rooms < 8 || number % (unsigned)(way.rooms / 4) == 0))
    atomic_store_explicit(&me->taken, number, memory_order_release);
}

/* ---- messages */

/* From memory to memory, by the kernel, as between processes: their memory is not shared. What is lent is
 * copied by the other, or by both, each a half. */
static void lend(struct side* me, size_t bytes) {
  struct side* other = other_of(me);
  unsigned number = ++me->lent_before;
  atomic_store_explicit(&me->lent, number, memory_order_release);
  /* Which half a core copies does not depend on who sends. */
  if (way.passing == by_both) {
    size_t half = bytes / 2, first = me == sides ? 0 : half;
    struct iovec from = {me->buffer + first, half}, to = {other->buffer + first, half};
    if (process_vm_writev(getpid(), &from, 1, &to, 1, 0) != (ssize_t)half) exit(1);
  }
  atomic_store_explicit(&me->taken, number, memory_order_release);
  await(&other->taken, number);
}

static void borrow(struct side* me, size_t bytes) {
  struct side* other = other_of(me);
  unsigned number = ++me->lent_before;
  await(&other->lent, number);
  size_t half = way.passing == by_both ? bytes / 2 : bytes,
         first = way.passing == by_both && me != sides ? half : 0;
  struct iovec from = {other->buffer + first, half}, to = {me->buffer + first, half};
  if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != (ssize_t)half) exit(1);
  atomic_store_explicit(&me->taken, number, memory_order_release);
  await(&other->taken, number);
}

static void give(struct side* me) {
  size_t bytes = (size_t)size;
  if (way.passing == whole) put(me, me->buffer, bytes);
  if (way.passing == read_by_taker || way.passing == by_both) lend(me, bytes);
  if (way.passing != in_pieces) return;
  for (size_t at = 0; at < bytes; at += way.piece) put(me, me->buffer + at, way.piece);
}

static void take(struct side* me, int more) {
  size_t bytes = (size_t)size;
  if (way.passing == whole) get(me, me->buffer, bytes, more);
  if (way.passing == read_by_taker || way.passing == by_both) borrow(me, bytes);
  if (way.passing != in_pieces) return;
  for (size_t at = 0; at < bytes; at += way.piece) get(me, me->buffer + at, way.piece, 0);
}

static void wait_a_moment(void) {
  for (int i = 0; i < way.pause; i++) __asm__ volatile("" ::: "memory");
#if defined(__x86_64__)
  /* So that the look is not carried out before that is over. */
  if (way.pause > 0) __asm__ volatile("lfence" ::: "memory");
#endif
}

static void run_batch(struct side* me) {
  bool first = me == sides;
  for (int i = 0; i < rounds; i++)
    for (int sent = 0; streams && sent < window; sent++) first ? give(me) : take(me, window - sent);
  for (int i = 0; i < (streams ? 0 : rounds); i++) {
    if (first) give(me);
    wait_a_moment();
    take(me, 0);
    if (!first) give(me);
  }
}

/* Spins, so that a batch begins and ends at once. */
static void meet(struct side* me) {
  unsigned number = atomic_load_explicit(&me->met, memory_order_relaxed) + 1;
  atomic_store_explicit(&me->met, number, memory_order_release);
  await(&other_of(me)->met, number);
}

static void* run(void* side) {
  struct side* me = side;
  pin(cores[me - sides]);
  struct state before = probe_state(&meeting, (int)(me - sides));
  for (int b = -1; b < batches; b++) {
    meet(me);
    double start = now_ns();
    run_batch(me);
    meet(me); /* What has been sent has been taken. */
    if (me == sides && b >= 0) seconds[b] = (now_ns() - start) * 1e-9;
  }
  struct state after = probe_state(&meeting, (int)(me - sides));
  if (me == sides) state_before = before, state_after = after;
  return NULL;
}

/* Seconds for each message, the median of the batches. What is numbered goes on from one way to the next: so
 * no number of before is taken for one of now. */
static double seconds_by(const struct way* chosen) {
  way = *chosen;
  unsigned number = sides[0].written > sides[1].written ? sides[0].written : sides[1].written;
  if (sides[0].lent_before > number) number = sides[0].lent_before;
  for (int i = 0; i < 2; i++) {
    struct side* side = &sides[i];
    side->written = side->read = side->lent_before = number;
    atomic_store(&side->taken, number);
  }
  pthread_t thread;
  if (pthread_create(&thread, NULL, run, &sides[1]) != 0) exit(1);
  run(&sides[0]);
  pthread_join(thread, NULL);
  return median(seconds, batches) / rounds / (streams ? window : 2);
}

/* ---- ways */

static double least;
static struct way best;
static struct state state_of_best;

static void try_way(struct way chosen) {
  double taken = seconds_by(&chosen);
  if (taken >= least) return;
  least = taken;
  best = chosen;
  state_of_best = state_after;
  state_of_best.is_shared |= state_before.is_shared;
}

/* When to look for an answer, and how many rooms there are. */
static void try_answers(struct way chosen) {
  static const int pauses[] = {0, 50, 100, 150, 200, 300, 600, 900};
  for (int i = 0; i < (size <= 4096 ? 8 : 1); i++)
    for (int many = 0; many < 2; many++) {
      chosen.pause = pauses[i];
      chosen.rooms = many ? 16 : 2;
      chosen.ahead = many && size <= beside_max ? 8 : 0;
      try_way(chosen);
    }
}

/* How many rooms there are, what the reader lets come together, and what the writer takes back before. */
static void try_windows(struct way chosen) {
  const bool small = size <= 4096;
  for (int i = 0; i < (small ? 8 : 2); i++) {
    chosen.rooms = small ? (i % 2 ? 256 : 64) : i % 2 ? 32 : 8;
    chosen.gathered = i / 2 % 2 ? 16 : 0;
    chosen.ahead = i / 4 ? 8 : 0;
    try_way(chosen);
  }
}

static void try_rooms(void) {
  const int copies = size <= beside_max ? 1 : by_lines + 1;
  for (int in = 0; in < copies; in++)
    for (int out = 0; out < copies; out += by_lines) {
      struct way chosen = {.in = (enum copying)in, .out = (enum copying)out};
      streams ? try_windows(chosen) : try_answers(chosen);
    }
}

static void try_pieces(void) {
  for (size_t piece = 2048; piece <= 131072 && piece < (size_t)size; piece *= 4)
    for (int in = 0; in <= by_lines; in++)
      for (int out = 0; out <= by_lines; out += by_lines)
        try_way((struct way){.passing = in_pieces,
                             .in = (enum copying)in,
                             .out = (enum copying)out,
                             .piece = piece,
                             .rooms = 8});
}

static void try_all(void) {
  if (size <= 65536) try_rooms();
  if (size >= 8192) try_pieces();
  if (keeps || size < 16384) return;
  try_way((struct way){.passing = read_by_taker});
  try_way((struct way){.passing = by_both});
}

static void show(const char* figure, int bytes, double value, const char* unit) {
  printf("%s %d %.5g %s %.4g %s\n", figure, bytes, value, unit, state_of_best.line_ns,
         state_of_best.is_shared ? "shared" : "whole");
  fflush(stdout);
  if (getenv("BARE_WAYS"))
    fprintf(stderr, "  passing %d in %d out %d piece %zu rooms %d pause %d gathered %d ahead %d\n",
            best.passing, best.in, best.out, best.piece, best.rooms, best.pause, best.gathered, best.ahead);
}

static double least_for(int bytes, int rounds_wanted, int window_wanted, int batches_wanted) {
  size = bytes, rounds = rounds_wanted, window = window_wanted, batches = batches_wanted;
  least = 1e9;
  try_all();
  return least;
}

static void ping_pong(void) {
  static const int sizes[] = {0,    8,     64,    256,    1024,    2048,    4096,
                              8192, 16384, 65536, 262144, 1 << 20, 4 << 20, 16 << 20};
  for (int i = 0; i < (int)(sizeof sizes / sizeof *sizes); i++) {
    int bytes = sizes[i], often = bytes <= 4096 ? 100 : bytes <= 65536 ? 60 : bytes <= 1 << 20 ? 6 : 1;
    show("pingpong", bytes, least_for(bytes, often, 1, bytes <= 4 << 20 ? 5 : 3) * 1e6, "us");
  }
}

static void rates(void) {
  static const int sizes[] = {0, 8, 64, 256, 1024};
  for (int i = 0; i < 5; i++) show("rate", sizes[i], 1e-6 / least_for(sizes[i], 40, 64, 5), "M/s");
}

static void bandwidths(void) {
  static const int sizes[] = {4096, 16384, 65536, 262144, 1 << 20, 4 << 20};
  for (int i = 0; i < 6; i++) {
    int bytes = sizes[i], wide = bytes <= 65536 ? 64 : bytes <= 262144 ? 32 : bytes <= 1 << 20 ? 16 : 4;
    show("bandwidth", bytes, 1e-9 * bytes / least_for(bytes, bytes <= 16384 ? 8 : 1, wide, 5), "GB/s");
  }
}

static char* memory(size_t bytes) {
  enum { huge_page = 2 << 20 };
  char* from = mmap(NULL, bytes + huge_page, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (from == MAP_FAILED) exit(1);
  return from + (huge_page - (uintptr_t)from % huge_page);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "pingpong";
  keeps = argc > 2 && strcmp(argv[2], "kept") == 0;
  if (!choose_cores()) return 0;
  for (int i = 0; i < 2; i++) {
    sides[i].buffer = memory(buffer_bytes);
    memset(sides[i].buffer, 0xff, buffer_bytes); /* no number of a room */
    sides[i].pool = memory(pool_bytes + buffer_bytes);
    madvise(sides[i].pool, pool_bytes + buffer_bytes, MADV_HUGEPAGE); /* a program's own memory seldom is */
    memset(sides[i].pool, 0xff, keeps ? pool_bytes : buffer_bytes);
  }
  streams = strcmp(what, "pingpong") != 0;
  if (strcmp(what, "rate") == 0) rates();
  if (strcmp(what, "bandwidth") == 0) bandwidths();
  if (!streams) ping_pong();
  return 0;
}
