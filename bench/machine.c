/* The limit of the machine: half a round trip of one cache line each way between two cores, in nanoseconds;
 * how fast one core copies what fits its cache, in GB/s. Prints "line_ns N" and "copy_gbs N"; "machine quick"
 * in some 20 ms. "machine pace" prints "whole_core_pace N" after some seconds: the best that the two cores
 * did, in additions a ns (state.h), less what one misses that nobody shares. "machine watch" looks at the
 * pace of both cores 200 times a second, before whatever else wants them if it may, until its input ends, and
 * prints their mean, "pace N". "machine lend N" is for a virtual machine that gets its memory from the host
 * when it is touched, and whose host takes back what is free for some seconds (Linux tells it after 2): it
 * holds all memory but a little, N GiB at most to lend, prints "ready", and lends as much as is taken; with
 * each line of input, "N", it takes what has become free, lends N MiB at once, and says so again; until its
 * input ends.
 */
#include "two_cores.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

/* Short batches: what else the machine does falls into few of them. */
enum { batches = 201, copied_bytes = 256 << 10 };
static int rounds = 1000;

static _Alignas(128) atomic_int ping;
static _Alignas(128) atomic_int pong;

static void* answer(void* unused) {
  (void)unused;
  pin(cores[1]);
  for (int i = 1; i <= rounds * batches; i++) {
    while (atomic_load_explicit(&ping, memory_order_acquire) != i) {
    }
    atomic_store_explicit(&pong, i, memory_order_release);
  }
  return NULL;
}

static double line_ns(void) {
  pthread_t thread;
  double halves[batches];
  pthread_create(&thread, NULL, answer, NULL);
  pin(cores[0]);
  for (int b = 0, i = 1; b < batches; b++) {
    double start = now_ns();
    for (int r = 0; r < rounds; r++, i++) {
      atomic_store_explicit(&ping, i, memory_order_release);
      while (atomic_load_explicit(&pong, memory_order_acquire) != i) {
      }
    }
    halves[b] = (now_ns() - start) / rounds / 2;
  }
  pthread_join(thread, NULL);
  return median(halves, batches);
}

static double copy_gbs(void) {
  static char from[copied_bytes], to[copied_bytes];
  double rates[batches];
  memset(from, 1, sizeof from);
  memset(to, 1, sizeof to);
  for (int b = 0; b < batches; b++) {
    double start = now_ns();
    for (int i = 0; i < 10; i++) {
      memcpy(to, from, sizeof to);
      __asm__ volatile("" : : "r"(to) : "memory");
    }
    rates[b] = 10.0 * copied_bytes / (now_ns() - start);
  }
  return median(rates, batches);
}

static size_t free_bytes(void) {
  struct sysinfo info;
  return sysinfo(&info) == 0 ? info.freeram * info.mem_unit : 0;
}

enum { huge = 2 << 20 };

/* What is held is what was touched and lies from `from` to `to`. It is lent from the beginning: of what is
 * touched at one time, the kernel gives blocks of 2 MiB that have no neighbour first, and would give those
 * first again, which by then are the host's; the low 4 GiB last. */
struct held {
  char* memory;
  size_t from, to, bytes_max;
};

static void touch(char* memory) {
  for (size_t at = 0; at < huge; at += 4096) memory[at] = 1;
}

static void hold_until_free(struct held* held, size_t free_wanted) {
  while (free_bytes() >= free_wanted + huge) {
    if (held->from > 0) {
      held->from -= huge;
      touch(held->memory + held->from);
    } else if (held->to + huge <= held->bytes_max) {
      touch(held->memory + held->to);
      held->to += huge;
    } else {
      return;
    }
  }
}

static void lend_until_free(struct held* held, size_t free_wanted) {
  const size_t now_free = free_bytes();
  size_t lent = now_free < free_wanted ? (free_wanted - now_free + huge - 1) / huge * huge : 0;
  if (lent > held->to - held->from) lent = held->to - held->from;
  if (lent > 0) madvise(held->memory + held->from, lent, MADV_DONTNEED);
  held->from += lent;
}

