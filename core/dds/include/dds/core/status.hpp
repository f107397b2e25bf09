#pragma once

#include <bit>

#include "dds/core/types.hpp"
#include "llamada/dcps/status.hpp"

// Communication statuses (DDS 1.4, 2.2.4.1; ISO C++ PSM, 7.5.9).
namespace dds::core {

namespace policy {

using QosPolicyId = std::uint32_t;

/// How often a policy was found not to fit.
class QosPolicyCount {
 public:
  QosPolicyCount(QosPolicyId policy_id, std::int32_t count)
      : native_{static_cast<llamada::qos::PolicyId>(policy_id), count} {}
  explicit QosPolicyCount(const llamada::dcps::QosPolicyCount& native) : native_(native) {}
  QosPolicyId policy_id() const { return static_cast<QosPolicyId>(native_.policy); }
  std::int32_t count() const { return native_.count; }

 private:
  llamada::dcps::QosPolicyCount native_;
};
using QosPolicyCountSeq = std::vector<QosPolicyCount>;

}  // namespace policy

using policy::QosPolicyCount;
using policy::QosPolicyCountSeq;
using policy::QosPolicyId;

namespace status {

/// A set of statuses: `StatusMask::data_available() | StatusMask::sample_lost()`. The bits are those of the
/// standard's IDL (DDS 1.4, 2.3.3), counted from 0.
class StatusMask {
 public:
  constexpr StatusMask() = default;
  constexpr explicit StatusMask(llamada::dcps::StatusMask bits) : bits_(bits) {}

  static constexpr StatusMask all() { return StatusMask(llamada::dcps::status::all); }
  static constexpr StatusMask none() { return {}; }
  static constexpr StatusMask inconsistent_topic() {
    return StatusMask(llamada::dcps::status::inconsistent_topic);
  }
  static constexpr StatusMask offered_deadline_missed() {
    return StatusMask(llamada::dcps::status::offered_deadline_missed);
  }
  static constexpr StatusMask requested_deadline_missed() {
    return StatusMask(llamada::dcps::status::requested_deadline_missed);
  }
  static constexpr StatusMask offered_incompatible_qos() {
    return StatusMask(llamada::dcps::status::offered_incompatible_qos);
  }
  static constexpr StatusMask requested_incompatible_qos() {
    return StatusMask(llamada::dcps::status::requested_incompatible_qos);
  }
  static constexpr StatusMask sample_lost() { return StatusMask(llamada::dcps::status::sample_lost); }
  static constexpr StatusMask sample_rejected() { return StatusMask(llamada::dcps::status::sample_rejected); }
  static constexpr StatusMask data_on_readers() { return StatusMask(llamada::dcps::status::data_on_readers); }
  static constexpr StatusMask data_available() { return StatusMask(llamada::dcps::status::data_available); }
  static constexpr StatusMask liveliness_lost() { return StatusMask(llamada::dcps::status::liveliness_lost); }
  static constexpr StatusMask liveliness_changed() {
    return StatusMask(llamada::dcps::status::liveliness_changed);
  }
  static constexpr StatusMask publication_matched() {
    return StatusMask(llamada::dcps::status::publication_matched);
  }
  static constexpr StatusMask subscription_matched() {
    return StatusMask(llamada::dcps::status::subscription_matched);
  }

