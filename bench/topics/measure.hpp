#pragma once

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "../cores.h"
#include "../series.h"

// A writer and its readers, a process each, measured alike over every middleware. Each sample is copied in
// once by who sends it, or made in place, and its ends are looked at by who receives it. A program prints
// lines "FIGURE SIZE VALUE UNIT [LINE CORES]" (bench.h), the last two of those who ask, each on a core of its
// own:
//
//   spin_1 16 0.31 µs           half a round trip, one reader; who waits asks again and again
//   loan_1 16 0.31 µs           the same of samples that are made where they will be read: only their ends
//   wait_1 16 0.7 µs            half a round trip; who waits sleeps
//   rate_2 1024 1.2 M/s         samples that are sent as fast as possible, each to two readers
//   bytes_2 1024 1.2 GB/s       the same in bytes of the writer
//   copies_8 1048576 1.0 n      memory that samples take which 8 readers hold, in sizes of a sample
//
// A Node is one of the processes: the writer, number 0, or a reader. What the writer sends goes to all
// readers, and what they send to the writer.
//
//   Node(int number, int readers, bool sleeps);
//   void prepare(std::size_t size);    // endpoints for samples of this size; waits until all are matched
//   void send(const std::byte* data, std::size_t size);    // may wait for room; loses nothing
//   void send_in_place(std::size_t size);    // the same, but writes only the first and the last byte, 7
//   void receive(std::byte* ends);    // the next sample's ends; spins or sleeps until it is there
//   void hold(int count);    // receives so many, looks at all their bytes and keeps them where they are

namespace llamada::bench {

inline constexpr std::size_t sizes[] = {16, 1024, 16384, 262144, 1048576};
inline constexpr std::size_t size_max = 1048576;
/// Samples that the readers hold at the same time while memory is measured.
inline constexpr int held_count = 2;
inline constexpr int readers_max = 8;

/// Memory of all processes, for what is not to be measured.
struct Shared {
  std::atomic<int> arrivals{0};
  meeting probes = {};
  double bytes[readers_max + 1] = {};
};

[[noreturn]] inline void give_up(std::string_view why) {
  std::fprintf(stderr, "bench: %.*s\n", static_cast<int>(why.size()), why.data());
  std::_Exit(1);
}

/// Of the writer's process and all readers', and of nobody else's.
inline std::string& name_of_run() {
  static std::string name;
  return name;
}

/// 0: all sizes.
inline std::size_t& only_size() {
  static std::size_t size = 0;
  return size;
}

inline double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Of this process, what it shares divided by those who share it (man 5 proc, smaps_rollup).
inline double proportional_bytes() {
  std::FILE* file = std::fopen("/proc/self/smaps_rollup", "r");
  if (file == nullptr) give_up("there is no /proc/self/smaps_rollup");
  char line[256];
  double kib = 0;
  while (std::fgets(line, sizeof(line), file) != nullptr) std::sscanf(line, "Pss: %lf kB", &kib);
  std::fclose(file);
  return kib * 1024;
}

template <typename Node>
class Measurement {
 public:
  Measurement(int number, int readers, bool sleeps, bool in_place, Shared& shared)
      : node_(number, readers, sleeps),
        shared_(shared),
        number_(number),
        first_(number == 0),
        readers_(readers),
        sleeps_(sleeps),
        in_place_(in_place),
        is_pinned_(!sleeps && readers == 1 && count_cores() > 1),
        data_(size_max, std::byte{7}) {
    if (is_pinned_) pin(allowed_core(number));
  }

  void latencies() {
    for (std::size_t size : sizes) {
      if (only_size() != 0 && size != only_size()) continue;
      node_.prepare(size);
      latency(size);
    }
  }
  void rates() {
    for (std::size_t size : sizes) {
      if (only_size() != 0 && size != only_size()) continue;
      node_.prepare(size);
      rate(size);
    }
  }
  /// Between some samples held and some more, so that what is made once does not count.
  void memory() {
    node_.prepare(size_max);
    hold_some();
    const double before = all_bytes();
    hold_some();
    const double after = all_bytes();
    if (first_) print("copies", size_max, (after - before) / held_count / size_max, "n");
  }

