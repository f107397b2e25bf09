#include "coll/direct_movement.hpp"

#include <algorithm>

#include "coll/algorithms.hpp"
#include "llamada/base/copy.hpp"
#include "llamada/base/page.hpp"
#include "llamada/base/rounding.hpp"

namespace llamada::mpi::coll {

// ---- DirectRooted

DirectRooted::DirectRooted(Channel& channel, Kind kind, Direction direction, const Data& own,
                           const Parts& parts, int root, bool in_place)
    : channel_(channel),
      kind_(kind),
      direction_(direction),
      own_(own),
      parts_(parts),
      root_(root),
      is_root_(channel.self() == root),
      in_place_(in_place),
      partners_(channel),
      copied_for_(static_cast<std::size_t>(channel.size())) {}

void DirectRooted::begin() {
  partners_.begin(kind_);
  if (is_root_)
    packed_.open(parts_, channel_.size(), direction_ == Direction::from_root);
  else
    packed_.open(own_, direction_ == Direction::to_root);
}

/// The member's own share of its part, from the beginning: whole pages. Several have enough to share among
/// themselves.
std::size_t DirectRooted::members_share(std::size_t part_bytes) const {
  if (channel_.size() > 2) return part_bytes;
  return std::min(rounded_up(part_bytes / 2, page_bytes), part_bytes);
}

bool DirectRooted::step_at_root() {
  const Place place = packed_.place();
  if (!partners_.offer({parts_[root_].bytes, 0, place, place}, everybody)) return false;
  if (!copied_ && !in_place_)
    direction_ == Direction::from_root ? coll::copy_own(channel_, parts_[root_], own_)
                                       : coll::copy_own(channel_, own_, parts_[root_]);
  copied_ = true;
  bool all = true;
  for (int member = 0; member < channel_.size(); ++member)
    if (member != root_ && !copied_for_[static_cast<std::size_t>(member)]) all = copy_for(member) && all;
  if (!all || !partners_.say_done(1, everybody) || !partners_.all_have_said(1)) return false;
  is_done_ = true;
  if (direction_ == Direction::to_root && !partners_.all_fitted()) return false;
  finish();
  return true;
}

/// The root's share.
bool DirectRooted::copy_for(int member) {
  if (!partners_.has_said(member, 0)) return false;
  if (!partners_.fits(member)) return copied_for_[static_cast<std::size_t>(member)] = true;
  const std::size_t bytes = parts_[member].bytes, first = members_share(bytes);
  std::byte* own = packed_.part(member) + first;
  const Offer& offer = partners_.offer_of(member);
  const bool copied = direction_ == Direction::from_root
                          ? partners_.write(member, offer.result.address + first, {own, bytes - first})
                          : partners_.read(member, offer.source.address + first, {own, bytes - first});
  copied_for_[static_cast<std::size_t>(member)] = copied;
  return copied;
}

bool DirectRooted::step_elsewhere() {
  const Place place = packed_.place();
  if (!partners_.offer({own_.bytes, 0, place, place}, root_)) return false;
  if (!copied_ && !(copied_ = copy_own())) return false;
  if (!partners_.say_done(1, root_) || !partners_.has_said(root_, 1)) return false;
  is_done_ = true;
  if (direction_ == Direction::from_root && !partners_.fitted(root_)) return false;
  finish();
  return true;
}

bool DirectRooted::copy_own() {
  if (!partners_.has_said(root_, 0)) return false;
  if (!partners_.fits(root_)) return true;
  const std::span<std::byte> share(packed_.memory(), members_share(own_.bytes));
  const Offer& offer = partners_.offer_of(root_);
  return direction_ == Direction::from_root ? partners_.read(root_, offer.source.of(channel_.self()), share)
                                            : partners_.write(root_, offer.result.of(channel_.self()), share);
}

/// All members get the same of a broadcast, and each a part of its own of what is scattered.
std::size_t DirectRooted::given_bytes() const {
  if (is_root_ != (direction_ == Direction::from_root)) return 0;
  if (!is_root_) return own_.bytes;
  const int parts = kind_ == Kind::bcast ? 1 : channel_.size() - 1;
  return parts_[root_].bytes * static_cast<std::size_t>(parts);
}

void DirectRooted::finish() {
  channel_.count_sent(given_bytes());
  if (!packed_.is_copy() || is_root_ != (direction_ == Direction::to_root)) return;
  if (!is_root_) return own_.unpack(0, packed_.copy());
  for (int member = 0; member < channel_.size(); ++member)
    if (member != root_) parts_[member].unpack(0, {packed_.part(member), parts_[member].bytes});
}

// ---- DirectFromAll

DirectFromAll::DirectFromAll(Channel& channel, Kind kind, const Parts& contributions, const Parts& results,
                             bool in_place)
    : channel_(channel),
      kind_(kind),
      contributions_(contributions),
      results_(results),
      in_place_(in_place),
      partners_(channel),
      taken_from_(static_cast<std::size_t>(channel.size())),
      left_(channel.size() - 1) {}

void DirectFromAll::begin() {
  partners_.begin(kind_);
  part_bytes_ = results_[0].bytes;
  taken_.open(results_, channel_.size(), false);
  open_contributions();
}

void DirectFromAll::open_contributions() {
  if (!in_place_) return given_.open(contributions_, channel_.size(), true);
  // One's own part, where it lies; or all parts, whose place the results take: apart.
  if (kind_ == Kind::allgather) return given_.open(results_[channel_.self()], true);
  given_.open_copy(results_, channel_.size(), true);
}

void DirectFromAll::take_own() {
  if (own_taken_ || in_place_) return;
  own_taken_ = true;
  copy_own(channel_, contributions_[channel_.self()], results_[channel_.self()]);
}

bool DirectFromAll::take_all() {
  const int size = channel_.size(), self = channel_.self();
  for (int distance = 1; left_ > 0 && distance < size; ++distance) {
    const int member = (self + distance) % size;
    const auto index = static_cast<std::size_t>(member);
    if (taken_from_[index] || !partners_.has_said(member, 0)) continue;
    const std::uint64_t address = partners_.offer_of(member).source.of(self);
    if (partners_.fits(member) && !partners_.read(member, address, {taken_.part(member), part_bytes_}))
      return false;
    taken_from_[index] = true;
    --left_;
  }
  return left_ == 0;
}

bool DirectFromAll::step() {
  const int self = channel_.self();
  if (!partners_.offer({given_bytes(), 0, given_.place(), {}}, everybody, part_bytes_)) return false;
  if (!take_all() || !partners_.say_done(1, everybody)) return false;
  take_own();  // For this nobody waits.
  if (!partners_.all_have_said(1)) return false;
  is_done_ = true;
  if (!partners_.all_fitted()) return false;
  const int parts = kind_ == Kind::allgather ? 1 : channel_.size() - 1;
  channel_.count_sent(part_bytes_ * static_cast<std::size_t>(parts));
  if (!taken_.is_copy()) return true;
  for (int member = 0; member < channel_.size(); ++member)
    if (member != self) results_[member].unpack(0, {taken_.part(member), part_bytes_});
  return true;
}

}  // namespace llamada::mpi::coll
