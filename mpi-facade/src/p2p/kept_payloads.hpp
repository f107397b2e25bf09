#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "llamada/log/log_writer.hpp"
#include "p2p/differences.hpp"

namespace llamada::mpi {

/// What is to be done about memory that is published.
enum class Again {
  reserved,   ///< the log has its content: there is room for a record that says where
  to_write,   ///< it is to be written into the log
  uncertain,  ///< to be written, too, but it may not have changed: where there is another way, that may do
};

/// Which payloads of a log came last from which memory, so that what is published from there again unchanged
/// need not be written twice: reserve_again(), or its steps. What find() gives is a guess, by some words of
/// it; LogWriter::can_repeat() and equals() tell, and compared() is to hear from the latter. Takes memory
/// with the first payload.
///
/// Threads: one at a time.
class KeptPayloads {
 public:
  /// What is shorter is not remembered.
  static constexpr std::size_t bytes_min = log::publish_fast_bytes_max + 1;

  KeptPayloads() = default;
  explicit KeptPayloads(bool log_keeps_all) : log_keeps_all_(log_keeps_all) {}

  struct Found {
    std::span<const std::byte> kept;  ///< empty: none, or not known
    bool has_changed = true;          ///< or is not known
  };
  /// The payload that this memory was published as last, if it seems to be unchanged; for who can do with
  /// it, also if some of it does.
  Found find(std::span<const std::byte> memory, bool some_is_enough = false) {
    if (memory.size() < bytes_min || sources_.empty()) return {};
    Source* const source = source_of(memory);
    if (!source) return {};
    if (source->skips > 0) {
      --source->skips;
      return {{}, source->misses == 0};
    }
    const SampledWords words = sampled_words(memory);
    if (source->words == words) {
      source->changes = 0;
      return {{source->kept, source->size_bytes}, false};
    }
    if (some_is_enough && have_some_in_common(source->words, words))
      return {{source->kept, source->size_bytes}, false};
    source->words = words;
    if (!log_keeps_all_ && ++source->changes == changes_max) {
      source->changes = 0;
      source->skips = skips_of_changed;
    }
    return {};
  }
  /// Whether what find() gave is what this memory has. Of memory that changes where no word is looked at a
  /// payload is given more and more rarely; not where `some_is_enough` and it would have done before, for
  /// what is written now will do again.
  void compared(std::span<const std::byte> memory, bool is_equal, bool some_is_enough = false) {
    Source& source = *source_of(memory);
    const bool was_repeated = std::exchange(source.is_repeated, is_equal);
    if (is_equal) {
      source.misses = 0;
      return;
    }
    source.words = sampled_words(memory);
    if (some_is_enough && was_repeated) return;
    if (source.misses < misses_max) ++source.misses;
    source.skips = 1U << source.misses;
  }
  /// This memory, for which find() was asked, was published anew.
  void add(std::span<const std::byte> memory, std::span<const std::byte> kept) {
    if (memory.size() < bytes_min) return;
    if (sources_.empty()) sources_.resize(sources_min);
    Source* source = source_of(memory);
    if (!source) source = &new_source(memory);
    source->kept = kept.data();
    source->is_repeated = false;
    is_crowded_ = false;
  }

  /// Room in `log` for a record with the payload that this memory was published as last, if that is what it
  /// still has; before this is found out, `show` is called. What the log cannot refer to any more is to be
  /// written once more if that will be of use. With `differences`, which are empty, what is nearly that
  /// payload will do, and they say in which lines it is not.
  template <typename Show>
  Again reserve_again(log::LogWriter& log, std::span<const std::byte> memory, log::Reservation& into,
                      Show show, Differences* differences = nullptr) {
    const auto [kept, has_changed] = find(memory, differences != nullptr);
    if (kept.empty()) return has_changed ? Again::to_write : Again::uncertain;
    if (!log.can_repeat(kept)) return out_of_reach(*source_of(memory));
    if (!log.reserve_again(kept, into)) return Again::to_write;
    show();
    const bool is_equal = differences == nullptr
                              ? log.equals(into, memory)
                              : log.equals(into, memory, [&](auto kept_part, auto part, std::size_t begin) {
                                  return differences->add(kept_part, part, begin);
                                });
    compared(memory, is_equal, differences != nullptr);
    if (is_equal) return Again::reserved;
    into.drop();
    return Again::to_write;
  }

