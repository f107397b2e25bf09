#include "p2p/shared_copy.hpp"

#include <algorithm>

#include "llamada/base/rounding.hpp"

namespace llamada::mpi {
namespace {

// A call of the kernel for each part costs as much as the copy of some pages, so the first part is half of
// all, and the others are halves of what is left; but nobody is long without a look at what else there is.
constexpr std::uint32_t share_units_min = 4;
constexpr std::uint32_t share_units_max = 512;

std::uint64_t unit_for(std::uint64_t bytes) {
  std::uint64_t unit = SharedCopy::unit_bytes_min;
  while (bytes / unit >= CopyClaim::units_max) unit *= 2;
  return unit;
}

}  // namespace

SharedCopy::SharedCopy(std::atomic<std::uint64_t>& own, const std::atomic<std::uint64_t>& other,
                       std::uint32_t number, std::uint64_t bytes, End end, bool opens)
    : own_(&own),
      other_(other),
      bytes_(bytes),
      unit_bytes_(unit_for(bytes)),
      number_(number),
      units_(static_cast<std::uint32_t>(divided_up(bytes, unit_bytes_))),
      end_(end),
      opens_(opens) {
  // The other end hears of the copy by what is published after this.
  if (opens_) own_->store(CopyClaim{number_, 0, false}.word(), std::memory_order_release);
}

void SharedCopy::claim_ahead(Ahead wanted) {
  if (units_ == 0) return;
  const bool all = wanted == Ahead::all || units_ < share_units_min + share_units_min / 2;
  claimed_ = std::min(all ? units_ : half(), share_units_max);
  is_ahead_ = true;
  own_->store(CopyClaim{number_, claimed_, true}.word(), std::memory_order_release);
}

/// Pairs with the other end's say().
CopyClaim SharedCopy::look() {
  seen_ = other_.load(std::memory_order_seq_cst);
  CopyClaim claim = CopyClaim::of(seen_);
  // It lies where a wild pointer of the other end may have written: no more than there is.
  claim.units = std::min(claim.units, units_);
  if (claim.number == number_) return claim;
  // What the other end says of an earlier copy is nothing about this one.
  if (opens_) return {number_, 0, false};
  is_over_ = true;
  return {number_, units_ - std::min(done_, units_), false};
}

/// Pairs with the other end's look(); what was copied is there before it is said.
void SharedCopy::say(std::uint32_t units, bool is_open, std::memory_order order) {
  claimed_ = units;
  has_said_ = true;
  own_->store(CopyClaim{number_, units, is_open}.word(), order);
}

std::uint32_t SharedCopy::share_of(std::uint32_t left, std::uint32_t others) const {
  const bool is_first = claimed_ == 0;
  const std::uint32_t wanted = is_first && wants_all_         ? left
                               : is_first && others <= half() ? half()
                                                              : left - left / 2;
  const std::uint32_t share = std::clamp(wanted, share_units_min, share_units_max);
  return left < share + share_units_min / 2 ? left : share;
}

SharedCopy::Part SharedCopy::take(std::uint32_t up_to) {
  const std::uint32_t from = taken_;
  taken_ = up_to;
  const auto bytes_at = [this](std::uint32_t unit) { return std::min(bytes_, unit * unit_bytes_); };
  const std::uint64_t first = end_ == End::lower ? bytes_at(from) : bytes_at(units_ - up_to);
  const std::uint64_t last = end_ == End::lower ? bytes_at(up_to) : bytes_at(units_ - from);
  return {first, last - first};
}

SharedCopy::Part SharedCopy::claim() {
  if (is_over_ || taken_ != done_) return {};
  if (std::exchange(is_ahead_, false)) return take(claimed_);
  return end_ == End::lower ? claim_from_below() : claim_from_above();
}

SharedCopy::Part SharedCopy::claim_from_below() {
  CopyClaim other = look();
  if (is_over_) return {};
  std::uint32_t limit = units_ - other.units;
  if (claimed_ == done_) {
    if (claimed_ >= limit) return {};
    say(claimed_ + share_of(limit - claimed_, other.units), true);
    other = look();
    if (is_over_) return {};
    limit = units_ - other.units;
  }
  const std::uint32_t certain = std::min(claimed_, limit);
  if (certain > done_) return take(certain);
  // What both want is the other's unless it takes it back.
  if (!other.is_open) say(std::max(done_, certain), false);
  return {};
}

SharedCopy::Part SharedCopy::claim_from_above() {
  CopyClaim other = look();
  if (is_over_ || claimed_ + other.units >= units_) return {};
  const std::uint32_t before = claimed_;
  say(before + share_of(units_ - before - other.units, other.units), true);
  other = look();
  if (is_over_ || claimed_ + other.units > units_) {
    const std::uint32_t certain = is_over_ ? before : std::max(before, units_ - other.units);
    say(certain, certain > before);
    if (certain == before) return {};
  }
  return take(claimed_);
}

void SharedCopy::copied() {
  done_ = taken_;
  if (done_ != claimed_) return;
  // What is claimed stays as it is: nothing that the other end has claimed since can be missed.
  say(claimed_, false, std::memory_order_release);
}

bool SharedCopy::is_over() {
  if (is_over_ || done_ != claimed_) return is_over_;
  const CopyClaim other = look();
  if (!is_over_ && !other.is_open) is_over_ = done_ + other.units == units_;
  return is_over_;
}

}  // namespace llamada::mpi