 private:
  void receive() {
    std::byte ends[2] = {};
    node_.receive(ends);
    if (ends[0] != std::byte{7} || ends[1] != std::byte{7}) give_up("a sample is not what was sent");
  }
  void send(std::size_t size) {
    if (in_place_)
      node_.send_in_place(size);
    else
      node_.send(data_.data(), size);
  }
  void receive_all() {
    for (int i = 0; i < readers_; ++i) receive();
  }
  void print(const char* figure, std::size_t size, double value, const char* unit) {
    std::printf("%s_%d %zu %.4g %s\n", figure, readers_, size, value, unit);
    std::fflush(stdout);
  }

  void hold_some() {
    for (int i = 0; i < held_count && first_; ++i) send(size_max);
    if (!first_) node_.hold(held_count);
    meet();
  }

  /// Of all processes together.
  double all_bytes() {
    shared_.bytes[number_] = proportional_bytes();
    meet();
    double all = 0;
    for (int i = 0; i <= readers_; ++i) all += shared_.bytes[i];
    meet();
    return all;
  }

  /// Returns when all processes have called it as often as this one.
  void meet() {
    const int wanted = ++meetings_ * (readers_ + 1);
    for (++shared_.arrivals; shared_.arrivals < wanted;) usleep(1000);
  }

  double round_trips(std::size_t size, int count) {
    const double start = now_us();
    for (int i = 0; i < count; ++i) {
      if (first_) {
        send(size);
        receive_all();
      } else {
        receive();
        send(size);
      }
    }
    return (now_us() - start) / count / 2;
  }

  void latency(std::size_t size) {
    const std::size_t written = in_place_ ? 2 : size;
    const int count = (written <= 1024 ? 1000 : written <= 16384 ? 200 : 20) / (readers_ > 1 ? 4 : 1);
    const std::string figure = (in_place_ ? "loan_" : sleeps_ ? "wait_" : "spin_") + std::to_string(readers_);
    round_trips(size, count);
    series batches;
    series_begin(&batches, 21, is_pinned_ ? &shared_.probes : nullptr, number_);
    while (series_has_next(&batches)) series_add(&batches, round_trips(size, count));
    if (first_) series_print(&batches, figure.c_str(), static_cast<long>(size), "µs");
  }

  /// One sends as fast as it can, the others answer once when they have all.
  void rate(std::size_t size) {
    const int count = static_cast<int>(std::min<std::size_t>(200'000, (256 << 20) / size)) / readers_;
    const double start = now_us();
    for (int i = 0; i < count; ++i) first_ ? send(size) : receive();
    first_ ? receive_all() : send(size);
    if (!first_) return;
    const double took_us = now_us() - start;
    print("rate", size, count / took_us, "M/s");
    print("bytes", size, static_cast<double>(size) * count / took_us / 1000, "GB/s");
  }

  Node node_;
  Shared& shared_;
  int meetings_ = 0;
  const int number_;
  const bool first_;
  const int readers_;
  const bool sleeps_;
  const bool in_place_;
  const bool is_pinned_;
  std::vector<std::byte> data_;
};

/// main() of a program: `PROGRAM spin|loan|wait|rate|memory [READERS [SIZE]]`; spin and loan ask, the others
/// wait.
template <typename Node>
int measure(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  const int readers = argc > 2 ? std::atoi(argv[2]) : 1;
  only_size() = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 0;
  if (readers < 1 || readers > readers_max) give_up("1 to 8 readers");
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) give_up("mmap fails");
  auto* shared = new (memory) Shared;
  name_of_run() = std::to_string(getpid());
  std::vector<pid_t> others;
  int number = 0;
  for (int i = 1; i <= readers && number == 0; ++i) {
    const pid_t other = fork();
    if (other < 0) give_up("fork fails");
    if (other == 0) number = i;
    if (other == 0) prctl(PR_SET_PDEATHSIG, SIGKILL);
    others.push_back(other);
  }
  {
    Measurement<Node> measurement(number, readers, what != "spin" && what != "loan", what == "loan", *shared);
    if (what == "spin" || what == "loan" || what == "wait")
      measurement.latencies();
    else if (what == "rate")
      measurement.rates();
    else if (what == "memory")
      measurement.memory();
    else
      give_up("usage: spin|loan|wait|rate|memory [READERS [SIZE]]");
  }
  if (number != 0) std::exit(0);  // what a middleware made outside of the Node goes, too
  bool well = true;
  for (const pid_t other : others) {
    int status = 0;
    well = waitpid(other, &status, 0) == other && status == 0 && well;
  }
  return well ? 0 : 1;
}

}  // namespace llamada::bench
