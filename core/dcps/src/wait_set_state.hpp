#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "llamada/dcps/condition.hpp"

namespace llamada::dcps::detail {

/// What a WaitSet shares with the conditions that are attached to it.
class WaitSetState {
 public:
  void notify() {
    std::lock_guard held(mutex);
    ++news;
    wake.notify_all();
  }

  std::mutex mutex;
  std::condition_variable wake;
  std::uint64_t news = 0;
  bool is_waiting = false;
  std::vector<std::shared_ptr<Condition>> conditions;
};

}  // namespace llamada::dcps::detail
