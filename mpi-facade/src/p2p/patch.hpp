#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "llamada/mpi/message_record.hpp"
#include "p2p/differences.hpp"

namespace llamada::mpi {

static_assert(PatchLine::line_bytes == Differences::line_bytes);

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

}  // namespace llamada::mpi
