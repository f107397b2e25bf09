#pragma once

#include <chrono>

#include "llamada/base/clock.hpp"

namespace llamada {

/// A clock that stands still until a test lets time pass. It begins at one second.
class SetClock final : public Clock {
 public:
  std::chrono::nanoseconds monotonic() const override { return now_; }
  std::chrono::nanoseconds realtime() const override { return now_; }
  void pass(std::chrono::nanoseconds time) { now_ += time; }

 private:
  std::chrono::nanoseconds now_ = std::chrono::seconds(1);
};

}  // namespace llamada
