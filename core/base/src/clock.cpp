#include "llamada/base/clock.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "llamada/base/file_descriptor.hpp"
#include "llamada/base/ticks.hpp"

namespace llamada {
namespace {

using ClockGettime = int (*)(clockid_t, timespec*);

int clock_gettime_by_system_call(clockid_t clock, timespec* value) {
  return static_cast<int>(::syscall(SYS_clock_gettime, clock, value));
}

// libc's own function goes through the vDSO; where it cannot be found, the system call serves.
ClockGettime find_clock_gettime() {
  void* libc = ::dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  void* symbol = libc != nullptr ? ::dlsym(libc, "clock_gettime") : nullptr;
  return symbol != nullptr ? reinterpret_cast<ClockGettime>(symbol) : &clock_gettime_by_system_call;
}

std::chrono::nanoseconds read_clock(clockid_t clock) {
  static const ClockGettime clock_gettime_of_libc = find_clock_gettime();
  timespec value{};
  clock_gettime_of_libc(clock, &value);
  return std::chrono::seconds(value.tv_sec) + std::chrono::nanoseconds(value.tv_nsec);
}

/// Whether the kernel itself takes the time from that counter, so that it runs evenly and alike on all cores.
bool kernel_trusts_counter() {
  static const bool trusts = [] {
    const FileDescriptor file(
        ::open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC));
    char name[4] = {};
    return file && processor_ticks() != 0 && ::read(file.get(), name, sizeof(name)) == 4 &&
           std::string_view(name, 4) == "tsc\n";
  }();
  return trusts;
}

/// One moment on all three.
struct Look {
  std::chrono::nanoseconds monotonic{0};
  std::chrono::nanoseconds realtime{0};
  std::uint64_t counter = 0;
};

constexpr std::chrono::nanoseconds look_error_max = std::chrono::microseconds(1);
constexpr std::chrono::nanoseconds look_age_max = std::chrono::milliseconds(1);
constexpr std::chrono::nanoseconds rate_span_min = std::chrono::milliseconds(10);
constexpr std::chrono::nanoseconds rate_span_max = std::chrono::milliseconds(100);
constexpr double ns_per_tick_min = 0.05, ns_per_tick_max = 20;
constexpr double rate_change_max = 0.001;  // kernels adjust their clocks by at most half of that

/// What a thread has seen of the clocks last, and how fast the counter runs.
class SeenClocks {
 public:
  Clock::Both now() {
    const std::uint64_t ticks = processor_ticks() - seen_.counter;
    if (ticks >= ticks_max_) return look();
    // The product fits: of ticks_max_ it is look_age_max, shifted.
    const std::chrono::nanoseconds since(ticks * ns_per_tick_ >> rate_shift);
    latest_ = std::max(latest_, seen_.monotonic + since);
    return {latest_, latest_ + (seen_.realtime - seen_.monotonic)};
  }

 private:
  static constexpr int rate_shift = 32;

  Clock::Both look() {
    Look now{read_clock(CLOCK_MONOTONIC), {}, processor_ticks()};
    latest_ = std::max(latest_, now.monotonic);
    const bool has_seen = seen_.monotonic.count() != 0;
    if (has_seen && ticks_max_ == 0 && now.monotonic - seen_.monotonic < look_age_max)
      return {latest_, now.monotonic + (seen_.realtime - seen_.monotonic)};
    now.realtime = read_clock(CLOCK_REALTIME);
    // Who was interrupted between the two has not seen one moment.
    if (read_clock(CLOCK_MONOTONIC) - now.monotonic <= look_error_max) {
      if (kernel_trusts_counter()) learn_rate(now);
      seen_ = now;
    }
    return {latest_, now.realtime};
  }

  void learn_rate(const Look& now) {
    const auto span = now.monotonic - first_.monotonic;
    if (span < rate_span_min) return;
    if (span <= rate_span_max) {
      take_rate(static_cast<double>(span.count()) / static_cast<double>(now.counter - first_.counter));
      if (rate_ != 0) return;
    }
    first_ = now;
  }

  /// One that cannot be is none: one of the two has stood still, or has leapt.
  void take_rate(double rate) {
    const bool is_usual = rate > ns_per_tick_min && rate < ns_per_tick_max;
    const bool has_leapt = rate_ != 0 && std::abs(rate / rate_ - 1) > rate_change_max;
    rate_ = is_usual && !has_leapt ? rate : 0;
    ns_per_tick_ = static_cast<std::uint64_t>(rate_ * (std::uint64_t{1} << rate_shift));
    ticks_max_ =
        rate_ == 0 ? 0 : static_cast<std::uint64_t>(static_cast<double>(look_age_max.count()) / rate_);
  }

  Look seen_;
  Look first_;                          // where the rate is measured from
  double rate_ = 0;                     // ns per tick of the counter; 0: it is not known
  std::uint64_t ns_per_tick_ = 0;       // the same, shifted
  std::uint64_t ticks_max_ = 0;         // so long seen_ is good
  std::chrono::nanoseconds latest_{0};  // monotonic: it never goes back
};

}  // namespace

std::chrono::nanoseconds SystemClock::monotonic() const { return read_clock(CLOCK_MONOTONIC); }
std::chrono::nanoseconds SystemClock::realtime() const { return read_clock(CLOCK_REALTIME); }

Clock::Both SystemClock::both() const {
  thread_local constinit SeenClocks clocks;
  return clocks.now();
}

}  // namespace llamada
