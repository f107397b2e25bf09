#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "llamada/dcps/time.hpp"

namespace llamada::dcps {

/// When which instance has to be looked at. An instance may be in it several times; looking too often does no
/// harm.
class Wakeups {
 public:
  void add(std::chrono::nanoseconds when, std::uint64_t instance) {
    heap_.push_back({when, instance});
    std::push_heap(heap_.begin(), heap_.end(), later);
  }

  /// The first moment, never if there is none.
  std::chrono::nanoseconds next() const { return heap_.empty() ? never : heap_.front().when; }

  /// Takes one instance whose moment has come into `instance`; false: there is none.
  bool pop_due(std::chrono::nanoseconds now, std::uint64_t& instance) {
    if (next() > now) return false;
    instance = heap_.front().instance;
    std::pop_heap(heap_.begin(), heap_.end(), later);
    heap_.pop_back();
    return true;
  }

 private:
  struct Wakeup {
    std::chrono::nanoseconds when;
    std::uint64_t instance;
  };
  static bool later(const Wakeup& a, const Wakeup& b) { return a.when > b.when; }

  std::vector<Wakeup> heap_;
};

}  // namespace llamada::dcps
