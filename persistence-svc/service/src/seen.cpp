#include "llamada/service/seen.hpp"

namespace llamada::service {

void Seen::add_gap(const Gap& gap) {
  gaps_.push_back(gap);
  last_ = std::max(last_, gap.last);
  if (gaps_.size() <= gap_count_max) return;
  gaps_[1].first = gaps_[0].first;
  gaps_.erase(gaps_.begin());
}

void Seen::add(const Seen& other) {
  const auto unseen = [](const Seen& seen) {
    auto gaps = seen.gaps_;
    gaps.push_back({seen.last_ + 1, UINT64_MAX});
    return gaps;
  };
  const auto mine = unseen(*this), theirs = unseen(other);
  Seen both;
  both.last_ = std::max(last_, other.last_);
  for (auto one = mine.begin(), two = theirs.begin(); one != mine.end() && two != theirs.end();) {
    const Gap gap{std::max(one->first, two->first), std::min(one->last, two->last)};
    if (gap.first <= gap.last && gap.first <= both.last_) both.add_gap(gap);
    one->last < two->last ? ++one : ++two;
  }
  *this = both;
}

}  // namespace llamada::service
