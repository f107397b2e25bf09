#include "llamada/llamanet/bell.hpp"

#include <linux/membarrier.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "llamada/base/check.hpp"
#include "llamada/base/crash_point.hpp"
#include "llamada/llamanet/shared_memory.hpp"

namespace llamada::llamanet {
namespace {

bool membarrier(int command) { return ::syscall(SYS_membarrier, command, 0, 0) == 0; }

}  // namespace

bool Bell::enter_barriers() { return membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED); }

void Bell::add(Source& source) {
  LLAMADA_CHECK(sources_.size() < sources_max);
  sources_.push_back(&source);
}

void Bell::wake_self() {
  order_commit_before_look();
  if (arena_.header().sleeping.load(std::memory_order_relaxed) != 0) llamanet::ring(event_.get());
}

void Bell::ring(const Doorbell& other) {
  LLAMADA_CRASH_POINT("wake:before-ring");
  llamanet::ring(other.event.get());
  LLAMADA_CRASH_POINT("wake:rung");
  arena_.count(log::Counter::wakes);
}

Status Bell::sleep(const std::function<bool()>& look_again, std::chrono::nanoseconds at_most,
                   WakersBy wakers_by) {
  auto& sleeping = arena_.header().sleeping;
  // Relaxed: membarrier, or the fence where the wakers have one, orders it before the second look.
  sleeping.store(1, std::memory_order_relaxed);
  LLAMADA_CRASH_POINT("sleep:flag-set");
  if (wakers_by == WakersBy::fence || needs_fence_ || !membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED))
    std::atomic_thread_fence(std::memory_order_seq_cst);
  Status woken;
  if (!look_again()) {
    LLAMADA_CRASH_POINT("sleep:asleep");
    arena_.count(log::Counter::sleeps);
    woken = nap(std::min<std::chrono::nanoseconds>(at_most, nap_max));
  }
  sleeping.store(0, std::memory_order_relaxed);
  LLAMADA_CRASH_POINT("sleep:awake");
  return woken;
}

Status Bell::nap(std::chrono::nanoseconds at_most) {
  std::array<pollfd, 1 + sources_max> wait{{{event_.get(), POLLIN, 0}}};
  for (std::size_t i = 0; i < sources_.size(); ++i) wait[1 + i] = {sources_[i]->descriptor(), POLLIN, 0};
  const auto ns = std::max<std::int64_t>(at_most.count(), 0);
  const timespec limit{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  const int ready = ::ppoll(wait.data(), 1 + sources_.size(), &limit, nullptr);
  if (ready <= 0) return {};  // the time is over, or a signal came
  if (wait[0].revents & POLLIN) clear(event_.get());
  Status first;
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    if (wait[1 + i].revents == 0) continue;
    Status status = sources_[i]->on_ready();
    if (first) first = std::move(status);
  }
  return first;
}

}  // namespace llamada::llamanet