  constexpr bool any() const { return bits_ != 0; }
  constexpr std::size_t count() const { return static_cast<std::size_t>(std::popcount(bits_)); }
  constexpr std::size_t size() const { return 32; }
  /// Throws InvalidArgumentError for a bit from size() on.
  bool test(std::size_t bit) const;
  StatusMask& set(std::size_t bit, bool value = true);
  StatusMask& reset(std::size_t bit) { return set(bit, false); }
  constexpr StatusMask& reset() { return *this = none(); }
  constexpr unsigned long to_ulong() const { return bits_; }
  constexpr bool has(StatusMask other) const { return (bits_ & other.bits_) == other.bits_; }
  constexpr llamada::dcps::StatusMask native() const { return bits_; }
  friend constexpr StatusMask operator|(StatusMask a, StatusMask b) { return StatusMask(a.bits_ | b.bits_); }
  friend constexpr StatusMask operator&(StatusMask a, StatusMask b) { return StatusMask(a.bits_ & b.bits_); }
  friend constexpr StatusMask operator^(StatusMask a, StatusMask b) { return StatusMask(a.bits_ ^ b.bits_); }
  /// Inverts only bits of existing statuses.
  friend constexpr StatusMask operator~(StatusMask a) { return all() ^ (a & all()); }
  StatusMask& operator|=(StatusMask other) { return *this = *this | other; }
  StatusMask& operator&=(StatusMask other) { return *this = *this & other; }
  StatusMask& operator^=(StatusMask other) { return *this = *this ^ other; }
  StatusMask& operator<<(StatusMask other) { return *this |= other; }
  constexpr bool operator==(const StatusMask&) const = default;

 private:
  llamada::dcps::StatusMask bits_ = 0;
};

/// Counts, as all statuses have them; `_change` since the status was last read.
template <typename NativeStatus>
class Counted {
 public:
  explicit Counted(const NativeStatus& native = {}) : native_(native) {}
  std::int32_t total_count() const { return native_.total_count; }
  std::int32_t total_count_change() const { return native_.total_count_change; }

 protected:
  NativeStatus native_;
};

struct InconsistentTopicStatus : Counted<llamada::dcps::InconsistentTopicStatus> {
  using Counted::Counted;
};
struct SampleLostStatus : Counted<llamada::dcps::SampleLostStatus> {
  using Counted::Counted;
};
struct LivelinessLostStatus : Counted<llamada::dcps::LivelinessLostStatus> {
  using Counted::Counted;
};

/// Why a sample was rejected (DDS 1.4, 2.2.4.1 SAMPLE_REJECTED).
class SampleRejectedState {
 public:
  using Native = llamada::dcps::SampleRejectedKind;
  constexpr SampleRejectedState() = default;
  constexpr SampleRejectedState(Native native) : native_(native) {}  // NOLINT: implicit by intent

  static constexpr SampleRejectedState not_rejected() { return Native::not_rejected; }
  static constexpr SampleRejectedState rejected_by_instances_limit() {
    return Native::rejected_by_instances_limit;
  }
  static constexpr SampleRejectedState rejected_by_samples_limit() {
    return Native::rejected_by_samples_limit;
  }
  static constexpr SampleRejectedState rejected_by_samples_per_instance_limit() {
    return Native::rejected_by_samples_per_instance_limit;
  }
  /// Not in the standard: the reader knows an instance whose key is another and has the same hash.
  static constexpr SampleRejectedState rejected_by_key_hash() { return Native::rejected_by_key_hash; }

  constexpr Native native() const { return native_; }
  constexpr bool operator==(const SampleRejectedState&) const = default;

