#pragma once

#include <cstdint>

namespace llamada::launcher {

/// What is no longer kept of a sequence of entries, or of bytes: those with the indices [begin, end). The
/// others are kept one behind the other.
struct Gap {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  std::uint64_t size() const { return end - begin; }
  bool has(std::uint64_t index) const { return begin <= index && index < end; }
  /// How many are kept before the one with this index, which is not in the gap.
  std::uint64_t place_of(std::uint64_t index) const { return index < end ? index : index - size(); }
};

}  // namespace llamada::launcher
