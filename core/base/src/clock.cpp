#include "llamada/base/clock.hpp"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

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

constexpr std::chrono::nanoseconds distance_error_max = std::chrono::microseconds(1);
constexpr std::chrono::nanoseconds distance_age_max = std::chrono::milliseconds(1);

/// How far CLOCK_REALTIME is ahead of CLOCK_MONOTONIC, as a thread has seen it last.
struct Distance {
  std::chrono::nanoseconds value{0};
  std::chrono::nanoseconds seen_at = -2 * distance_age_max;  // monotonic
};

}  // namespace

std::chrono::nanoseconds SystemClock::monotonic() const { return read_clock(CLOCK_MONOTONIC); }
std::chrono::nanoseconds SystemClock::realtime() const { return read_clock(CLOCK_REALTIME); }

Clock::Both SystemClock::both() const {
  thread_local Distance distance;
  const auto now = read_clock(CLOCK_MONOTONIC);
  if (now - distance.seen_at < distance_age_max) return {now, now + distance.value};
  const auto realtime = read_clock(CLOCK_REALTIME);
  // Who was interrupted between the two has not seen their distance.
  if (read_clock(CLOCK_MONOTONIC) - now <= distance_error_max) distance = {realtime - now, now};
  return {now, realtime};
}

}  // namespace llamada
