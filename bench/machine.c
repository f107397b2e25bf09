/* The limit of the machine: half a round trip of one cache line each way between two cores, in nanoseconds;
 * how fast one core copies what fits its cache, in GB/s. Prints "line_ns N" and "copy_gbs N"; "machine quick"
 * in some 20 ms. "machine touch N" touches N GiB of memory and gives them back: a virtual machine may get its
 * memory from the host only then. "machine touch N hold" keeps them for 2.2 s: what else was free by then
 * has gone back to a host that takes it (Linux tells it after 2 s), and does not go later. */
#include "two_cores.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

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

static void touch(size_t bytes, struct timespec hold) {
  char* memory =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return;
  madvise(memory, bytes, MADV_HUGEPAGE);
  for (size_t at = 0; at < bytes; at += 4096) memory[at] = 1;
  nanosleep(&hold, NULL);
  munmap(memory, bytes);
}

int main(int argc, char** argv) {
  if (argc > 2 && strcmp(argv[1], "touch") == 0) {
    int holds = argc > 3 && strcmp(argv[3], "hold") == 0;
    touch((size_t)atoi(argv[2]) << 30,
          (struct timespec){.tv_sec = holds ? 2 : 0, .tv_nsec = holds ? 200000000 : 0});
    return 0;
  }
  int quick = argc > 1 && strcmp(argv[1], "quick") == 0;
  if (quick) rounds = 200;
  if (choose_cores()) printf("line_ns %.1f\n", line_ns());
  printf("copy_gbs %.1f\n", copy_gbs());
  return 0;
}
