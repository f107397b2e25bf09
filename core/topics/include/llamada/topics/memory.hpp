#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "llamada/base/result.hpp"

namespace llamada::topics {

/// A place in an arena: bytes from its start. 0 is the arena's header and so means "none".
using Offset = std::uint64_t;

/// The memory that one application writes and its peers read: what a Transport gives to logs. In llamaNET it is the
/// application's arena, shared; in the loopback it is private memory. Byte layout: docs/internals/arena.md.
///
/// Threads: one (the application's) calls the writing functions.
class Arena {
 public:
  virtual ~Arena() = default;

  /// Where the arena is mapped in this process; stays valid and in place while the Arena lives.
  virtual std::byte* base() = 0;

  /// `bytes` (rounded up to whole cells of 64 bytes) that nothing else uses, aligned to 64 bytes. What they contain
  /// is unspecified, but a commit word is either 0 or of an older generation. Fails with out_of_resources when the
  /// profile's memory is used up (on which the caller decides what on_unprotected says).
  virtual Result<Offset> allocate(std::size_t bytes) = 0;

  /// Gives back what allocate() gave, after every reader has passed it.
  virtual void recycle(Offset offset, std::size_t bytes) = 0;
};

/// An arena of a peer as this process sees it, mapped read-only.
struct PeerArena {
  const std::byte* base = nullptr;
  std::uint64_t size_bytes = 0;
};

}  // namespace llamada::topics
