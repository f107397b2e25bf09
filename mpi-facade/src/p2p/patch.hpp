#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "p2p/differences.hpp"

namespace llamada::mpi {

/// What a message has in place of some lines of an earlier one, whose payload its record refers to: the
/// payload of the record before it (kind_patch), PatchLines one after the other.
struct PatchLine {
  std::uint64_t offset = 0;                       ///< in the message; a multiple of 64
  std::byte bytes[Differences::line_bytes] = {};  ///< zeros behind the message's end
};
static_assert(sizeof(PatchLine) == 72);

inline std::size_t patch_bytes(const Differences& differences) {
  return differences.lines().size() * sizeof(PatchLine);
}

/// The patch for a message that differs in these lines, of patch_bytes().
inline void make_patch(std::span<const std::byte> message, const Differences& differences,
                       std::span<std::byte> patch) {
  for (const std::uint32_t number : differences.lines()) {
    PatchLine line{std::uint64_t{number} * sizeof(line.bytes)};
    const auto piece = message.subspan(line.offset);
    std::memcpy(line.bytes, piece.data(), std::min(sizeof(line.bytes), piece.size()));
    std::memcpy(patch.data(), &line, sizeof(line));
    patch = patch.subspan(sizeof(line));
  }
}

/// Calls `put(offset, bytes)` for each piece of a message of so many bytes. False: that is no patch for it.
template <typename Put>
bool apply_patch(std::span<const std::byte> patch, std::size_t message_bytes, Put put) {
  if (patch.size() % sizeof(PatchLine) != 0) return false;
  for (; !patch.empty(); patch = patch.subspan(sizeof(PatchLine))) {
    PatchLine line;
    std::memcpy(&line, patch.data(), sizeof(line));
    if (line.offset >= message_bytes) return false;
    const std::size_t size = std::min<std::size_t>(sizeof(line.bytes), message_bytes - line.offset);
    put(static_cast<std::size_t>(line.offset), std::span<const std::byte>(line.bytes, size));
  }
  return true;
}

}  // namespace llamada::mpi
