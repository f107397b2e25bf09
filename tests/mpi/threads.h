/* What the programs with threads share: MPI_THREAD_MULTIPLE, and a function that runs in several threads. */
#pragma once

#include <pthread.h>

#include "check.h"

enum { THREADS = 4 };

static void (*thread_body)(int thread);

UNUSED static void* thread_main(void* number) {
  thread_body((int)(intptr_t)number);
  return NULL;
}

/* Runs `body` in `count` threads, of which the caller is number 0, and waits for all. */
UNUSED static void in_threads(int count, void (*body)(int thread)) {
  pthread_t threads[16];
  CHECK(count <= 16);
  thread_body = body;
  for (int i = 1; i < count; i++)
    CHECK(pthread_create(&threads[i], NULL, thread_main, (void*)(intptr_t)i) == 0);
  body(0);
  for (int i = 1; i < count; i++) CHECK(pthread_join(threads[i], NULL) == 0);
}

UNUSED static void begin_threads(const char* name, int* argc, char*** argv) {
  int provided = -1;
  chapter = name;
  MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
}
