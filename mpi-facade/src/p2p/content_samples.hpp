#pragma once

#include <array>
#include <cstddef>

#include "llamada/base/sampled_words.hpp"

namespace llamada::mpi {

/// Whether a large buffer has been written to since it was sent last, by some of its words: nothing may
/// depend on the answer but how long something takes.
class ContentSamples {
 public:
  /// True for a buffer that is not known (any more), too. Remembers what it looks like now. At least 8 bytes.
  bool has_changed(const std::byte* memory, std::size_t bytes) {
    const SampledWords now = sampled_words({memory, bytes});
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
  struct Buffer {
    const std::byte* memory = nullptr;
    std::size_t bytes = 0;
    SampledWords words{};
  };

  std::array<Buffer, 8> buffers_;
  std::size_t next_ = 0;
};

}  // namespace llamada::mpi
