// All that a rank is told by libc and cannot foretell goes into messages and decides a branch: each round
// another rank leads, and at the end all have the same digest of all of it. Run as it is, and with ranks
// killed.
#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <random>
#include <vector>

namespace {

void check(bool is_true, const char* what) {
  if (is_true) return;
  std::fprintf(stderr, "chance: not so: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 99);
}

using Source = std::function<std::uint64_t()>;

std::uint64_t from_descriptor(const char* path) {
  std::uint64_t value = 0;
  const int descriptor = open(path, O_RDONLY);
  check(descriptor >= 0 && read(descriptor, &value, sizeof value) == sizeof value, "read");
  check(close(descriptor) == 0, "close");
  return value;
}

std::uint64_t from_stream() {
  std::uint64_t value = 0;
  FILE* file = std::fopen("/dev/urandom", "rb");
  check(file && std::fread(&value, sizeof value, 1, file) == 1 && fileno(file) >= 0, "fread");
  check(std::fclose(file) == 0, "fclose");
  return value;
}

std::uint64_t from_ifstream() {
  std::uint64_t value = 0;
  std::ifstream file("/dev/urandom", std::ios::binary);
  check(file.read(reinterpret_cast<char*>(&value), sizeof value).good(), "ifstream::read");
  return value;
}

std::uint64_t from_entropy() {
  std::uint64_t values[2] = {};
  check(getentropy(values, sizeof values) == 0, "getentropy");
  char many[257];
  check(getentropy(many, sizeof many) == -1, "getentropy of more than 256 bytes fails");
  return values[0] ^ values[1];
}

std::uint64_t from_buffer() {
  std::uint64_t value = 0;
  arc4random_buf(&value, sizeof value);
  return value;
}

std::uint64_t below() {
  const std::uint32_t value = arc4random_uniform(1000003);
  check(value < 1000003 && arc4random_uniform(1) == 0, "arc4random_uniform");
  return value;
}

std::uint64_t used() {
  rusage usage{};
  check(getrusage(RUSAGE_SELF, &usage) == 0 && usage.ru_maxrss > 0, "getrusage");
  return static_cast<std::uint64_t>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec + usage.ru_minflt);
}

std::uint64_t elapsed() {
  tms used{};
  const clock_t now = times(&used);
  check(now != -1, "times");
  return static_cast<std::uint64_t>(now + used.tms_utime);
}

std::uint64_t by_calendar() {
  timespec now{};
  check(timespec_get(&now, TIME_UTC) == TIME_UTC, "timespec_get");
  return static_cast<std::uint64_t>(now.tv_nsec);
}

// By the process id that it was told a program means itself, in a replacement, too.
std::uint64_t itself() {
  const pid_t pid = getpid();
  cpu_set_t cores;
  check(sched_getaffinity(pid, sizeof cores, &cores) == 0, "sched_getaffinity");
  check(sched_setaffinity(pid, sizeof cores, &cores) == 0, "sched_setaffinity");
  errno = 0;
  const int priority = getpriority(PRIO_PROCESS, static_cast<id_t>(pid));
  check(errno == 0 && setpriority(PRIO_PROCESS, static_cast<id_t>(pid), priority) == 0, "the priority");
  check(getpgid(pid) == getpgrp() && getsid(pid) == getsid(0), "its group and session");
  check(kill(pid, 0) == 0 && sigqueue(pid, 0, {}) == 0, "it is there");
  return static_cast<std::uint64_t>(pid);
}

// A descriptor that was a random device and is another file now is read as what it is.
std::uint64_t reused() {
  const int random = open("/dev/urandom", O_RDONLY);
  const int pipe_ends = close(random);
  const int zero = open("/dev/zero", O_RDONLY);
  std::uint64_t value = 1;
  check(pipe_ends == 0 && zero >= 0 && read(zero, &value, sizeof value) == sizeof value && value == 0,
        "/dev/zero");
  close(zero);
  return 0;
}

const std::vector<Source>& sources() {
  static const std::vector<Source> all = {
      [] { return from_descriptor("/dev/urandom"); },
      [] { return from_descriptor("/dev/random"); },
      from_stream,
      from_ifstream,
      from_entropy,
      [] { return std::uint64_t{arc4random()}; },
      from_buffer,
      below,
      [] { return std::uint64_t{std::random_device{}()}; },
      [] { return std::uint64_t{std::random_device{"/dev/urandom"}()}; },
      used,
      elapsed,
      by_calendar,
      [] { return static_cast<std::uint64_t>(clock()); },
      [] { return static_cast<std::uint64_t>(sched_getcpu()); },
      itself,
      reused,
  };
  return all;
}

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
  return hash ^ (hash >> 29);
}

}  // namespace

int main(int argc, char** argv) {
  // Before MPI_Init, too.
  std::uint64_t early = 0;
  for (const auto& source : sources()) early = mixed(early, source());
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::uint64_t digest = 0;
  for (int round = 0; round < 4 * ranks; round++) {
    const int leader = round % ranks;
    std::uint64_t told = early;
    if (rank == leader)
      for (const auto& source : sources()) {
        told = mixed(told, source());
        if (told % 5 == 0) told = mixed(told, source());
      }
    MPI_Bcast(&told, 1, MPI_UINT64_T, leader, MPI_COMM_WORLD);
    digest = mixed(digest, told);
  }
  std::uint64_t lowest = 0, highest = 0;
  MPI_Allreduce(&digest, &lowest, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&digest, &highest, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  check(lowest == digest && highest == digest, "all were told the same");
  if (rank == 0) std::printf("ok chance\n");
  MPI_Finalize();
}
