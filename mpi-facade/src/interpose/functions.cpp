#include <dlfcn.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "interpose/rank_thread.hpp"

// libc's functions, as libmpi exports them (exports.map). libc's own are hidden behind these.

using namespace llamada;
using namespace llamada::mpi;
using replay::ValueId;

namespace {

constexpr std::uint64_t ns_per_second = 1000000000;
constexpr std::uint64_t us_per_second = 1000000;

using ClockGettime = int (*)(clockid_t, timespec*);

int ask_kernel(clockid_t clock, timespec* value) {
  return static_cast<int>(syscall(SYS_clock_gettime, clock, value));
}

/// libc's function behind ours, which needs no system call. Several threads may find it at once: they find
/// the same.
int real_clock_gettime(clockid_t clock, timespec* value) {
  static std::atomic<ClockGettime> found{nullptr};  // relaxed: the function is there whoever has found it
  ClockGettime function = found.load(std::memory_order_relaxed);
  if (!function) {
    function = reinterpret_cast<ClockGettime>(dlsym(RTLD_NEXT, "clock_gettime"));
    if (!function) function = &ask_kernel;
    found.store(function, std::memory_order_relaxed);
  }
  return function(clock, value);
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

#define LLAMADA_INTERPOSED __attribute__((visibility("default")))

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
  if (auto* determinants = interpose::determinants_of_caller()) {
    const std::uint64_t ns = told(*determinants, clock_value(clock), *value, ns_per_second);
    *value = {static_cast<time_t>(ns / ns_per_second), static_cast<long>(ns % ns_per_second)};
  }
  return 0;
}

LLAMADA_INTERPOSED ssize_t getrandom(void* buffer, size_t size, unsigned flags) {
  auto* determinants = interpose::determinants_of_caller();
  if (!determinants) return syscall(SYS_getrandom, buffer, size, flags);
  ssize_t result = 0;
  const std::size_t count =
      determinants->read_random({static_cast<std::byte*>(buffer), size}, [&](std::span<std::byte> bytes) {
        result = syscall(SYS_getrandom, bytes.data(), bytes.size(), flags);
        return result < 0 ? std::size_t{0} : static_cast<std::size_t>(result);
      });
  return result < 0 ? result : static_cast<ssize_t>(count);
}

LLAMADA_INTERPOSED pid_t getpid() noexcept {
  const auto real = static_cast<pid_t>(syscall(SYS_getpid));
  auto* determinants = interpose::determinants_of_caller();
  return determinants ? static_cast<pid_t>(determinants->read_pid(static_cast<std::uint64_t>(real))) : real;
}

LLAMADA_INTERPOSED int kill(pid_t pid, int signal) noexcept {
  auto* determinants = interpose::opened_determinants();
  // The program means itself by the process id that it was told.
  if (determinants && pid > 0 && determinants->is_told_pid(static_cast<std::uint64_t>(pid)))
    pid = static_cast<pid_t>(syscall(SYS_getpid));
  return static_cast<int>(syscall(SYS_kill, pid, signal));
}

}  // extern "C"
