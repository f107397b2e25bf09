#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace llamada::service {

/// Which samples of a writer a store has dealt with, kept or dropped: all up to a number, except for some
/// gaps. A gap is what a service did not see because the writer no longer had it when the service came.
class Seen {
 public:
  struct Gap {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    bool operator==(const Gap&) const = default;
  };
  /// More gaps than that are joined, oldest first.
  static constexpr std::size_t gap_count_max = 256;

  std::uint64_t last() const { return last_; }
  const std::vector<Gap>& gaps() const { return gaps_; }
  bool has(std::uint64_t number) const {
    if (number > last_) return false;
    return std::none_of(gaps_.begin(), gaps_.end(),
                        [&](const Gap& gap) { return gap.first <= number && number <= gap.last; });
  }
  /// All up to this number that are not in a gap already.
  void through(std::uint64_t number) { last_ = std::max(last_, number); }
  /// What lies before this number and was not seen becomes a gap.
  void begin_at(std::uint64_t number) {
    if (number <= last_ + 1) return;
    add_gap({last_ + 1, number - 1});
    last_ = number - 1;
  }
  /// What one of the two has seen.
  void add(const Seen& other);
  /// Ascending, and at most gap_count_max of them.
  void add_gap(const Gap& gap);

  bool operator==(const Seen&) const = default;

 private:
  std::uint64_t last_ = 0;
  std::vector<Gap> gaps_;  // ascending, all of them at most last_
};

}  // namespace llamada::service
