/* The limit of the machine: half a round trip of one cache line each way between two cores, in nanoseconds;
 * how fast one core copies what fits its cache, in GB/s. Prints "line_ns N" and "copy_gbs N"; "machine quick"
 * in some 20 ms. "machine touch N" touches N GiB of memory and gives them back: a virtual machine may get its
 * memory from the host only then. "machine lend N" is for a program that runs longer than such a host leaves
 * memory that is free (Linux tells it after 2 s): it touches N GiB, holds them until what else was free has
 * gone back, gives an eighth, prints "ready", and then gives as much as is taken, until its input ends.
 * "machine pace" prints "whole_core_pace N" after some seconds: the best that the two cores did, in additions
 * a ns (state.h), less what one misses that nobody shares. "machine watch" looks at the pace of both cores 50
 * times a second, before whatever else wants them if it may, until its input ends, and prints their mean,
 * "pace N". */
#include "two_cores.h"

#include <poll.h>
#include <stdatomic.h>
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

/* NULL: there are not so many. */
static char* touched(size_t bytes) {
  char* memory =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return NULL;
  madvise(memory, bytes, MADV_HUGEPAGE);
  for (size_t at = 0; at < bytes; at += 4096) memory[at] = 1;
  return memory;
}

static size_t free_bytes(void) {
  struct sysinfo info;
  return sysinfo(&info) == 0 ? info.freeram * info.mem_unit : 0;
}

static void lend(size_t bytes) {
  enum { huge = 2 << 20, look_every_ms = 20 };
  char* memory = touched(bytes);
  if (memory == NULL) bytes = 0;
  nanosleep(&(struct timespec){.tv_sec = 2, .tv_nsec = 200000000}, NULL);
  size_t given = bytes / 8;
  if (given > 0) munmap(memory, given);
  puts("ready");
  fflush(stdout);
  struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
  for (size_t had = free_bytes(); poll(&input, 1, look_every_ms) == 0;) {
    size_t has = free_bytes();
    size_t taken = had > has ? (had - has) / huge * huge : 0;
    size_t give = taken < bytes - given ? taken : bytes - given;
    if (give > 0) munmap(memory + given, give);
    given += give;
    had = has + give;
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
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
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
  size_t bytes = argc > 2 ? (size_t)atoi(argv[2]) << 30 : 0;
  if (argc > 2 && strcmp(argv[1], "touch") == 0) return touched(bytes) == NULL;
  if (argc > 2 && strcmp(argv[1], "lend") == 0) {
    lend(bytes);
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
