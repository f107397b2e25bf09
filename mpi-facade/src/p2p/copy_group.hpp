#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "p2p/shared_copy.hpp"
#include "world/peer_memory.hpp"

namespace llamada::mpi {

struct Request;

/// The messages that one copy of two ranks (SharedCopy) consists of: one, or several that were there before
/// the first of them was granted. So one call of the kernel carries a piece of each.
///
/// The bytes of the copy are numbered so that each end begins with its half of the first message and goes on
/// with its halves of the others: the lower halves of all in order, then the upper ones from the last message
/// to the first. Both ends have to add the same messages in the same order.
///
/// Of one that is longer than a core's cache each end begins at its own end of the message.
class CopyGroup {
 public:
  static constexpr std::size_t messages_max = 16;
  /// A message of so many bytes is longer than a core's cache.
  static constexpr std::uint64_t long_bytes_min = 2 << 20;

  struct Message {
    Request* request;
    std::byte* own;
    std::uint64_t others;  ///< address
    std::uint64_t bytes;
  };
  /// Where a part lies.
  class Pieces {
   public:
    void add(const PeerPiece& piece);
    std::span<const PeerPiece> span() const { return {pieces_.data(), count_}; }

   private:
    std::array<PeerPiece, 2 * messages_max> pieces_;
    std::size_t count_ = 0;
  };

  explicit CopyGroup(const Message& first) : first_(first), bytes_(first.bytes) {}
  /// So that there are at most messages_max.
  void add(const Message& message);
  std::size_t size() const { return 1 + others_.size(); }
  const Message& operator[](std::size_t index) const { return index == 0 ? first_ : others_[index - 1]; }
  std::uint64_t bytes() const { return bytes_; }
  /// In the order in which this end best copies them.
  Pieces pieces(SharedCopy::Part part, SharedCopy::End end) const;

 private:
  void add_long(Pieces& pieces, SharedCopy::Part part, SharedCopy::End end) const;

  Message first_;
  std::vector<Message> others_;  // most have none
  std::uint64_t bytes_;
};

}  // namespace llamada::mpi
