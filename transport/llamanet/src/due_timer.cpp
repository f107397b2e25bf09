#include "due_timer.hpp"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>

namespace llamada::llamanet {

using replication::Time;

Result<DueTimer> DueTimer::open() {
  DueTimer made;
  made.timer_ = FileDescriptor(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!made.timer_) return system_failure("timerfd_create");
  return made;
}

void DueTimer::clear() const {
  std::uint64_t expirations = 0;
  (void)!::read(timer_.get(), &expirations, sizeof(expirations));
}

/// The least that a timer can be set to is 1 ns; 0 stops it.
void DueTimer::set(Time due, Time now) const {
  itimerspec at{};
  if (due != replication::never) {
    const auto left = std::max(due - now, Time(1));
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
    at.it_value.tv_sec = seconds.count();
    at.it_value.tv_nsec = (left - seconds).count();
  }
  ::timerfd_settime(timer_.get(), 0, &at, nullptr);
}

}  // namespace llamada::llamanet
