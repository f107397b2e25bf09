#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llamada::launcher {

/// What a rank has written to one stream, over all its incarnations, as far as a replacement must repeat it:
/// the number of bytes that were delivered, a CRC of each whole block of them, and the bytes of the last,
/// partial block.
///
/// A new incarnation's bytes are compared with what was delivered and are not delivered again.
class OutputJournal {
 public:
  static constexpr std::size_t block_size_bytes = 4096;

  /// Two byte ranges of the stream differ; where is known to the block, or to the byte in the last one.
  struct Difference {
    std::uint64_t first_byte = 0;  ///< the difference is here or behind
    std::uint64_t last_byte = 0;   ///< and not behind this one
    /// The bytes of the new incarnation that were held back for the comparison, from the first of the block
    /// on.
    std::string held;
  };
  struct Taken {
    std::string_view fresh;  ///< to be delivered: a part of what was given
    std::optional<Difference> difference;
  };

  /// What was delivered before any incarnation that is told here. `unknown_bytes` behind the first
  /// `known_bytes` are not in `bytes`: no incarnation is compared there.
  void restore(std::string_view bytes, std::uint64_t known_bytes, std::uint64_t unknown_bytes);
  /// The next incarnation begins, at the start of the stream.
  void begin_incarnation();
  /// The present incarnation goes on at this place of the stream, which is not behind what was delivered.
  /// What follows in the same block is not compared.
  void go_on_at(std::uint64_t place);
  /// Takes what the present incarnation wrote next. After a difference it is no longer compared: all is
  /// fresh.
  Taken take(std::string_view bytes);
  /// Whether the present incarnation has yet to repeat something.
  bool repeating() const { return position_ < delivered_; }
  /// How many bytes it has yet to repeat.
  std::uint64_t left() const { return repeating() ? delivered_ - position_ : 0; }
  std::uint64_t delivered() const { return delivered_; }
  std::uint64_t position() const { return position_; }

 private:
  /// How many of `bytes` were to be repeated and are; stops at a difference.
  std::size_t compare(std::string_view bytes, std::optional<Difference>& difference);
  void record(std::string_view fresh);
  void record_unknown(std::uint64_t count);

  std::uint64_t delivered_ = 0;
  std::uint64_t position_ = 0;
  std::vector<std::uint32_t> block_crcs_;
  std::uint64_t unknown_begin_ = 0, unknown_end_ = 0;  ///< blocks of which bytes are unknown
  std::string tail_;                                   ///< delivered bytes behind the last whole block
  std::string block_;     ///< of the incarnation that repeats: what it has written of the present block
  bool has_gap_ = false;  ///< it has not written the beginning of that
};

}  // namespace llamada::launcher
