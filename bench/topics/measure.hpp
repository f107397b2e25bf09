#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

// Two processes that exchange samples by two topics, measured alike over every middleware. A program prints
// "latency SIZE MICROSECONDS" (half a round trip, the median of several batches) and "throughput SIZE MB/s"
// for each size; each sample is copied in once by who sends it, and its ends are looked at by who receives
// it.
//
// A Node is one of the two processes:
//
//   Node(bool first, bool sleeps);
//   void prepare(const char* what, std::size_t size);   // waits for the other one, or opens endpoints anew
//   void send(const std::byte* data, std::size_t size);   // may wait for room; loses nothing
//   void receive(std::byte* ends);     // the next sample's first and last byte; spins or sleeps until it is
//                                         there

namespace llamada::bench {

constexpr std::size_t sizes[] = {64, 1024, 65536, 1'000'000};

[[noreturn]] inline void give_up(std::string_view why) {
  std::fprintf(stderr, "bench: %.*s\n", static_cast<int>(why.size()), why.data());
  std::_Exit(1);
}

inline double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

template <typename Node>
class Measurement {
 public:
  Measurement(bool first, bool sleeps) : node_(first, sleeps), first_(first), data_(1 << 20, std::byte{7}) {}

  void latencies() {
    for (std::size_t size : sizes) {
      node_.prepare("latency", size);
      latency(size);
    }
  }
  void throughputs() {
    for (std::size_t size : sizes) {
      node_.prepare("throughput", size);
      throughput(size);
    }
  }

 private:
  void receive() {
    std::byte ends[2] = {};
    node_.receive(ends);
    if (ends[0] != std::byte{7} || ends[1] != std::byte{7}) give_up("a sample is not what was sent");
  }
  void send(std::size_t size) { node_.send(data_.data(), size); }

  double round_trips(std::size_t size, int count) {
    const double start = now_us();
    for (int i = 0; i < count; ++i) {
      if (first_) send(size);
      receive();
      if (!first_) send(size);
    }
    return (now_us() - start) / count / 2;
  }

  void latency(std::size_t size) {
    const int count = size <= 1024 ? 1000 : size <= 65536 ? 100 : 10;
    std::vector<double> batches;
    round_trips(size, count);
    for (int batch = 0; batch < 21; ++batch) batches.push_back(round_trips(size, count));
    std::sort(batches.begin(), batches.end());
    if (first_) std::printf("latency %zu %.3f\n", size, batches[batches.size() / 2]);
  }

  /// One sends as fast as it can, the other answers once when it has all.
  void throughput(std::size_t size) {
    const int count = static_cast<int>(std::min<std::size_t>(200'000, (256 << 20) / size));
    const double start = now_us();
    for (int i = 0; i < count; ++i) first_ ? send(size) : receive();
    first_ ? receive() : send(64);
    if (first_)
      std::printf("throughput %zu %.1f\n", size, static_cast<double>(size) * count / (now_us() - start));
  }

  Node node_;
  const bool first_;
  std::vector<std::byte> data_;
};

/// main() of a program: `PROGRAM [spin|sleep]`. Who spins keeps a core from who works where cores are few; so
/// throughput is measured only with who sleeps.
template <typename Node>
int measure(int argc, char** argv) {
  const bool sleeps = argc > 1 && std::string_view(argv[1]) == "sleep";
  const pid_t other = fork();
  if (other < 0) give_up("fork fails");
  {
    Measurement<Node> measurement(other != 0, sleeps);
    measurement.latencies();
    if (sleeps) measurement.throughputs();
  }
  std::fflush(stdout);
  if (other == 0) std::exit(0);  // what a middleware made outside of the Node goes, too
  int status = 0;
  return waitpid(other, &status, 0) == other && status == 0 ? 0 : 1;
}

}  // namespace llamada::bench
