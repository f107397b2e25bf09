/* What is drawn from the seed, and what is witnessed. */
#include "phases.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>

Phase phase;

static uint64_t seed_, common_, own_, witnessed_, fate_, sum_;

static uint64_t next(uint64_t* state) {
  *state += 0x9e3779b97f4a7c15ull;
  return mix(*state, 1);
}

void begin_chance(uint64_t seed) {
  seed_ = seed;
  fate_ = 1;
  own_ = mix(seed, 1000 + (uint64_t)rank);
  witnessed_ = (uint64_t)rank;
}

void begin_phase(int number) {
  common_ = mix(mix(seed_, 5), (uint64_t)number);
  phase.number = number;
  phase.certain = next(&common_) % 2 == 0;
  if (!phase.certain) common_ = mix(common_, fate_);
  phase.base = next(&common_);
}

uint64_t draw(uint64_t below) { return next(&common_) % below; }

uint64_t own(uint64_t below) { return next(&own_) % below; }

void shuffle(int* order, int count) {
  for (int i = count - 1; i > 0; i--) {
    int j = (int)own((uint64_t)i + 1), held = order[i];
    order[i] = order[j];
    order[j] = held;
  }
}

void witness(uint64_t outcome) {
  witnessed_ = mix(witnessed_, outcome);
  own_ = mix(own_, outcome);
}

void count_in(uint64_t value) { sum_ += value; }

uint64_t answer(void) {
  uint64_t total = 0, fates[2] = {fate_, ~fate_}, most[2];
  MPI_Allreduce(&sum_, &total, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(fates, most, 2, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  CHECK(most[0] == fate_ && most[1] == ~fate_);
  return total;
}

void linger(void) {
  if (pause_us > 0 && own(4) == 0) usleep((useconds_t)own((uint64_t)pause_us * 2));
}

void tell_fate(void) {
  uint64_t all[ranks_most];
  MPI_Allgather(&witnessed_, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; i++) fate_ = mix(fate_, all[i]);
}

static uint64_t read_random(int by_stdio) {
  uint64_t value;
  if (by_stdio) {
    FILE* file = fopen("/dev/urandom", "r");
    CHECK(file && fread(&value, sizeof value, 1, file) == 1);
    fclose(file);
  } else {
    int file = open("/dev/urandom", O_RDONLY);
    CHECK(file >= 0 && read(file, &value, sizeof value) == sizeof value);
    close(file);
  }
  return value;
}

static uint64_t spin(void) {
  uint64_t times = 0;
  for (double start = MPI_Wtime(); MPI_Wtime() - start < 1e-5;) times++;
  return times;
}

static uint64_t time_of_day(void) {
  struct timespec time;
  struct timeval day;
  clock_gettime(own(2) ? CLOCK_REALTIME : CLOCK_MONOTONIC, &time);
  gettimeofday(&day, NULL);
  return (uint64_t)time.tv_nsec + (uint64_t)day.tv_usec;
}

static uint64_t time_used(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (uint64_t)usage.ru_utime.tv_usec + (uint64_t)clock() + (uint64_t)usage.ru_nvcsw;
}

void ask_the_system(void) {
  uint64_t value = 0;
  switch (own(8)) {
    case 0:
      value = (uint64_t)(MPI_Wtime() * 1e6);
      break;
    case 1:
      CHECK(getrandom(&value, sizeof value, 0) == sizeof value);
      break;
    case 2:
      value = time_of_day();
      break;
    case 3:
      value = spin();
      break;
    case 4:
      value = read_random((int)own(2));
      break;
    case 5:
      value = time_used();
      break;
    case 6:
      value = (uint64_t)time(NULL) + arc4random();
      break;
    default:
      value = (uint64_t)getpid();
  }
  witness(value);
}

int tag_of(int k) { return phase.number % 30000 * tags_per_phase + k; }

uint64_t value_of(int from, int to, int k) {
  return mix(phase.base, (uint64_t)(from * 64 + to) * 4096 + (uint64_t)k);
}

size_t draw_bytes(size_t most) {
  static const size_t sizes[] = {0,     1,     4,     7,     8,      16,     47,      48,      49,     63,
                                 64,    65,    200,   512,   1016,   1023,   1024,    1025,    2047,   2048,
                                 2049,  4096,  4097,  6000,  8192,   8193,   16383,   16384,   16385,  32768,
                                 65535, 65536, 65537, 98304, 140000, 262144, 1048576, 1048577, 3145828};
  enum { all = sizeof sizes / sizeof *sizes, small = 24, middle = 33, large = 36 };
  /* Some seeds have more large ones. */
  uint64_t luck = draw(100) + (seed_ % 5 == 0 ? 30 : 0);
  if (luck > 99 && draw(3)) luck = 98;
  uint64_t among = luck < 70 ? small : luck < 95 ? middle : luck < 99 ? large : all;
  size_t bytes = sizes[draw(among)];
  return bytes > most ? most : bytes;
}
