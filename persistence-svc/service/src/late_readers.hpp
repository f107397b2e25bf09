#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "served.hpp"
#include "topics.hpp"

namespace llamada::service {

/// The late readers that this service gives what it keeps: all at once, as far as its memory goes. The others
/// have to wait, and know it.
///
/// Threads: the Participant's.
class LateReaders {
 public:
  using IsGone = std::function<bool(const topics::EndpointId& reader)>;

  LateReaders(topics::Participant& participant, const Topics& topics, const Clock& clock,
              TopicKeeper::Say say)
      : participant_(participant), topics_(topics), clock_(clock), say_(std::move(say)) {}

  // From within Participant::poll().

  void add(const topics::EndpointInfo& reader) { new_.push_back({reader}); }

  // Not from within poll().

  /// Makes a writer for each of those that have come.
  void open(const IsGone& is_gone);
  /// `is_complete`: as Served::work() has it.
  void serve(bool is_complete);
  /// Forgets those that have all, and those that have gone.
  void drop(const IsGone& is_gone);
  /// Forgets all: this service no longer serves.
  void clear();
  /// When serve() is to be called next, on the monotonic clock.
  std::int64_t due_ns() const { return due_ns_; }

  /// Of those that were dropped.
  std::uint64_t served_count() const { return served_count_; }
  std::uint64_t sample_count() const { return sample_count_; }

 private:
  static constexpr std::int64_t period_ns = 1'000'000'000;  // of those that lack memory
  static constexpr std::int64_t never_ns = INT64_MAX;

  struct New {
    topics::EndpointInfo info;
    bool waits_for_room = false;  // that it is not served yet was said
  };
  struct Current {
    std::unique_ptr<Served> served;
    bool has_waited = false;  // that it has to wait was said
  };

  std::vector<const TopicKeeper*> keepers_for(const topics::EndpointInfo& reader) const;
  bool is_stuck() const;
  void give_up_last();

  topics::Participant& participant_;
  const Topics& topics_;
  const Clock& clock_;
  TopicKeeper::Say say_;
  std::vector<New> new_;
  std::vector<Current> current_;
  std::int64_t retry_ns_ = 0;        // when those that wait for room are tried again
  std::int64_t stuck_since_ns_ = 0;  // since when no memory can come back; 0: it can
  std::int64_t due_ns_ = never_ns;
  std::uint64_t served_count_ = 0, sample_count_ = 0;
};

}  // namespace llamada::service
