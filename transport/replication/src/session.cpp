#include "llamada/replication/session.hpp"

#include <algorithm>
#include <bit>

#include "llamada/base/check.hpp"

namespace llamada::replication {
namespace {

using namespace std::chrono_literals;

/// A datagram is lost when so many that were sent later have come.
constexpr std::uint64_t later_ones_max = 3;
/// A peer that waits in a call answers at once. Others may compute, and that is no loss.
constexpr Time timeout_of_waiting_min = 300us;
constexpr Time timeout_min = 5ms;
constexpr Time timeout_max = 200ms;
constexpr std::uint64_t window_min = 4;
/// Acknowledgements ride on answers; by themselves they go after so many datagrams, or so long.
constexpr std::uint32_t unacknowledged_max = 8;
constexpr Time acknowledge_within = 100us;

}  // namespace

Session::Session(const SessionOptions& options)
    : options_(options), under_way_(options.window_datagrams_max) {
  LLAMADA_CHECK(std::has_single_bit(options.window_datagrams_max));
  reset();
}

void Session::reset() {
  std::ranges::fill(under_way_, UnderWay{});
  base_ = next_ = looked_at_ = 1;
  unseen_ = unseen_bytes_ = order_ = order_seen_ = 0;
  window_ = std::min(options_.window_datagrams_first, options_.window_datagrams_max);
  window_part_ = episode_end_ = 0;
  slow_from_ = options_.window_datagrams_max;
  timer_ = never;
  timeouts_ = 0;
  round_trip_ = Time{0};
  peer_answers_at_once_ = false;
  all_ = 0;
  come_ = {};
  come_count_ = 0;
  unacknowledged_ = 0;
  is_urgent_ = false;
  acknowledge_at_ = never;
}

bool Session::may_send(std::size_t size_bytes) const {
  if (next_ - base_ >= under_way_.size()) return false;
  if (unseen_ == 0) return true;
  return unseen_ < window_ && unseen_bytes_ + size_bytes <= options_.window_bytes_max;
}

void Session::sent(std::size_t size_bytes, Time now) {
  LLAMADA_CHECK(next_ - base_ < under_way_.size());
  slot(next_++) = {.sent_at = now, .order = ++order_, .size_bytes = static_cast<std::uint32_t>(size_bytes)};
  ++unseen_;
  unseen_bytes_ += size_bytes;
  if (timer_ == never) arm_timer(now);
}

Time Session::timeout() const {
  const Time least = peer_answers_at_once_ ? timeout_of_waiting_min : timeout_min;
  const Time once = std::max(4 * round_trip_, least);
  return std::min(once * (std::int64_t{1} << std::min(timeouts_, 10U)), timeout_max);
}

void Session::arm_timer(Time now) { timer_ = base_ == next_ ? never : now + timeout(); }

std::optional<std::uint64_t> Session::lost(Time now) {
  for (looked_at_ = std::max(looked_at_, base_); looked_at_ < next_; ++looked_at_) {
    const UnderWay& one = slot(looked_at_);
    if (one.is_seen || one.order + later_ones_max > order_seen_) continue;
    if (looked_at_ >= episode_end_) close_window();
    return looked_at_++;
  }
  if (now < timer_) return std::nullopt;
  // The oldest one only: to a peer that computes nothing was lost, and it shall not find a heap of doubles.
  ++timeouts_;
  close_window();
  arm_timer(now);
  return base_;
}

void Session::resent(std::uint64_t number, Time now) {
  UnderWay& one = slot(number);
  one.order = ++order_;
  one.sent_at = now;
  one.is_resent = true;
}

void Session::close_window() {
  window_ = std::max(window_ / 2, window_min);
  slow_from_ = window_;
  window_part_ = 0;
  episode_end_ = next_;
}

void Session::open_window(std::uint64_t datagrams) {
  if (window_ < slow_from_) {
    window_ += datagrams;
  } else {
    window_part_ += datagrams;
    window_ += window_part_ / window_;
    window_part_ %= window_;
  }
  window_ = std::min<std::uint64_t>(window_, options_.window_datagrams_max);
}

void Session::note_seen(std::uint64_t number, Time now) {
  UnderWay& one = slot(number);
  if (one.is_seen) return;
  one.is_seen = true;
  --unseen_;
  unseen_bytes_ -= one.size_bytes;
  order_seen_ = std::max(order_seen_, one.order);
  if (!one.is_resent) note_round_trip(now - one.sent_at);
}

/// Of a datagram that was not sent twice: else nobody knows which one came. A peer that computes answers
/// late, which says nothing of the path: so one sample counts for twice what is known at most.
void Session::note_round_trip(Time sample) {
  if (round_trip_ == Time{0})
    round_trip_ = std::min(sample, timeout_min);
  else
    round_trip_ += (std::min(sample, 2 * round_trip_) - round_trip_) / 8;
}

Session::Applied Session::acknowledged(const Seen& seen, bool peer_answers_at_once, Time now) {
  // Older than another acknowledgement, or of what was never sent.
  if (seen.all + 1 < base_ || seen.all >= next_) return {};
  Applied applied{base_, seen.all};
  const std::uint64_t unseen_before = unseen_;
  for (std::uint64_t number = base_; number <= seen.all; ++number) note_seen(number, now);
  base_ = seen.all + 1;
  for (std::uint64_t more = seen.more; more != 0; more &= more - 1) {
    const std::uint64_t number = seen.all + 2 + static_cast<std::uint64_t>(std::countr_zero(more));
    if (number < next_) note_seen(number, now);
  }
  applied.is_news = unseen_ < unseen_before || applied.first <= applied.last;
  if (applied.is_news) peer_answers_at_once_ = peer_answers_at_once;
  if (unseen_ < unseen_before) {
    looked_at_ = base_;
    open_window(unseen_before - unseen_);
  }
  if (applied.first <= applied.last) {
    timeouts_ = 0;
    arm_timer(now);
  }
  return applied;
}

bool Session::has_come(std::uint64_t number) const {
  return (come_[number % ahead_max / 64] >> (number % 64) & 1) != 0;
}

void Session::clear_come(std::uint64_t number) {
  if (come_count_ == 0 || !has_come(number)) return;
  come_[number % ahead_max / 64] &= ~(std::uint64_t{1} << (number % 64));
  --come_count_;
}

Session::Arrival Session::arrives(std::uint64_t number, Time now) {
  if (number == all_ + 1) return Arrival::next;
  if (number > all_ + ahead_max) return Arrival::too_far;
  if (number > all_ && !has_come(number)) return Arrival::ahead;
  acknowledge_at_ = std::min(acknowledge_at_, now + acknowledge_within);
  return Arrival::before;
}

void Session::owe(Time now) {
  ++unacknowledged_;
  acknowledge_at_ = std::min(acknowledge_at_, now + acknowledge_within);
}

void Session::applied(Time now) {
  clear_come(++all_);
  if (options_.delivery == SessionOptions::Delivery::as_they_come)
    while (come_count_ > 0 && has_come(all_ + 1)) clear_come(++all_);
  owe(now);
}

void Session::came(std::uint64_t number, Time now) {
  LLAMADA_CHECK(number > all_ + 1 && number <= all_ + ahead_max);
  if (!has_come(number)) ++come_count_;
  come_[number % ahead_max / 64] |= std::uint64_t{1} << (number % 64);
  // So that the sender hears of the gap.
  is_urgent_ = true;
  owe(now);
}

Seen Session::seen() const {
  Seen seen{all_, 0};
  if (come_count_ == 0) return seen;
  for (std::uint64_t bit = 0; bit < 64; ++bit)
    if (has_come(all_ + 2 + bit)) seen.more |= std::uint64_t{1} << bit;
  return seen;
}

bool Session::owes_acknowledgement(Time now) const {
  return is_urgent_ || unacknowledged_ >= unacknowledged_max || now >= acknowledge_at_;
}

void Session::acknowledgement_sent() {
  unacknowledged_ = 0;
  is_urgent_ = false;
  acknowledge_at_ = never;
}

Time Session::due() const {
  if (is_urgent_) return Time{0};
  return std::min(timer_, acknowledge_at_);
}

}  // namespace llamada::replication
