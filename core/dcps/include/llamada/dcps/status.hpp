#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "llamada/dcps/instance_handle.hpp"
#include "llamada/qos/policy.hpp"

namespace llamada::dcps {

/// The communication statuses of DDS 1.4, 2.2.4.1, with the bits of the standard's IDL. A mask is the sum of
/// some.
using StatusMask = std::uint32_t;

namespace status {
inline constexpr StatusMask inconsistent_topic = 1u << 0;
inline constexpr StatusMask offered_deadline_missed = 1u << 1;
inline constexpr StatusMask requested_deadline_missed = 1u << 2;
inline constexpr StatusMask offered_incompatible_qos = 1u << 5;
inline constexpr StatusMask requested_incompatible_qos = 1u << 6;
inline constexpr StatusMask sample_lost = 1u << 7;
inline constexpr StatusMask sample_rejected = 1u << 8;
inline constexpr StatusMask data_on_readers = 1u << 9;
inline constexpr StatusMask data_available = 1u << 10;
inline constexpr StatusMask liveliness_lost = 1u << 11;
inline constexpr StatusMask liveliness_changed = 1u << 12;
inline constexpr StatusMask publication_matched = 1u << 13;
inline constexpr StatusMask subscription_matched = 1u << 14;
inline constexpr StatusMask none = 0;
inline constexpr StatusMask all = 0x7fe7;
}  // namespace status

/// The `_change` fields count since the status was last read, by its getter or by a listener.
struct CountStatus {
  std::int32_t total_count = 0;
  std::int32_t total_count_change = 0;

  void add(std::int32_t count = 1) {
    total_count += count;
    total_count_change += count;
  }
  void forget_changes() { total_count_change = 0; }
};

struct InconsistentTopicStatus : CountStatus {};
struct SampleLostStatus : CountStatus {};
struct LivelinessLostStatus : CountStatus {};

enum class SampleRejectedKind : std::uint8_t {
  not_rejected,
  rejected_by_instances_limit,
  rejected_by_samples_limit,
  rejected_by_samples_per_instance_limit,
  /// Beyond the standard: the reader knows an instance whose key is another and has the same hash. The sample
  /// counts as lost, too; it is not offered again.
  rejected_by_key_hash,
};

struct SampleRejectedStatus : CountStatus {
  SampleRejectedKind last_reason = SampleRejectedKind::not_rejected;
  InstanceHandle last_instance_handle;
};

struct DeadlineMissedStatus : CountStatus {
  InstanceHandle last_instance_handle;
};
struct OfferedDeadlineMissedStatus : DeadlineMissedStatus {};
struct RequestedDeadlineMissedStatus : DeadlineMissedStatus {};

/// How often a policy was found not to fit.
struct QosPolicyCount {
  qos::PolicyId policy{};
  std::int32_t count = 0;
};

struct IncompatibleQosStatus : CountStatus {
  /// The policy that was found first the last time; 0 before.
  qos::PolicyId last_policy_id{};
  std::vector<QosPolicyCount> policies;
  /// One sentence on the last one, for people.
  std::string last_reason;
};
struct OfferedIncompatibleQosStatus : IncompatibleQosStatus {};
struct RequestedIncompatibleQosStatus : IncompatibleQosStatus {};

struct LivelinessChangedStatus {
  std::int32_t alive_count = 0;
  std::int32_t not_alive_count = 0;
  std::int32_t alive_count_change = 0;
  std::int32_t not_alive_count_change = 0;
  InstanceHandle last_publication_handle;

  void forget_changes() { alive_count_change = not_alive_count_change = 0; }
};

struct MatchedStatus : CountStatus {
  std::int32_t current_count = 0;
  std::int32_t current_count_change = 0;
  InstanceHandle last_handle;

  void forget_changes() { total_count_change = current_count_change = 0; }
  void matched(InstanceHandle handle) {
    add();
    ++current_count, ++current_count_change;
    last_handle = handle;
  }
  void unmatched(InstanceHandle handle) {
    --current_count, --current_count_change;
    last_handle = handle;
  }
};
/// last_handle is the subscription's.
struct PublicationMatchedStatus : MatchedStatus {};
/// last_handle is the publication's.
struct SubscriptionMatchedStatus : MatchedStatus {};

}  // namespace llamada::dcps
