#include "rank_output.hpp"

#include <algorithm>
#include <utility>

namespace llamada::launcher {

RankOutput::Delivery RankOutput::take(int stream, std::string_view bytes) {
  OutputJournal& journal = journals_[stream];
  if (stream == 0 && repetition_ != Repetition::over) {
    const std::size_t repeated = held_.empty() ? std::min<std::uint64_t>(bytes.size(), journal.left()) : 0;
    held_ += bytes.substr(repeated);
    bytes = bytes.substr(0, repeated);
  }
  OutputJournal::Taken taken = journal.take(bytes);
  if (taken.difference && stream == 0) return {{}, std::move(taken.difference)};
  // What differs on standard error is shown from the block on in which it does.
  Delivery delivery;
  if (taken.difference) delivery.bytes = std::move(taken.difference->held);
  delivery.bytes += taken.fresh;
  return delivery;
}

void RankOutput::restore(int stream, std::string_view bytes, const Gap& gap, std::string undelivered) {
  journals_[stream].restore(bytes, gap.begin, gap.size());
  undelivered_[stream] = std::move(undelivered);
  undelivered_at_[stream] = journals_[stream].delivered();
}

WrittenOutput RankOutput::written() const {
  return {journals_[0].position() + held_.size(), journals_[1].position()};
}

std::string RankOutput::go_on_from(int stream, std::uint64_t place) {
  // It lies before that place, too.
  if (stream == 0) held_.clear();
  OutputJournal& journal = journals_[stream];
  journal.go_on_at(place);
  const std::uint64_t begin = journal.position() - std::min(journal.position(), undelivered_at_[stream]);
  const std::string& bytes = undelivered_[stream];
  if (place <= journal.position() || begin >= bytes.size()) return {};
  std::string late = bytes.substr(begin, place - journal.position());
  journal.take(late);
  return late;
}

void RankOutput::begin_incarnation(bool is_silent) {
  for (OutputJournal& journal : journals_) journal.begin_incarnation();
  held_.clear();
  is_silent_ = is_silent;
  repetition_ = is_silent ? Repetition::over : Repetition::before;
}

RankOutput::Finding RankOutput::reached(ReplayPlace place, bool may_judge) {
  if (is_silent_) return Finding::as_before;
  if (may_judge && repetition_ == Repetition::before && !held_.empty()) return Finding::wrote_more;
  if (may_judge && place == ReplayPlace::over && is_short()) return Finding::wrote_less;
  repetition_ = place == ReplayPlace::last_call_begins ? Repetition::within : Repetition::over;
  return Finding::as_before;
}

RankOutput::Delivery RankOutput::release() {
  repetition_ = Repetition::over;
  return take(0, std::exchange(held_, {}));
}

}  // namespace llamada::launcher