 private:
  /// Some of what memory has, as far apart from each other as can be: where they differ, so does the whole.
  using SampledWords = std::array<std::uint64_t, 4>;
  static SampledWords sampled_words(std::span<const std::byte> memory) {
    SampledWords words;
    const std::size_t last = memory.size() - sizeof(words[0]);
    for (std::size_t i = 0; i < words.size(); ++i)
      std::memcpy(&words[i], memory.data() + last * i / (words.size() - 1), sizeof(words[i]));
    return words;
  }

  static bool have_some_in_common(const SampledWords& one, const SampledWords& other) {
    for (std::size_t i = 0; i < one.size(); ++i)
      if (one[i] == other[i]) return true;
    return false;
  }

  struct Source {
    const std::byte* memory = nullptr;
    std::size_t size_bytes = 0;
    const std::byte* kept = nullptr;
    std::uint16_t misses = 0;
    std::uint16_t changes = 0;  // that find() has seen in a row
    std::uint32_t skips = 0;
    bool is_repeated = false;  // since it was written
    SampledWords words{};

    bool is(std::span<const std::byte> other) const {
      return memory == other.data() && size_bytes == other.size();
    }
  };
  static constexpr std::uint16_t misses_max = 6;
  /// To write again what the cache has takes little: what changes all the time is not looked at each time.
  static constexpr std::uint16_t changes_max = 4;
  static constexpr std::uint32_t skips_of_changed = 64;
  static constexpr unsigned trials = 4, left_out_of_trials = 4096;
  /// Powers of two; so many come into question for each memory.
  static constexpr std::size_t set_size = 4;
  /// The same. Of a log that does not keep all a chunk has room for no more payloads.
  static constexpr std::size_t sources_min = 16, sources_max_of_all = 1024, sources_max_of_chunk = 32;

  /// What the log cannot refer to any more: whether it is worth its room. Where more comes in turn than the
  /// log can refer to, nothing is, but for some in a row now and then.
  Again out_of_reach(Source& source) {
    if (source.is_repeated && !is_crowded_) return Again::to_write;
    source.is_repeated = false;
    if (left_out_++ % left_out_of_trials < trials) return Again::to_write;
    is_crowded_ = true;
    return Again::uncertain;
  }
  std::span<Source> set_of(std::span<const std::byte> memory) {
    const std::uint64_t key = reinterpret_cast<std::uint64_t>(memory.data()) + memory.size();
    const std::uint64_t index = (key * 0x9e3779b97f4a7c15U >> 32) & (sources_.size() - 1) & ~(set_size - 1);
    return std::span(sources_).subspan(index, set_size);
  }
  Source* source_of(std::span<const std::byte> memory) {
    for (Source& source : set_of(memory))
      if (source.is(memory)) return &source;
    return nullptr;
  }
  Source& new_source(std::span<const std::byte> memory) {
    const std::size_t sources_max = log_keeps_all_ ? sources_max_of_all : sources_max_of_chunk;
    if (set_of(memory).back().memory && ++replaced_ > sources_.size() / 4 && sources_.size() < sources_max)
      grow();
    Source& source = place_in(set_of(memory));
    source = {memory.data(), memory.size()};
    source.words = sampled_words(memory);
    return source;
  }
  /// One that is free, or else in place of another.
  Source& place_in(std::span<Source> set) {
    for (Source& source : set)
      if (!source.memory) return source;
    return set[replaced_ % set_size];
  }
  void grow() {
    const std::vector<Source> before = std::exchange(sources_, std::vector<Source>(2 * sources_.size()));
    for (const Source& source : before)
      if (source.memory) place_in(set_of({source.memory, source.size_bytes})) = source;
    replaced_ = 0;
  }

  bool log_keeps_all_ = true;
  std::vector<Source> sources_;
  std::size_t replaced_ = 0;  // since they are so many
  bool is_crowded_ = false;   // since something was written, more was out of reach than had been referred to
  unsigned left_out_ = trials;
};

}  // namespace llamada::mpi
