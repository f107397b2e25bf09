#include "threads/call_counter.hpp"

#include <algorithm>

namespace llamada::mpi {

void CallCounter::watch(std::uint64_t index, std::function<void()> action) {
  watches_.push_back({index, std::move(action)});
  look_ahead();
}

void CallCounter::look_ahead() {
  std::uint64_t next = attend_at_;
  for (const Watch& watch : watches_)
    if (watch.index > begun_) next = std::min(next, watch.index);
  watched_.store(next, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  // A signal may have come in between.
  if (interrupted_.load(std::memory_order_relaxed)) watched_.store(0, std::memory_order_relaxed);
}

/// An action may watch for later calls.
void CallCounter::act() {
  interrupted_.store(false, std::memory_order_relaxed);
  std::vector<std::function<void()>> due;
  for (Watch& watch : watches_)
    if (watch.index == begun_) due.push_back(std::move(watch.action));
  std::erase_if(watches_, [this](const Watch& watch) { return watch.index <= begun_; });
  look_ahead();
  for (auto& action : due) action();
  if (!attend_) return;
  attend_at_ = attend_();
  look_ahead();
}

}  // namespace llamada::mpi
