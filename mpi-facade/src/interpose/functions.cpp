#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>

#include "interpose/functions.hpp"
#include "interpose/sanitizer.hpp"

// libc's functions, as libmpi exports them (exports.map). libc's own are hidden behind these.

using namespace llamada;
using namespace llamada::mpi;
using replay::ValueId;

namespace {

constexpr std::uint64_t ns_per_second = 1000000000;
constexpr std::uint64_t us_per_second = 1000000;

/// libc's function behind ours, which needs no system call.
int real_clock_gettime(clockid_t clock, timespec* value) {
  static interpose::NextFunction<int(clockid_t, timespec*)> next("clock_gettime");
  if (auto* function = next.get()) return function(clock, value);
  return static_cast<int>(syscall(SYS_clock_gettime, clock, value));
}

timespec real_clock(clockid_t clock) {
  timespec now{};
  real_clock_gettime(clock, &now);
  return now;
}

ValueId clock_value(clockid_t clock) {
  return static_cast<ValueId>(static_cast<std::uint32_t>(ValueId::clock_base) +
                              (static_cast<std::uint32_t>(clock) & 0xffff));
}

/// What a recorded read-out of a clock makes of `real`, counted in `unit`s a second.
std::uint64_t told(replay::Determinants& determinants, ValueId id, const timespec& real, std::uint64_t unit) {
  const auto count = static_cast<std::uint64_t>(real.tv_sec) * unit +
                     static_cast<std::uint64_t>(real.tv_nsec) / (ns_per_second / unit);
  return determinants.read_clock(id, count);
}

}  // namespace

extern "C" {

LLAMADA_INTERPOSED time_t time(time_t* result) noexcept {
  timespec now = real_clock(CLOCK_REALTIME_COARSE);
  if (auto* determinants = interpose::determinants_of_caller())
    now.tv_sec = static_cast<time_t>(told(*determinants, ValueId::time, now, 1));
  if (result) *result = now.tv_sec;
  return now.tv_sec;
}

LLAMADA_INTERPOSED int gettimeofday(timeval* __restrict value, void* __restrict zone) noexcept {
  if (zone) syscall(SYS_gettimeofday, nullptr, zone);
  const timespec now = real_clock(CLOCK_REALTIME);
  auto* determinants = interpose::determinants_of_caller();
  if (!determinants) {
    *value = {now.tv_sec, now.tv_nsec / 1000};
    return 0;
  }
  const std::uint64_t us = told(*determinants, ValueId::gettimeofday, now, us_per_second);
  *value = {static_cast<time_t>(us / us_per_second), static_cast<suseconds_t>(us % us_per_second)};
  return 0;
}

LLAMADA_INTERPOSED int clock_gettime(clockid_t clock, timespec* value) noexcept {
  if (const int failed = real_clock_gettime(clock, value)) return failed;
  if (interpose::is_asked_by_sanitizer(__builtin_return_address(0))) return 0;
  if (auto* determinants = interpose::determinants_of_caller()) {
    const std::uint64_t ns = told(*determinants, clock_value(clock), *value, ns_per_second);
    *value = {static_cast<time_t>(ns / ns_per_second), static_cast<long>(ns % ns_per_second)};
  }
  return 0;
}

LLAMADA_INTERPOSED int timespec_get(timespec* value, int base) noexcept {
  if (base != TIME_UTC || clock_gettime(CLOCK_REALTIME, value) != 0) return 0;
  return base;
}

LLAMADA_INTERPOSED clock_t clock() noexcept {
  timespec used{};
  if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) != 0) return -1;
  return used.tv_sec * CLOCKS_PER_SEC + used.tv_nsec / static_cast<long>(ns_per_second / CLOCKS_PER_SEC);
}

LLAMADA_INTERPOSED pid_t getpid() noexcept {
  const auto real = static_cast<pid_t>(syscall(SYS_getpid));
  auto* determinants = interpose::determinants_of_caller();
  return determinants ? static_cast<pid_t>(determinants->read_pid(static_cast<std::uint64_t>(real))) : real;
}

}  // extern "C"
