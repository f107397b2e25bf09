#pragma once

#include <cstdint>
#include <memory>

#include "llamada/base/file_descriptor.hpp"
#include "llamada/base/result.hpp"
#include "llamada/llamanet/memory_source.hpp"
#include "llamada/llamanet/own_arena.hpp"

namespace llamada::llamanet {

/// What makes the driver an application of its own: an arena for its logs and cursors, and its eventfd.
///
/// The sleeping word stays 1: a driver sleeps between any two messages, in its host's poll or its own, and is
/// seldom awake. So applications always ring, and the driver needs no membarrier, which would interrupt them.
class DriverArena {
 public:
  /// Errors: out_of_resources, those of the system.
  static Result<DriverArena> open(const MemorySource& memory, std::uint64_t size_bytes);

  log::ArenaWriter& writer() { return arena_->writer(); }
  int file() const { return arena_->file(); }
  int event() const { return event_.get(); }

 private:
  std::unique_ptr<OwnArena> arena_;
  FileDescriptor event_;
};

}  // namespace llamada::llamanet