static void lend(size_t bytes_max) {
  enum { look_every_ms = 10 };
  /* Never held: it goes to the host. Free at least: what has just been lent is used before that. */
  const size_t never_held = (size_t)256 << 20, free_at_least = (size_t)768 << 20;
  /* Never lent: blocks without a neighbour. */
  const size_t never_lent = (size_t)1 << 30;
  char* memory = mmap(NULL, never_lent + bytes_max + huge, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return;
  /* If memory is short after all, this is what has to go. */
  FILE* score = fopen("/proc/self/oom_score_adj", "w");
  if (score != NULL) {
    fputs("1000", score);
    fclose(score);
  }
  memory += huge - (uintptr_t)memory % huge;
  madvise(memory, never_lent + bytes_max, MADV_HUGEPAGE);
  for (size_t at = 0; at < never_lent && free_bytes() >= never_held + huge; at += huge) touch(memory + at);
  struct held held = {.memory = memory + never_lent, .bytes_max = bytes_max};
  struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
  char line[64];
  size_t lent_at_once = 0;
  for (;;) {
    hold_until_free(&held, never_held);
    const size_t free_wanted = free_at_least + lent_at_once;
    lend_until_free(&held, free_wanted);
    puts("ready");
    fflush(stdout);
    while (poll(&input, 1, look_every_ms) == 0) lend_until_free(&held, free_wanted);
    if (fgets(line, sizeof line, stdin) == NULL) return;
    lent_at_once = (size_t)atoi(line) << 20;
  }
}

static double best_pace(int core) {
  enum { looks = 200000 };
  double best = 0;
  pin(core);
  for (int i = 0; i < looks; i++) {
    double now = pace();
    if (now > best) best = now;
  }
  return best;
}

static void* best_pace_of_second(void* best) {
  *(double*)best = best_pace(cores[1]);
  return NULL;
}

static double whole_core() {
  /* A shared core has half the pace and some more. */
  const double least_of_best = 0.77;
  pthread_t thread;
  double second;
  if (pthread_create(&thread, NULL, best_pace_of_second, &second) != 0) return 0;
  double first = best_pace(cores[0]);
  pthread_join(thread, NULL);
  return (first > second ? first : second) * least_of_best;
}

struct watch {
  int core;
  double sum;
  long looks;
  atomic_bool* is_over;
};

static void* watch_core(void* which) {
  struct watch* watch = which;
  const struct sched_param lowest = {.sched_priority = 1};
  pin(watch->core);
  pthread_setschedparam(pthread_self(), SCHED_FIFO, &lowest);
  while (!atomic_load(watch->is_over)) {
    watch->sum += pace();
    watch->looks++;
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
  }
  return NULL;
}

/* 0: it cannot be seen. */
static double watched_pace(void) {
  atomic_bool is_over = false;
  struct watch watches[2] = {{.core = cores[0], .is_over = &is_over},
                             {.core = cores[1], .is_over = &is_over}};
  pthread_t threads[2];
  for (int i = 0; i < 2; i++)
    if (pthread_create(&threads[i], NULL, watch_core, &watches[i]) != 0) exit(1);
  while (getchar() != EOF) {
  }
  atomic_store(&is_over, true);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  return (watches[0].sum / (double)watches[0].looks + watches[1].sum / (double)watches[1].looks) / 2;
}

int main(int argc, char** argv) {
  if (argc > 2 && strcmp(argv[1], "lend") == 0) {
    lend((size_t)atoi(argv[2]) << 30);
    return 0;
  }
  if (argc > 1 && strcmp(argv[1], "pace") == 0) {
    printf("whole_core_pace %.2f\n", choose_cores() ? whole_core() : 0);
    return 0;
  }
  if (argc > 1 && strcmp(argv[1], "watch") == 0) {
    if (choose_cores()) printf("pace %.3f\n", watched_pace());
    return 0;
  }
  int quick = argc > 1 && strcmp(argv[1], "quick") == 0;
  if (quick) rounds = 200;
  if (choose_cores()) printf("line_ns %.1f\n", line_ns());
  printf("copy_gbs %.1f\n", copy_gbs());
  return 0;
}
