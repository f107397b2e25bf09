#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "llamada/dcps/sample_info.hpp"
#include "llamada/topics/sample.hpp"
#include "sample_list.hpp"

namespace llamada::dcps {

/// A sample in a reader's cache. Loaned ones stay where they are until the last loan is given back, even if
/// the cache has let go of them.
struct CachedSample {
  topics::Sample sample;
  topics::EndpointId writer;
  std::uint64_t publisher = 0;
  std::uint64_t instance = 0;
  /// In which order the cache took the samples in.
  std::uint64_t order = 0;
  Timestamp source_timestamp{0};
  Timestamp reception_timestamp{0};
  Timestamp expires = never;
  std::int32_t disposed_generation_count = 0;
  std::int32_t no_writers_generation_count = 0;
  std::uint32_t loans = 0;
  bool valid_data = true;
  bool read = false;
  bool cached = true;
  /// Not to be seen before the current access to the group has ended.
  bool hidden = false;

  /// As if it were new, but for what is set with each sample anyway.
  void clear() {
    sample.clear();
    expires = never;
    loans = 0;
    valid_data = true;
    read = false;
    cached = true;
    hidden = false;
  }
};

/// What a reader knows of one instance: its states as DDS 1.4, 2.2.2.5.1.3 and 2.2.2.5.1.4 move them, its
/// writers and, with EXCLUSIVE ownership, which of them is heard.
///
/// Pure: no clock, no thread.
class ReaderInstance {
 public:
  struct Writer {
    topics::EndpointId id;
    bool deadline_missed = false;
  };
  /// A sample that waits for the end of the minimum separation.
  struct Deferred {
    topics::EndpointId writer;
    topics::Sample sample;
    Timestamp reception_timestamp{0};
  };

  explicit ReaderInstance(std::uint64_t key_hash) : key_hash_(key_hash) {}

  std::uint64_t key_hash() const { return key_hash_; }
  StateMask state() const { return state_; }
  StateMask view() const { return view_; }
  std::int32_t disposed_generation_count() const { return disposed_generation_count_; }
  std::int32_t no_writers_generation_count() const { return no_writers_generation_count_; }
  std::int32_t generation() const { return disposed_generation_count_ + no_writers_generation_count_; }

  /// A sample with data was taken in: the instance lives, perhaps again.
  void became_alive() {
    if (state_ != instance_state::alive) revive();
  }
  /// True if the state changed.
  bool dispose();
  /// The writer writes this instance no more; true if the state changed, which is when it was the last.
  bool remove_writer(const topics::EndpointId& writer);
  /// The application has seen a sample of the current generation.
  void viewed() { view_ = view_state::not_new; }

  /// The writer is known to write this instance, and has met its deadline.
  void add_writer(const topics::EndpointId& writer) {
    if (Writer* known = find_writer(writer)) [[likely]]
      known->deadline_missed = false;
    else
      writers_.push_back({writer});
  }
  const std::vector<Writer>& writers() const { return writers_; }
  Writer* find_writer(const topics::EndpointId& writer) {
    for (Writer& each : writers_)
      if (each.id == writer) return &each;
    return nullptr;
  }

  bool matches(const DataState& state) const {
    return (state.view & view_) != 0 && (state.instance & state_) != 0;
  }

  /// Whether anything happens to it because time passes.
  bool waits_for_time() const {
    return state_ != instance_state::alive || deadline != never || first_expiry != never || deferred;
  }

  /// In the order in which they are presented.
  SampleList samples;
  /// Of `samples`, how many have data.
  std::int32_t valid_count = 0;
  /// Samples that the cache has let go of and the application still has on loan; those of them with data.
  std::int32_t taken_count = 0;
  std::int32_t lent_count = 0;

  std::optional<Deferred> deferred;
  /// When the minimum separation from the last sample that was let through is over.
  std::chrono::nanoseconds next_sample_at{0};
  /// By when the next sample must be here.
  std::chrono::nanoseconds deadline = never;
  /// Since when the instance is as it is (monotonic).
  std::chrono::nanoseconds state_since{0};
  /// The source timestamp of the latest sample that the application has been given.
  Timestamp given_through{std::chrono::nanoseconds::min()};
  /// The latest of all samples and changes that were taken in.
  Timestamp latest_source_timestamp{std::chrono::nanoseconds::min()};
  topics::EndpointId latest_writer;
  /// When the first of `samples` expires, or sooner.
  Timestamp first_expiry = never;
  /// The first moment for which a wake-up is planned.
  std::chrono::nanoseconds planned_wakeup = never;
  /// The serialised key; empty for a topic without.
  std::vector<std::byte> key;
  /// Where the cache has it among the instances that hold samples.
  std::size_t filled_index = std::size_t(-1);

 private:
  void revive();

  std::uint64_t key_hash_;
  StateMask state_ = instance_state::alive;
  StateMask view_ = view_state::new_view;
  std::int32_t disposed_generation_count_ = 0;
  std::int32_t no_writers_generation_count_ = 0;
  std::vector<Writer> writers_;
};

}  // namespace llamada::dcps
