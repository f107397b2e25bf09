#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "llamada/base/sampled_words.hpp"

namespace llamada::topics {

/// Which payloads of a log that keeps all came last from which memory, so that what is published from there
/// again unchanged need not be kept twice (LogWriter::reserve_again()). What find() gives is a guess, by some
/// words of it; LogWriter::equals() tells, which compared() is to hear. Takes memory with the first payload.
///
/// Threads: one at a time.
class KeptPayloads {
 public:
  /// What is smaller is written as fast, and not remembered.
  static constexpr std::size_t bytes_min = 4096;

  /// The payload that this memory was published as last, if it seems to be unchanged; else empty.
  std::span<const std::byte> find(std::span<const std::byte> memory) {
    if (memory.size() < bytes_min || sources_.empty()) return {};
    Source& source = source_of(memory);
    if (!source.is(memory) || source.words != sampled_words(memory)) return {};
    if (source.skips > 0) {
      --source.skips;
      return {};
    }
    return {source.kept, source.size_bytes};
  }
  /// Whether what find() gave is what this memory has. Of memory that changes where no word is looked at a
  /// payload is given more and more rarely.
  void compared(std::span<const std::byte> memory, bool is_equal) {
    Source& source = source_of(memory);
    source.misses = is_equal ? 0 : std::min(source.misses + 1, misses_max);
    source.skips = is_equal ? 0 : 1U << source.misses;
  }
  /// This memory was published anew.
  void add(std::span<const std::byte> memory, std::span<const std::byte> kept) {
    if (memory.size() < bytes_min) return;
    if (sources_.empty()) sources_.resize(sources_min);
    Source* source = &source_of(memory);
    if (!source->is(memory)) {
      if (source->memory && ++replaced_ > sources_.size() / 4 && sources_.size() < sources_max)
        source = &grown_for(memory);
      *source = {memory.data(), memory.size()};
    }
    source->kept = kept.data();
    source->words = sampled_words(memory);
  }

 private:
  struct Source {
    const std::byte* memory = nullptr;
    std::size_t size_bytes = 0;
    const std::byte* kept = nullptr;
    std::uint32_t misses = 0;
    std::uint32_t skips = 0;
    SampledWords words{};

    bool is(std::span<const std::byte> other) const {
      return memory == other.data() && size_bytes == other.size();
    }
  };
  static constexpr std::uint32_t misses_max = 6;
  static constexpr std::size_t sources_min = 16, sources_max = 1024;  // powers of two

  /// Where it is, or in place of what.
  Source& source_of(std::span<const std::byte> memory) { return sources_[index_of(memory)]; }
  std::size_t index_of(std::span<const std::byte> memory) const {
    const std::uint64_t key = reinterpret_cast<std::uint64_t>(memory.data()) + memory.size();
    return (key * 0x9e3779b97f4a7c15U >> 32) & (sources_.size() - 1);
  }
  Source& grown_for(std::span<const std::byte> memory) {
    const std::vector<Source> before = std::exchange(sources_, std::vector<Source>(2 * sources_.size()));
    for (const Source& source : before)
      if (source.memory) source_of({source.memory, source.size_bytes}) = source;
    replaced_ = 0;
    return source_of(memory);
  }

  std::vector<Source> sources_;
  std::size_t replaced_ = 0;  // since they are so many
};

}  // namespace llamada::topics
