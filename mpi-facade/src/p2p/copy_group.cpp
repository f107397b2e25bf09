#include "p2p/copy_group.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "llamada/base/check.hpp"

namespace llamada::mpi {
namespace {

/// What goes downwards goes in steps of so many bytes.
constexpr std::uint64_t step_bytes = 256 * 1024;

/// In whole units, so that pages are not divided between the ends where messages begin with one.
std::uint64_t lower_half(std::uint64_t bytes) {
  return bytes / 2 / SharedCopy::unit_bytes_min * SharedCopy::unit_bytes_min;
}

}  // namespace

void CopyGroup::Pieces::add(const PeerPiece& piece) {
  if (count_ > 0) {
    PeerPiece& last = pieces_[count_ - 1];
    if (last.own + last.bytes == piece.own && last.others + last.bytes == piece.others) {
      last.bytes += piece.bytes;
      return;
    }
  }
  LLAMADA_CHECK(count_ < pieces_.size());
  pieces_[count_++] = piece;
}

void CopyGroup::add(const Message& message) {
  LLAMADA_CHECK(size() < messages_max);
  others_.push_back(message);
  bytes_ += message.bytes;
}

/// The lower end goes up, the upper one down, in steps.
void CopyGroup::add_long(Pieces& pieces, SharedCopy::Part part, SharedCopy::End end) const {
  const auto add = [&](std::uint64_t first, std::uint64_t last) {
    pieces.add({first_.own + first, first_.others + first, last - first});
  };
  const std::uint64_t first = part.first;
  std::uint64_t last = part.first + part.bytes;
  if (first >= last) return;
  if (end == SharedCopy::End::lower) return add(first, last);
  for (; last - first > step_bytes; last -= step_bytes) add(last - step_bytes, last);
  add(first, last);
}

CopyGroup::Pieces CopyGroup::pieces(SharedCopy::Part part, SharedCopy::End end) const {
  Pieces pieces;
  if (others_.empty()) {
    if (bytes_ >= long_bytes_min)
      add_long(pieces, part, end);
    else
      pieces.add({first_.own + part.first, first_.others + part.first, part.bytes});
    return pieces;
  }
  std::uint64_t at = 0;
  const auto add = [&](const Message& message, std::uint64_t first, std::uint64_t last) {
    const std::uint64_t from = std::max(part.first, at);
    const std::uint64_t to = std::min(part.first + part.bytes, at + last - first);
    if (from < to) {
      const std::uint64_t offset = first + (from - at);
      pieces.add({message.own + offset, message.others + offset, to - from});
    }
    at += last - first;
  };
  for (std::size_t i = 0; i < size(); ++i) add((*this)[i], 0, lower_half((*this)[i].bytes));
  for (std::size_t i = size(); i-- > 0;) add((*this)[i], lower_half((*this)[i].bytes), (*this)[i].bytes);
  return pieces;
}

}  // namespace llamada::mpi