 private:
  Native native_ = Native::not_rejected;
};
struct SampleRejectedStatus : Counted<llamada::dcps::SampleRejectedStatus> {
  using Counted::Counted;
  SampleRejectedState last_reason() const { return native_.last_reason; }
  InstanceHandle last_instance_handle() const { return InstanceHandle(native_.last_instance_handle); }
};

struct OfferedDeadlineMissedStatus : Counted<llamada::dcps::OfferedDeadlineMissedStatus> {
  using Counted::Counted;
  InstanceHandle last_instance_handle() const { return InstanceHandle(native_.last_instance_handle); }
};
struct RequestedDeadlineMissedStatus : Counted<llamada::dcps::RequestedDeadlineMissedStatus> {
  using Counted::Counted;
  InstanceHandle last_instance_handle() const { return InstanceHandle(native_.last_instance_handle); }
};

template <typename Native>
struct IncompatibleQosStatus : Counted<Native> {
  using Counted<Native>::Counted;
  QosPolicyId last_policy_id() const { return static_cast<QosPolicyId>(this->native_.last_policy_id); }
  QosPolicyCountSeq policies() const {
    QosPolicyCountSeq counts;
    for (const auto& each : this->native_.policies) counts.emplace_back(each);
    return counts;
  }
  QosPolicyCountSeq& policies(QosPolicyCountSeq& into) const { return into = policies(); }
  /// One sentence on the last one; not in the standard.
  const std::string& last_reason() const { return this->native_.last_reason; }
};
using OfferedIncompatibleQosStatus = IncompatibleQosStatus<llamada::dcps::OfferedIncompatibleQosStatus>;
using RequestedIncompatibleQosStatus = IncompatibleQosStatus<llamada::dcps::RequestedIncompatibleQosStatus>;

class LivelinessChangedStatus {
 public:
  explicit LivelinessChangedStatus(const llamada::dcps::LivelinessChangedStatus& native = {})
      : native_(native) {}
  std::int32_t alive_count() const { return native_.alive_count; }
  std::int32_t not_alive_count() const { return native_.not_alive_count; }
  std::int32_t alive_count_change() const { return native_.alive_count_change; }
  std::int32_t not_alive_count_change() const { return native_.not_alive_count_change; }
  InstanceHandle last_publication_handle() const { return InstanceHandle(native_.last_publication_handle); }

 private:
  llamada::dcps::LivelinessChangedStatus native_;
};

struct PublicationMatchedStatus : Counted<llamada::dcps::PublicationMatchedStatus> {
  using Counted::Counted;
  std::int32_t current_count() const { return native_.current_count; }
  std::int32_t current_count_change() const { return native_.current_count_change; }
  InstanceHandle last_subscription_handle() const { return InstanceHandle(native_.last_handle); }
};
struct SubscriptionMatchedStatus : Counted<llamada::dcps::SubscriptionMatchedStatus> {
  using Counted::Counted;
  std::int32_t current_count() const { return native_.current_count; }
  std::int32_t current_count_change() const { return native_.current_count_change; }
  InstanceHandle last_publication_handle() const { return InstanceHandle(native_.last_handle); }
};

/// `get_status<SampleLostStatus>(reader)`: the entity's status of this kind, as its method of that name gives
/// it. A status that the entity does not have does not compile.
template <typename Status, typename Entity>
Status get_status(const Entity& entity) {
  if constexpr (std::is_same_v<Status, InconsistentTopicStatus>) {
    return entity.inconsistent_topic_status();
  } else if constexpr (std::is_same_v<Status, SampleLostStatus>) {
    return entity.sample_lost_status();
  } else if constexpr (std::is_same_v<Status, SampleRejectedStatus>) {
    return entity.sample_rejected_status();
  } else if constexpr (std::is_same_v<Status, LivelinessLostStatus>) {
    return entity.liveliness_lost_status();
  } else if constexpr (std::is_same_v<Status, LivelinessChangedStatus>) {
    return entity.liveliness_changed_status();
  } else if constexpr (std::is_same_v<Status, OfferedDeadlineMissedStatus>) {
    return entity.offered_deadline_missed_status();
  } else if constexpr (std::is_same_v<Status, RequestedDeadlineMissedStatus>) {
    return entity.requested_deadline_missed_status();
  } else if constexpr (std::is_same_v<Status, OfferedIncompatibleQosStatus>) {
    return entity.offered_incompatible_qos_status();
  } else if constexpr (std::is_same_v<Status, RequestedIncompatibleQosStatus>) {
    return entity.requested_incompatible_qos_status();
  } else if constexpr (std::is_same_v<Status, PublicationMatchedStatus>) {
    return entity.publication_matched_status();
  } else if constexpr (std::is_same_v<Status, SubscriptionMatchedStatus>) {
    return entity.subscription_matched_status();
  }
}

}  // namespace status
}  // namespace dds::core
