#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "llamada/log/log_writer.hpp"

namespace llamada::mpi {

/// The short payload that a log was given last: where it comes again from the same memory, unchanged, a cell
/// is all that is written. (KeptPayloads does so for longer ones, and knows several.)
///
/// Threads: one at a time.
class LastPayload {
 public:
  /// What is shorter is written as fast; what is longer than publish_fast_bytes_max is not for try_publish().
  static constexpr std::size_t bytes_min = 1024;

  /// What goes out is to be published as ever, for what came before was new each time.
  bool is_to_skip() {
    if (skips_ == 0) return false;
    --skips_;
    return true;
  }
  /// LogWriter::try_publish() of that, if not is_to_skip().
  bool try_publish(log::LogWriter& log, std::uint8_t kind, std::uint16_t flags, std::uint64_t label,
                   std::span<const std::byte> memory) {
    const std::span<const std::byte> kept{kept_, memory.size()};
    const bool is_of_it = memory_.data() == memory.data() && memory_.size() == memory.size();
    if (!is_of_it) {
      missed();
    } else if (log.can_publish_again(kept)) {
      if (std::memcmp(kept_, memory.data(), memory.size()) == 0) {
        misses_ = 0;
        log.publish_again(kind, flags, label, kept);
        return true;
      }
      missed();
    }
    const std::byte* const place = log.next_payload();
    if (!log.try_publish(kind, flags, label, memory)) return false;
    memory_ = memory;
    kept_ = place;
    return true;
  }

 private:
  static constexpr unsigned misses_max = 8;

  void missed() {
    if (misses_ < misses_max) ++misses_;
    skips_ = (1U << misses_) - 2;
  }

  std::span<const std::byte> memory_;
  const std::byte* kept_ = nullptr;
  unsigned misses_ = 0;
  unsigned skips_ = 0;
};

}  // namespace llamada::mpi
