/* What the two `stream` share: blocks of numbers and STREAM's triad on them. C and C++.
 *
 * The numbers are small integers, for which double is exact: every result can be checked on its own. */
#pragma once

#include <stddef.h>
#include <stdint.h>

static const double stream_scalar = 3.0;

static inline double stream_first(int block, size_t index) {
  return (double)((block * 7 + (int)(index % 1000)) % 4096);
}
static inline double stream_second(int block, size_t index) {
  return (double)((block + (int)(index % 777)) % 2048);
}

static inline void stream_fill(int block, double* first, double* second, size_t size) {
  for (size_t i = 0; i < size; i++) {
    first[i] = stream_first(block, i);
    second[i] = stream_second(block, i);
  }
}

/* result = first + scalar * second; `result` may be `first`. */
static inline void stream_triad(const double* first, const double* second, double* result, size_t size) {
  for (size_t i = 0; i < size; i++) result[i] = first[i] + stream_scalar * second[i];
}

static inline int stream_is_right(int block, const double* result, size_t size) {
  for (size_t i = 0; i < size; i++)
    if (result[i] != stream_first(block, i) + stream_scalar * stream_second(block, i)) return 0;
  return 1;
}
