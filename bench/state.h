/* The state that the machine is in, as two threads or processes see it, each of which has a core of its own:
 * what a cache line takes from one to the other, and whether the cores are theirs alone. On a virtual machine
 * the other hyperthread of a core may be somebody else's: while he computes, the core has half its pace. */
#ifndef LLAMADA_BENCH_STATE_H
#define LLAMADA_BENCH_STATE_H

#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

static inline double now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static inline int ascending(const void* a, const void* b) {
  double difference = *(const double*)a - *(const double*)b;
  return (difference > 0) - (difference < 0);
}

static inline double median(double* values, int count) {
  qsort(values, (size_t)count, sizeof(double), ascending);
  return values[count / 2];
}

#define ADD_TO_EACH(a, b, c, d)                                \
  do {                                                         \
    __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d)); \
    a++, b++, c++, d++;                                        \
  } while (0)

/* Of the core on which this is called: additions that do not wait for each other, in one ns. So many stand in
 * the loop that what a compiler makes of it matters little. */
static inline double pace(void) {
  enum { turns = 4096, each = 16 };
  unsigned long a = 0, b = 0, c = 0, d = 0;
  double start = now_ns();
  for (int i = 0; i < turns; i++) {
    ADD_TO_EACH(a, b, c, d);
    ADD_TO_EACH(a, b, c, d);
    ADD_TO_EACH(a, b, c, d);
    ADD_TO_EACH(a, b, c, d);
  }
  __asm__ volatile("" : : "r"(a), "r"(b), "r"(c), "r"(d));
  return turns * each / (now_ns() - start);
}

struct state {
  double line_ns; /* half of what a line takes there and back */
  bool is_shared; /* one of the two cores, or both */
};

#define OF_ITS_OWN_LINES __attribute__((aligned(128)))

/* Where the two meet to probe it: memory that both have, all 0 at first. */
struct meeting {
  OF_ITS_OWN_LINES int ping;
  OF_ITS_OWN_LINES int pong;
  OF_ITS_OWN_LINES double pace; /* of side 1's core */
  OF_ITS_OWN_LINES int verdict; /* of side 0, for `agreed` */
  struct {
    OF_ITS_OWN_LINES int turn; /* of each side's own */
  } sides[2];
};

static inline void announce(int* word, int value) { __atomic_store_n(word, value, __ATOMIC_RELEASE); }
static inline int announced(const int* word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }

/* The least pace of a core that nobody shares, from BENCH_WHOLE_CORE; 0: not known, all are taken for such.
 */
static inline double whole_core_pace(void) {
  const char* text = getenv("BENCH_WHOLE_CORE");
  return text ? atof(text) : 0;
}

/* By both sides at once, as often by one as by the other. Side 1 does not learn of side 0's core. */
static inline struct state probe_state(struct meeting* meeting, int side) {
  const int rounds = 300;
  int turn = meeting->sides[side].turn;
  double least_pace = pace(), start = 0;
  if (side == 1) meeting->pace = least_pace; /* Side 0 reads it before it comes here again. */
  for (int r = -1; r < rounds; r++) {
    if (r == 0) start = now_ns(); /* They have met. */
    turn++;
    if (side == 0) announce(&meeting->ping, turn);
    while (announced(side == 0 ? &meeting->pong : &meeting->ping) != turn) {
    }
    if (side == 1) announce(&meeting->pong, turn);
  }
  struct state state;
  state.line_ns = (now_ns() - start) / rounds / 2;
  meeting->sides[side].turn = turn;
  if (side == 0 && meeting->pace < least_pace) least_pace = meeting->pace;
  state.is_shared = least_pace < whole_core_pace();
  return state;
}

/* What side 0 says, at both. */
static inline int agreed(struct meeting* meeting, int side, int verdict) {
  enum { verdicts = 16 };
  int turn = ++meeting->sides[side].turn, said = 0;
  if (side == 0) announce(&meeting->verdict, turn * verdicts + verdict);
  while ((said = announced(&meeting->verdict)) / verdicts != turn) {
  }
  return said % verdicts;
}

#endif
