#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "llamada/base/check.hpp"
#include "llamada/log/arena_layout.hpp"
#include "llamada/log/log_reader.hpp"

namespace llamada::topics {

/// What a sample says of its instance (DDS 1.4, 2.2.2.5.1.3), or that a coherent set ends with it.
enum class ChangeKind : std::uint8_t { alive, disposed, unregistered, disposed_unregistered, coherent_end };

/// What travels with each sample, beside its payload.
struct SampleHeader {
  /// Of its writer, from 1, without a gap on the writer's side; set by the WriterEndpoint.
  std::uint64_t sequence_number = 0;
  std::int64_t source_timestamp_ns = 0;  ///< since 1970
  std::uint64_t instance = 0;            ///< hash of the key; 0 for topics without keys
  ChangeKind kind = ChangeKind::alive;
  std::uint32_t coherent_set = 0;    ///< 0: of none; else the number of the set, its writer's or publisher's
  std::uint64_t group_sequence = 0;  ///< order among the writers of one publisher; 0: none

  bool operator==(const SampleHeader&) const = default;
};

/// Names a writer or reader; no two that ever were in the domain share it.
struct EndpointId {
  std::uint64_t participant = 0;
  std::uint32_t endpoint = 0;
  auto operator<=>(const EndpointId&) const = default;
};

class Sample;

namespace detail {

/// Where samples in place come from: knows all that are out, oldest first, and lets go of them.
class SampleSource {
 public:
  SampleSource() = default;
  SampleSource(const SampleSource&) = delete;
  SampleSource& operator=(const SampleSource&) = delete;
  virtual ~SampleSource() = default;

  bool has_samples_out() const { return first_ != nullptr; }

 protected:
  friend class topics::Sample;
  /// A sample with this hold has been taken off the list.
  virtual void let_go(std::uint64_t hold) = 0;
  virtual void count_copied(std::size_t size_bytes) = 0;

  Sample* first_ = nullptr;
  Sample* last_ = nullptr;
};

}  // namespace detail

/// A sample as it came from a writer. Move-only.
///
/// One of more than 48 bytes usually lies in place, in its writer's memory, and holds it there: a RELIABLE
/// KEEP_ALL writer may block until it is destroyed or evacuate()d. Others are private copies, which hold
/// nobody.
///
/// Threads: those of its Participant's user, serialised with all uses of the Participant (destruction and
/// moves, too); only data() of a sample that is neither moved nor let_evacuate()d may be read meanwhile. It
/// may outlive its ReaderEndpoint, but not its Participant.
class Sample {
 public:
  /// Nothing in it.
  Sample() = default;
  Sample(Sample&& other) noexcept { take(other); }
  Sample& operator=(Sample&& other) noexcept;
  ~Sample() { leave(); }

  /// As if it were new.
  void clear();

  /// A private copy: for tests, and what is made up.
  static Sample owning(const SampleHeader& header, std::vector<std::byte> data);

  /// Valid until the sample is moved, evacuated or destroyed (small ones lie within it).
  std::span<const std::byte> data() const;
  const SampleHeader& header() const { return header_; }
  bool in_place() const { return source_ != nullptr; }

  /// Copies it to private memory and lets go of the writer's. Does nothing when it is not in place.
  void evacuate();
  /// Whether the reader may evacuate() it by itself, from within poll(), when it would hold a writer back.
  /// Not so at first: say yes for what only waits in a cache, no again before data() is given to a user.
  void let_evacuate(bool allowed) { may_evacuate_ = allowed; }
  bool may_evacuate() const { return may_evacuate_; }

  // For readers.
  /// In place: held until let_go(hold).
  Sample(const SampleHeader& header, std::span<const std::byte> place, detail::SampleSource& source,
         std::uint64_t hold)
      : header_(header), place_(place), source_(&source), hold_(hold), previous_(source.last_) {
    (previous_ != nullptr ? previous_->next_ : source.first_) = this;
    source.last_ = this;
  }
  /// A copy of at most 48 bytes.
  Sample(const SampleHeader& header, std::span<const std::byte> small) : header_(header) {
    LLAMADA_CHECK(small.size() <= small_.size());
    log::copy_small(small_.data(), small.data(), small.size());
    small_size_ = static_cast<std::uint8_t>(small.size());
  }
  std::uint64_t hold() const { return hold_; }
  Sample* next() const { return next_; }

 private:
  void take(Sample& other);
  void leave();

  SampleHeader header_;
  std::span<const std::byte> place_;  // when in place
  std::vector<std::byte> copy_;
  std::array<std::byte, log::inline_payload_max> small_;
  std::uint8_t small_size_ = 0;
  bool may_evacuate_ = false;
  detail::SampleSource* source_ = nullptr;
  std::uint64_t hold_ = 0;
  Sample* previous_ = nullptr;  // of the same source, in the order of their arrival
  Sample* next_ = nullptr;
};

}  // namespace llamada::topics
