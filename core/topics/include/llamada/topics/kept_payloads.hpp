#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "llamada/base/sampled_words.hpp"
#include "llamada/topics/log_writer.hpp"

namespace llamada::topics {

/// Which payloads of a log came last from which memory, so that what is published from there again unchanged
/// need not be written twice: reserve_again(), or its steps. What find() gives is a guess, by some words of
/// it; LogWriter::can_repeat() and equals() tell, and compared() is to hear from the latter. Takes memory
/// with the first payload.
///
/// Threads: one at a time.
class KeptPayloads {
 public:
  /// What is smaller is written as fast, and not remembered.
  static constexpr std::size_t bytes_min = 4096;

  KeptPayloads() = default;
  explicit KeptPayloads(bool log_keeps_all) : log_keeps_all_(log_keeps_all) {}

  /// The payload that this memory was published as last, if it seems to be unchanged; else empty.
  std::span<const std::byte> find(std::span<const std::byte> memory) {
    if (memory.size() < bytes_min || sources_.empty()) return {};
    Source& source = source_of(memory);
    if (!source.is(memory)) return {};
    if (source.skips > 0) {
      --source.skips;
      return {};
    }
    const SampledWords words = sampled_words(memory);
    if (source.words == words) {
      source.changes = 0;
      return {source.kept, source.size_bytes};
    }
    source.words = words;
    if (!log_keeps_all_ && ++source.changes == changes_max) {
      source.changes = 0;
      source.skips = skips_of_changed;
    }
    return {};
  }
  /// Whether what find() gave is what this memory has. Of memory that changes where no word is looked at a
  /// payload is given more and more rarely.
  void compared(std::span<const std::byte> memory, bool is_equal) {
    Source& source = source_of(memory);
    if (is_equal) {
      source.misses = 0;
      return;
    }
    if (source.misses < misses_max) ++source.misses;
    source.skips = 1U << source.misses;
  }
  /// This memory, for which find() was asked, was published anew.
  void add(std::span<const std::byte> memory, std::span<const std::byte> kept) {
    if (memory.size() < bytes_min) return;
    if (sources_.empty()) sources_.resize(sources_min);
    Source* source = &source_of(memory);
    if (!source->is(memory)) source = &new_source(memory);
    source->kept = kept.data();
  }

  /// Room in `log` for a record with the payload that this memory was published as last, if that is what it
  /// still has; before this is found out, `show` is called. False: it is to be published anew.
  template <typename Show>
  bool reserve_again(LogWriter& log, std::span<const std::byte> memory, Reservation& into, Show show) {
    const auto kept = find(memory);
    if (kept.empty() || !log.can_repeat(kept) || !log.reserve_again(kept, into)) return false;
    show();
    const bool is_equal = log.equals(into, memory);
    compared(memory, is_equal);
    if (!is_equal) into.drop();
    return is_equal;
  }

 private:
  struct Source {
    const std::byte* memory = nullptr;
    std::size_t size_bytes = 0;
    const std::byte* kept = nullptr;
    std::uint16_t misses = 0;
    std::uint16_t changes = 0;  // that find() has seen in a row
    std::uint32_t skips = 0;
    SampledWords words{};

    bool is(std::span<const std::byte> other) const {
      return memory == other.data() && size_bytes == other.size();
    }
  };
  static constexpr std::uint16_t misses_max = 6;
  /// To write again what the cache has takes little: what changes all the time is not looked at each time.
  static constexpr std::uint16_t changes_max = 4;
  static constexpr std::uint32_t skips_of_changed = 16;
  /// Powers of two. Of a log that does not keep all a chunk has room for no more payloads.
  static constexpr std::size_t sources_min = 16, sources_max_of_all = 1024, sources_max_of_chunk = 32;

  /// Where it is, or in place of what.
  Source& source_of(std::span<const std::byte> memory) { return sources_[index_of(memory)]; }
  std::size_t index_of(std::span<const std::byte> memory) const {
    const std::uint64_t key = reinterpret_cast<std::uint64_t>(memory.data()) + memory.size();
    return (key * 0x9e3779b97f4a7c15U >> 32) & (sources_.size() - 1);
  }
  Source& new_source(std::span<const std::byte> memory) {
    const std::size_t sources_max = log_keeps_all_ ? sources_max_of_all : sources_max_of_chunk;
    Source* source = &source_of(memory);
    if (source->memory && ++replaced_ > sources_.size() / 4 && sources_.size() < sources_max)
      source = &grown_for(memory);
    *source = {memory.data(), memory.size()};
    source->words = sampled_words(memory);
    return *source;
  }
  Source& grown_for(std::span<const std::byte> memory) {
    const std::vector<Source> before = std::exchange(sources_, std::vector<Source>(2 * sources_.size()));
    for (const Source& source : before)
      if (source.memory) source_of({source.memory, source.size_bytes}) = source;
    replaced_ = 0;
    return source_of(memory);
  }

  bool log_keeps_all_ = true;
  std::vector<Source> sources_;
  std::size_t replaced_ = 0;  // since they are so many
};

}  // namespace llamada::topics
