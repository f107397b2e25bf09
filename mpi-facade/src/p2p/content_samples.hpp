#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace llamada::mpi {

/// Whether a large buffer has been written to since it was sent last, by some of its words: nothing may
/// depend on the answer but how long something takes.
class ContentSamples {
 public:
  /// True for a buffer that is not known (any more), too. Remembers what it looks like now. At least 8 bytes.
  bool has_changed(const std::byte* memory, std::size_t bytes) {
    const Words now = read(memory, bytes);
    for (Buffer& known : buffers_) {
      if (known.memory != memory || known.bytes != bytes) continue;
      const bool changed = known.words != now;
      known.words = now;
      return changed;
    }
    buffers_[next_] = {memory, bytes, now};
    next_ = (next_ + 1) % buffers_.size();
    return true;
  }

 private:
  using Words = std::array<std::uint64_t, 4>;
  struct Buffer {
    const std::byte* memory = nullptr;
    std::size_t bytes = 0;
    Words words{};
  };

  /// From the first to the last, as far apart from each other as they can be.
  static Words read(const std::byte* memory, std::size_t bytes) {
    Words words;
    for (std::size_t i = 0; i < words.size(); ++i)
      std::memcpy(&words[i], memory + (bytes - sizeof(words[i])) * i / (words.size() - 1), sizeof(words[i]));
    return words;
  }

  std::array<Buffer, 8> buffers_;
  std::size_t next_ = 0;
};

}  // namespace llamada::mpi
