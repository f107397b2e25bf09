#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "llamada/qos/durability_service.hpp"

namespace llamada::service {

/// Which samples of a topic are kept: DURABILITY_SERVICE (DDS 1.4, 2.2.3.5) at work, over the samples of all
/// writers of an instance. It knows samples by their numbers in the store, and writers by indices that its
/// user gives.
///
/// Pure: times are nanoseconds of the monotonic clock and come in with the calls.
class KeptHistory {
 public:
  static constexpr std::int64_t never_ns = INT64_MAX;

  struct Entry {
    std::uint64_t number = 0;
    std::int64_t source_timestamp_ns = 0;
    std::uint32_t writer = 0;
    bool disposes = false;
    bool by_source = false;  ///< DESTINATION_ORDER of its writer: older than later ones that came before it.
  };
  using OnDropped = std::function<void(const Entry&)>;

  /// `on_dropped` is told of each entry that is no longer kept.
  explicit KeptHistory(OnDropped on_dropped) : on_dropped_(std::move(on_dropped)) {}

  /// Drops the samples that exceed the new depth. Disposed instances wait for the new delay from `now_ns` on.
  void set_policy(const qos::DurabilityService& policy, std::int64_t now_ns);
  const qos::DurabilityService& policy() const { return policy_; }

  /// Why one more sample of the instance does not fit; empty: it fits.
  std::string refusal(std::uint64_t instance) const;
  /// True if the entry has come too late to be kept: BY_SOURCE_TIMESTAMP, and what is newer stands already.
  bool is_outdated(std::uint64_t instance, const Entry& entry) const;
  /// The last entry of the instance, as DESTINATION_ORDER has it; nullptr: there is none.
  const Entry* newest(std::uint64_t instance) const;
  /// In the order of their numbers. `now_ns`: since when a disposed instance has been so.
  void add(std::uint64_t instance, const Entry& entry, std::int64_t now_ns);

  // Which writers write an instance: a disposed one without any goes after service_cleanup_delay.
  void writes(std::uint64_t instance, std::uint32_t writer);
  void unregistered(std::uint64_t instance, std::uint32_t writer, std::int64_t now_ns);
  void writer_gone(std::uint32_t writer, std::int64_t now_ns);
  /// True if the writer is known to write the instance.
  bool is_written_by(std::uint64_t instance, std::uint32_t writer) const;
  const std::vector<std::uint32_t>* writers_of(std::uint64_t instance) const;
  /// All instances with those that write them.
  std::vector<std::pair<std::uint64_t, std::uint32_t>> written() const;

  /// Drops disposed instances that are due. When to be called next.
  std::int64_t clean(std::int64_t now_ns);
  /// Drops the entries for which `is_over` holds: LIFESPAN.
  void expire(const std::function<bool(const Entry&)>& is_over);

  std::size_t sample_count() const { return sample_count_; }
  std::size_t instance_count() const { return instances_.size(); }

 private:
  struct Instance {
    std::deque<Entry> entries;  // oldest first, as DESTINATION_ORDER has it
    std::size_t sample_count = 0;
    std::vector<std::uint32_t> writers;
    bool is_disposed = false;
    std::int64_t clean_ns = never_ns;
  };
  using Instances = std::unordered_map<std::uint64_t, Instance>;

  void trim(Instance& instance);
  void drop_at(Instance& instance, std::size_t index);
  void plan_cleaning(Instance& instance, std::int64_t now_ns);
  Instances::iterator forget_if_empty(Instances::iterator place);

  OnDropped on_dropped_;
  qos::DurabilityService policy_;
  Instances instances_;
  std::size_t sample_count_ = 0;
  std::int64_t next_cleaning_ns_ = never_ns;
};

}  // namespace llamada::service
