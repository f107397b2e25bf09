#include <errno.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/times.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "interpose/functions.hpp"

// What the kernel says of how much a process has used, and where it runs.

using namespace llamada::mpi;
using replay::ValueId;

namespace {

constexpr std::uint64_t us_per_second = 1000000;

std::uint64_t in_us(const timeval& value) {
  return static_cast<std::uint64_t>(value.tv_sec) * us_per_second + static_cast<std::uint64_t>(value.tv_usec);
}

void tell(replay::Determinants& determinants, ValueId id, timeval& value) {
  const std::uint64_t us = determinants.read_clock(id, in_us(value));
  value = {static_cast<time_t>(us / us_per_second), static_cast<suseconds_t>(us % us_per_second)};
}

clock_t tell(replay::Determinants& determinants, ValueId id, clock_t ticks) {
  return static_cast<clock_t>(determinants.read_clock(id, static_cast<std::uint64_t>(ticks)));
}

/// All of the rest, as bytes.
void tell_counts(replay::Determinants& determinants, rusage& usage) {
  auto* counts = reinterpret_cast<std::byte*>(&usage) + offsetof(rusage, ru_maxrss);
  determinants.read_random({counts, sizeof usage - offsetof(rusage, ru_maxrss)},
                           [](std::span<std::byte> bytes) { return bytes.size(); });
}

struct TimeIds {
  ValueId user;
  ValueId system;
};

TimeIds time_ids(int who) {
  if (who == RUSAGE_CHILDREN) return {ValueId::children_user_time, ValueId::children_system_time};
  if (who == RUSAGE_THREAD) return {ValueId::thread_user_time, ValueId::thread_system_time};
  return {ValueId::user_time, ValueId::system_time};
}

}  // namespace

extern "C" {

LLAMADA_INTERPOSED int getrusage(__rusage_who_t who, struct rusage* usage) noexcept {
  const int failed = static_cast<int>(syscall(SYS_getrusage, who, usage));
  auto* determinants = failed ? nullptr : interpose::determinants_of_caller();
  if (!determinants) return failed;
  const TimeIds ids = time_ids(who);
  tell(*determinants, ids.user, usage->ru_utime);
  tell(*determinants, ids.system, usage->ru_stime);
  tell_counts(*determinants, *usage);
  return 0;
}

LLAMADA_INTERPOSED clock_t times(struct tms* used) noexcept {
  struct tms real {};
  clock_t now = syscall(SYS_times, &real);
  if (auto* determinants = interpose::determinants_of_caller()) {
    now = tell(*determinants, ValueId::times, now);
    real.tms_utime = tell(*determinants, ValueId::times_user, real.tms_utime);
    real.tms_stime = tell(*determinants, ValueId::times_system, real.tms_stime);
    real.tms_cutime = tell(*determinants, ValueId::times_children_user, real.tms_cutime);
    real.tms_cstime = tell(*determinants, ValueId::times_children_system, real.tms_cstime);
  }
  if (used) *used = real;
  return now;
}

LLAMADA_INTERPOSED int sched_getcpu() noexcept {
  unsigned cpu = 0;
  if (syscall(SYS_getcpu, &cpu, nullptr, nullptr) != 0) return -1;
  auto* determinants = interpose::determinants_of_caller();
  return static_cast<int>(determinants ? determinants->read_value(ValueId::cpu, cpu) : cpu);
}

}  // extern "C"
