#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "llamada/dcps/time.hpp"
#include "llamada/topics/sample.hpp"

namespace llamada::dcps {

/// The payload of ChangeKind::coherent_end: how many samples the writer put into the set, as 4 bytes,
/// little-endian.
std::vector<std::byte> coherent_end_payload(std::uint32_t sample_count);

/// The coherent sets of one writer that a reader holds back until they are whole (DDS 1.4, 2.2.3.6), in the
/// order of the writer. Samples that belong to no set wait here, too, while a set before them waits.
///
/// Pure: no clock, no thread.
class CoherentSets {
 public:
  struct Held {
    topics::Sample sample;
    Timestamp reception_timestamp{0};
  };
  struct Set {
    std::uint32_t number = 0;  ///< 0: samples of no set
    std::vector<Held> samples;
    bool ended = false;
    bool whole = true;
  };

  bool empty() const { return sets_.empty(); }

  /// Takes a sample of the writer. False: it belongs to no set and nothing is before it, so it is not kept.
  bool hold(topics::Sample&& sample, Timestamp reception_timestamp);
  /// The writer has ended the set.
  void end(std::uint32_t number, std::uint32_t sample_count);
  /// A sample of the writer did not arrive: the set that is open is not whole.
  void lost();
  /// The set that is open can never be whole: lets go of its samples and says how many.
  std::size_t abandon();
  /// Sets up to this one are none of ours.
  void begin_after(std::uint32_t number) { ended_through_ = number; }
  /// There will be no more from this writer.
  void close();

  /// The first set if it has ended.
  const Set* first_ended() const { return !sets_.empty() && sets_.front().ended ? &sets_.front() : nullptr; }
  Set take_first();
  /// The highest number whose set is known to have ended; 0: none.
  std::uint32_t ended_through() const { return ended_through_; }
  std::size_t held_count() const;

 private:
  Set& open(std::uint32_t number);
  void end_open_set(bool whole);

  std::deque<Set> sets_;
  std::uint32_t ended_through_ = 0;
};

/// The sample count in the payload; nothing if it is malformed.
std::optional<std::uint32_t> coherent_end_sample_count(std::span<const std::byte> payload);

}  // namespace llamada::dcps
