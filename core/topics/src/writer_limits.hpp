#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>

#include "llamada/base/result.hpp"
#include "llamada/qos/entity_qos.hpp"
#include "llamada/topics/sample.hpp"

namespace llamada::topics::detail {

/// RESOURCE_LIMITS of a KEEP_ALL writer's samples, and of any writer's instances.
class WriterLimits {
 public:
  explicit WriterLimits(const qos::DataWriterQos& qos);

  /// Whether one more sample fits: `under_way` samples are not acknowledged, and the writer keeps `kept`, of
  /// which some will go by themselves if LIFESPAN `expires`. Errors: would_block, out_of_resources.
  Status check(const SampleHeader* header, std::uint64_t under_way, std::uint64_t kept, bool expires) const {
    if (!has_limits_) return {};
    return check_limits(header, under_way, kept, expires);
  }
  void add(const SampleHeader& header, std::uint64_t sequence_number) {
    if (has_limits_) add_limited(header, sequence_number);
  }
  /// The writer no longer keeps the samples up to here.
  void released(std::uint64_t sequence_number);
  /// Whether samples stay that all readers have.
  bool keeps_for_good() const { return keeps_for_good_; }
  /// Whether check() depends on anything.
  bool any() const { return has_limits_; }

 private:
  struct Instance {
    std::uint64_t sample_count = 0;  // those that count
    bool is_registered = true;
  };
  struct Pending {
    std::uint64_t sequence_number;
    std::uint64_t instance;
  };

  Status check_limits(const SampleHeader* header, std::uint64_t under_way, std::uint64_t kept,
                      bool expires) const;
  void add_limited(const SampleHeader& header, std::uint64_t sequence_number);

  bool keeps_for_good_;
  bool keeps_all_;
  bool has_limits_;
  qos::ResourceLimits limits_;
  std::int32_t window_;
  std::unordered_map<std::uint64_t, Instance> instances_;
  std::deque<Pending> pending_;  // with max_samples_per_instance: the samples that count
};

}  // namespace llamada::topics::detail
