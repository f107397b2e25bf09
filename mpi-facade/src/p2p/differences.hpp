#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace llamada::mpi {

/// In which lines of 64 bytes one memory differs from another of the same size: few, or too many.
class Differences {
 public:
  static constexpr std::size_t line_bytes = 64;
  /// So many are few.
  static constexpr std::size_t lines_max(std::size_t size_bytes) {
    constexpr std::size_t always = 16, one_of = 64;
    return std::max(always, size_bytes / line_bytes / one_of);
  }

  /// Of memory of this size.
  explicit Differences(std::size_t size_bytes) : lines_max_(lines_max(size_bytes)) {}

  bool empty() const { return lines_.empty(); }
  /// Numbers of lines, ascending.
  std::span<const std::uint32_t> lines() const { return lines_; }

  /// Adds those of a part, which begins `begin` bytes, a multiple of line_bytes, behind the beginning. False:
  /// there are too many.
  bool add(std::span<const std::byte> one, std::span<const std::byte> other, std::size_t begin) {
    // What is equal is passed in larger steps.
    for (std::size_t block = 0; block < one.size(); block += block_bytes) {
      const std::size_t end = std::min(block + block_bytes, one.size());
      if (std::memcmp(&one[block], &other[block], end - block) == 0) continue;
      for (std::size_t line = block; line < end; line += line_bytes) {
        if (std::memcmp(&one[line], &other[line], std::min(line_bytes, end - line)) == 0) continue;
        if (lines_.size() == lines_max_) return false;
        lines_.push_back(static_cast<std::uint32_t>((begin + line) / line_bytes));
      }
    }
    return true;
  }

 private:
  static constexpr std::size_t block_bytes = 1024;

  std::size_t lines_max_;
  std::vector<std::uint32_t> lines_;
};

}  // namespace llamada::mpi
