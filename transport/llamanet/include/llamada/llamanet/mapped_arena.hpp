#pragma once

#include <cstdint>

#include "llamada/base/result.hpp"
#include "llamada/llamanet/arena_view.hpp"
#include "llamada/llamanet/shared_memory.hpp"
#include "llamada/log/peer_arena.hpp"

namespace llamada::llamanet {

/// The arena of another process, mapped read-only. Move-only; what reads it must be gone before.
class MappedArena {
 public:
  MappedArena() = default;
  /// Maps `size_bytes` of the file, which may be shorter: it grows meanwhile, and nothing that the arena
  /// names lies behind its end. Errors: those of the system.
  static Result<MappedArena> map(int file, std::uint64_t size_bytes);

  explicit operator bool() const { return static_cast<bool>(mapping_); }
  /// For the readers of logs. Borrows the mapping.
  log::PeerArena reading() const {
    return mapping_ ? log::PeerArena{mapping_.data(), mapping_.size(), file_bytes_} : log::PeerArena{};
  }
  /// None when nothing is mapped, or the file has no room for a header. Borrows the mapping.
  const log::ArenaHeader* header() const {
    return file_bytes_ < sizeof(log::ArenaHeader)
               ? nullptr
               : reinterpret_cast<const log::ArenaHeader*>(mapping_.data());
  }
  ArenaView view() const { return ArenaView(header()); }
  /// Of the file when it was mapped, at most those of the mapping.
  std::uint64_t file_bytes() const { return file_bytes_; }
  std::span<std::byte> bytes() const { return mapping_.bytes(); }

 private:
  Mapping mapping_;
  std::uint64_t file_bytes_ = 0;
};

}  // namespace llamada::llamanet
