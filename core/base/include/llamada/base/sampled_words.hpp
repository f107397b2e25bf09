#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace llamada {

/// Some of the words of what is at least 8 bytes long, from the first to the last, as far apart from each
/// other as they can be: where they differ, so does the whole.
using SampledWords = std::array<std::uint64_t, 4>;

inline SampledWords sampled_words(std::span<const std::byte> memory) {
  SampledWords words;
  const std::size_t last = memory.size() - sizeof(words[0]);
  for (std::size_t i = 0; i < words.size(); ++i)
    std::memcpy(&words[i], memory.data() + last * i / (words.size() - 1), sizeof(words[i]));
  return words;
}

}  // namespace llamada
