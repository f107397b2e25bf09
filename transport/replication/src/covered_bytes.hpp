#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace llamada::replication {

/// Which bytes of a payload have come, in any order and some perhaps twice.
class CoveredBytes {
 public:
  /// [begin, end) has come.
  void add(std::uint64_t begin, std::uint64_t end) {
    auto first = std::ranges::lower_bound(ranges_, begin, {}, &Range::end);
    auto last = first;
    for (; last != ranges_.end() && last->begin <= end; ++last) {
      begin = std::min(begin, last->begin);
      end = std::max(end, last->end);
      count_ -= last->end - last->begin;
    }
    count_ += end - begin;
    // As a rule what comes goes on where a range ends.
    if (first != last) {
      *first = {begin, end};
      ranges_.erase(first + 1, last);
    } else {
      ranges_.insert(first, {begin, end});
    }
  }
  std::uint64_t count() const { return count_; }

 private:
  struct Range {
    std::uint64_t begin;
    std::uint64_t end;
  };
  std::vector<Range> ranges_;  // in order, with gaps between them
  std::uint64_t count_ = 0;
};

}  // namespace llamada::replication
