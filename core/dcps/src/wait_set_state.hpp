#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core.hpp"
#include "llamada/dcps/condition.hpp"

namespace llamada::dcps::detail {

/// What a WaitSet shares with the conditions that are attached to it.
class WaitSetState {
 public:
  using Conditions = std::vector<std::shared_ptr<Condition>>;

  /// One of the conditions may have become true. Any thread, with locks of participants or without.
  void notify() {
    ++news;  // seq_cst, as the look at is_waiting: who begins to wait sees the one, or is seen
    if (!is_waiting) return;
    std::lock_guard held(mutex);
    wake.notify_all();
    if (led != nullptr && leader != std::this_thread::get_id()) led->wake_leader();
  }

  /// A snapshot: attach() and detach() replace the list, they never change it.
  std::shared_ptr<const Conditions> attached() const {
    std::lock_guard held(mutex);
    return conditions;
  }

  std::atomic<std::uint64_t> news{0};
  std::atomic<bool> is_waiting{false};
  mutable std::mutex mutex;  // for what follows; nothing is locked under it
  std::condition_variable wake;
  std::shared_ptr<const Conditions> conditions = std::make_shared<Conditions>();
  /// The participant that the waiting thread leads.
  Core* led = nullptr;
  std::thread::id leader;
};

}  // namespace llamada::dcps::detail
