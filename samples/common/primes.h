/* What the two `primes` share: counting the primes of a range by trial division, and of all by a sieve. C and
 * C++. */
#pragma once

#include <stdint.h>
#include <stdlib.h>

typedef struct {
  uint64_t count, sum;
} PrimesFound;

static inline int is_prime(uint64_t number) {
  if (number < 4) return number >= 2;
  if (number % 2 == 0) return 0;
  for (uint64_t divisor = 3; divisor * divisor <= number; divisor += 2)
    if (number % divisor == 0) return 0;
  return 1;
}

/* Of begin <= number < end. */
static inline PrimesFound primes_in(uint64_t begin, uint64_t end) {
  PrimesFound found = {0, 0};
  for (uint64_t number = begin; number < end; number++)
    if (is_prime(number)) {
      found.count++;
      found.sum += number;
    }
  return found;
}

/* Where range number `range` of `ranges` equal ones begins. */
static inline uint64_t primes_begin_of(uint64_t bound, int ranges, int range) {
  return bound * (uint64_t)range / (uint64_t)ranges;
}

/* All below the bound; none where there is no memory for the sieve. */
static inline PrimesFound primes_by_sieve(uint64_t bound) {
  PrimesFound found = {0, 0};
  unsigned char* crossed = (unsigned char*)calloc(bound + 1, 1);
  if (!crossed) return found;
  for (uint64_t number = 2; number < bound; number++) {
    if (crossed[number]) continue;
    found.count++;
    found.sum += number;
    for (uint64_t multiple = number * number; multiple < bound; multiple += number) crossed[multiple] = 1;
  }
  free(crossed);
  return found;
}
