#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace llamada::detail {

/// Which of two ways to do something to bytes is the faster one at present, by the time that each takes now
/// and then: the state of a machine changes.
///
/// Any thread. Relaxed: threads that disturb each other choose worse, no more.
class FasterWay {
 public:
  /// Way 0 is taken unless 1 is faster by `patience` quarters.
  explicit constexpr FasterWay(unsigned patience) : patience_(patience) {}

  struct Turn {
    unsigned way;
    bool is_trial;  // took() is to follow
  };
  Turn take_turn() {
    const std::uint32_t turn = turns_.load(std::memory_order_relaxed);
    turns_.store(turn + 1, std::memory_order_relaxed);
    if (is_trial(turn)) [[unlikely]]
      return {(turn < first_trials ? turn : turn / turns_between_trials) % 2, true};
    return {second_is_faster_.load(std::memory_order_relaxed), false};
  }
  /// True if the next turn is way 0's, and no trial.
  bool is_first_next() const {
    return !second_is_faster_.load(std::memory_order_relaxed) &&
           !is_trial(turns_.load(std::memory_order_relaxed));
  }
  /// `ticks`: of any clock.
  void took(unsigned way, std::uint64_t ticks, std::size_t size_bytes) {
    const std::uint64_t seen = ticks * 1024 * scale / size_bytes;
    std::uint64_t mean = ticks_[way].load(std::memory_order_relaxed);
    // A long turn may have been interrupted, or have made a page: it counts less than a short one.
    if (mean == 0)
      mean = seen;
    else if (seen < mean)
      mean = (mean + seen) / 2;
    else
      mean = (7 * mean + std::min(seen, 2 * mean) + 7) / 8;
    ticks_[way].store(mean, std::memory_order_relaxed);
    const std::uint64_t first = ticks_[0].load(std::memory_order_relaxed);
    const std::uint64_t second = ticks_[1].load(std::memory_order_relaxed);
    second_is_faster_.store(second != 0 && second * (4 + patience_) / 4 < first, std::memory_order_relaxed);
  }

 private:
  /// Odd, so that trials do not keep step with a program's windows: a trial of the slower way can hold up the
  /// messages behind it (with 16 instead of 61, 4 to 16 KiB took 2 % longer).
  static constexpr std::uint32_t turns_between_trials = 61;
  static constexpr std::uint32_t first_trials = 8;
  static constexpr std::uint64_t scale = 16;
  static constexpr bool is_trial(std::uint32_t turn) {
    return turn % turns_between_trials == 0 || turn < first_trials;
  }

  std::atomic<std::uint32_t> turns_{0};
  unsigned patience_;
  std::atomic<bool> second_is_faster_{false};
  std::array<std::atomic<std::uint64_t>, 2> ticks_{};  // for a KiB, times `scale`; 0: not tried yet
};

}  // namespace llamada::detail
