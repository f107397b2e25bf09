#include "coll/direct_reduction.hpp"

#include <algorithm>

#include "llamada/base/copy.hpp"

namespace llamada::mpi::coll {
namespace {

/// What is folded at a time: with what it is folded into, in the cache of a core.
constexpr std::size_t folded_bytes_max = 64 * 1024;

std::size_t whole_elements(std::size_t element_bytes) {
  return std::max<std::size_t>(1, folded_bytes_max / element_bytes) * element_bytes;
}

}  // namespace

DirectReduction::DirectReduction(Channel& channel, Kind kind, const Reduction& reduction,
                                 const Data& contribution, const Data& result, int root,
                                 std::span<const std::size_t> segments)
    : channel_(channel),
      kind_(kind),
      accumulator_(reduction.operation, reduction.type),
      contribution_(contribution),
      result_(result),
      root_(root),
      dealt_(dealt_number(segments)),
      piece_bytes_(whole_elements(reduction.type.size())),
      partners_(channel) {
  const auto self = static_cast<std::size_t>(channel.self());
  for (std::size_t member = 0; member < self; ++member)
    first_byte_ += segments[member] * reduction.type.size();
  bytes_ = segments[self] * reduction.type.size();
}

std::vector<std::size_t> DirectReduction::even_segments(std::size_t elements, int members) {
  const auto count = static_cast<std::size_t>(members);
  std::vector<std::size_t> segments(count, elements / count);
  for (std::size_t member = 0; member < elements % count; ++member) ++segments[member];
  return segments;
}

void DirectReduction::begin() {
  partners_.begin(kind_);
  given_.open(contribution_, true);
  if (!takes()) return;
  folds_apart_ = is_scattered() && contribution_.base == result_.base;
  if (folds_apart_)
    taken_.open_copy(Parts(result_, 0), 1, false);
  else
    taken_.open(result_, false);
}

/// Where the value of the piece is made.
std::byte* DirectReduction::place_of_piece(std::size_t bytes) {
  if (!takes()) return value_.at_least(bytes);
  return taken_.memory() + (is_scattered() ? 0 : first_byte_) + folded_;
}

/// One's own contribution to it, which must outlive that the first member's takes its place.
const std::byte* DirectReduction::own_piece(const std::byte* place, std::size_t bytes) {
  const std::byte* own = given_.memory() + first_byte_ + folded_;
  if (own != place || channel_.self() == 0) return own;
  std::byte* copy = own_copy_.at_least(bytes);
  copy_bytes(copy, own, bytes);
  return copy;
}

bool DirectReduction::fold_from(int member, const std::byte* own, std::byte* place, std::size_t bytes) {
  const bool in_place = accumulator_.folds_in_place();
  if (member != channel_.self()) {
    const std::uint64_t address = partners_.offer_of(member).source.address + first_byte_ + folded_;
    std::byte* to = in_place && member == 0 ? place : theirs_.at_least(bytes);
    if (!partners_.read(member, address, {to, bytes})) return false;
    own = to;
  }
  const std::span<const std::byte> packed(own, bytes);
  if (!in_place)
    member == 0 ? accumulator_.start(packed) : accumulator_.fold(packed);
  else if (member > 0)
    accumulator_.fold_into(place, packed);
  else if (own != place)
    copy_bytes(place, own, bytes);
  return true;
}

bool DirectReduction::write_piece(std::byte* place, std::size_t bytes) {
  if (takes()) return true;
  const std::uint64_t address = partners_.offer_of(root_).result.address + first_byte_ + folded_;
  return partners_.write(root_, address, {place, bytes});
}

bool DirectReduction::fold_piece(std::size_t bytes) {
  std::byte* place = place_of_piece(bytes);
  const std::byte* own = own_piece(place, bytes);
  for (int member = 0; member < channel_.size(); ++member)
    if (!fold_from(member, own, place, bytes)) return false;
  if (!accumulator_.folds_in_place()) copy_bytes(place, accumulator_.result().data(), bytes);
  return write_piece(place, bytes);
}

bool DirectReduction::fold_all() {
  while (folded_ < bytes_) {
    const std::size_t bytes = std::min(piece_bytes_, bytes_ - folded_);
    if (!fold_piece(bytes)) return false;
    folded_ += bytes;
  }
  return true;
}

bool DirectReduction::all_fit() const {
  for (int member = 0; member < channel_.size(); ++member)
    if (member != channel_.self() && !partners_.fits(member)) return false;
  return true;
}

bool DirectReduction::step() {
  if (!partners_.offer({contribution_.bytes, dealt_, given_.place(), taken_.place()}, everybody))
    return false;
  if (!partners_.all_have_said(0)) return false;
  if (all_fit() && !fold_all()) return false;
  if (!partners_.say_done(1, everybody) || !partners_.all_have_said(1)) return false;
  is_done_ = true;
  if (!partners_.all_fitted()) return false;
  if (channel_.self() != root_) channel_.count_sent(contribution_.bytes);
  if (taken_.is_copy()) result_.unpack(0, taken_.copy());
  return true;
}

}  // namespace llamada::mpi::coll
