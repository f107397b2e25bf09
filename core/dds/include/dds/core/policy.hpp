#pragma once

#include <span>

#include "dds/core/status.hpp"
#include "llamada/qos/entity_qos.hpp"

// The policies as values of the ISO C++ PSM, 7.5.6: `Reliability::Reliable()`, `History::KeepLast(5)`.
// docs/policies describes each. One name more, SendWindow, is not in the standard.
namespace dds::core::policy {

/// A policy of llamada::qos under the standard's C++ names.
template <typename NativePolicy>
class PolicyOf {
 public:
  using Native = NativePolicy;

  PolicyOf() = default;
  explicit PolicyOf(const Native& native) : native_(native) {}
  const Native& native() const { return native_; }
  Native& native() { return native_; }
  bool operator==(const PolicyOf&) const = default;

 protected:
  Native native_;
};

// The getter and the setter of a field; setters give the policy back, to be chained.
#define DDS_DETAIL_FIELD(Policy, Type, name)       \
  Type name() const { return Type(native_.name); } \
  Policy& name(const Type& value) {                \
    native_.name = value;                          \
    return *this;                                  \
  }
#define DDS_DETAIL_DURATION(Policy, name)                  \
  Duration name() const { return Duration(native_.name); } \
  Policy& name(const Duration& value) {                    \
    native_.name = value.to_chrono();                      \
    return *this;                                          \
  }
#define DDS_DETAIL_KIND(Policy, Kind, name)                     \
  Kind name() const { return static_cast<Kind>(native_.name); } \
  Policy& name(Kind value) {                                    \
    native_.name = static_cast<decltype(native_.name)>(value);  \
    return *this;                                               \
  }
#define DDS_DETAIL_POLICY(Policy)                 \
 public:                                          \
  using PolicyOf<llamada::qos::Policy>::PolicyOf; \
  Policy() = default

// In the order of llamada::qos's.
enum class DurabilityKind : std::uint8_t { VOLATILE, TRANSIENT_LOCAL, TRANSIENT, PERSISTENT };
enum class PresentationAccessScopeKind : std::uint8_t { INSTANCE, TOPIC, GROUP };
enum class OwnershipKind : std::uint8_t { SHARED, EXCLUSIVE };
enum class LivelinessKind : std::uint8_t { AUTOMATIC, MANUAL_BY_PARTICIPANT, MANUAL_BY_TOPIC };
enum class ReliabilityKind : std::uint8_t { BEST_EFFORT, RELIABLE };
enum class DestinationOrderKind : std::uint8_t { BY_RECEPTION_TIMESTAMP, BY_SOURCE_TIMESTAMP };
enum class HistoryKind : std::uint8_t { KEEP_LAST, KEEP_ALL };

template <typename Kind, typename Native>
constexpr bool same_value(Kind kind, Native native) {
  return static_cast<int>(kind) == static_cast<int>(native);
}
static_assert(same_value(DurabilityKind::TRANSIENT_LOCAL, llamada::qos::DurabilityKind::transient_local) &&
              same_value(DurabilityKind::PERSISTENT, llamada::qos::DurabilityKind::persistent));
static_assert(same_value(PresentationAccessScopeKind::GROUP, llamada::qos::PresentationAccessScope::group));
static_assert(same_value(OwnershipKind::EXCLUSIVE, llamada::qos::OwnershipKind::exclusive));
static_assert(same_value(LivelinessKind::MANUAL_BY_TOPIC, llamada::qos::LivelinessKind::manual_by_topic));
static_assert(same_value(ReliabilityKind::RELIABLE, llamada::qos::ReliabilityKind::reliable));
static_assert(same_value(DestinationOrderKind::BY_SOURCE_TIMESTAMP,
                         llamada::qos::DestinationOrderKind::by_source_timestamp));
static_assert(same_value(HistoryKind::KEEP_ALL, llamada::qos::HistoryKind::keep_all));

/// USER_DATA, TOPIC_DATA and GROUP_DATA.
template <typename Native>
class OpaqueData : public PolicyOf<Native> {
 public:
  using PolicyOf<Native>::PolicyOf;
  OpaqueData() = default;
  explicit OpaqueData(const ByteSeq& value) { this->value(value); }
  ByteSeq value() const {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(this->native_.value.data());
    return ByteSeq(bytes, bytes + this->native_.value.size());
  }
  OpaqueData& value(const ByteSeq& value) {
    const auto bytes = std::as_bytes(std::span(value));
    this->native_.value.assign(bytes.begin(), bytes.end());
    return *this;
  }
};
using UserData = OpaqueData<llamada::qos::UserData>;
using TopicData = OpaqueData<llamada::qos::TopicData>;
using GroupData = OpaqueData<llamada::qos::GroupData>;

class Durability : public PolicyOf<llamada::qos::Durability> {
  DDS_DETAIL_POLICY(Durability);
  explicit Durability(DurabilityKind kind) { this->kind(kind); }
  DDS_DETAIL_KIND(Durability, DurabilityKind, kind)
  static Durability Volatile() { return Durability(DurabilityKind::VOLATILE); }
  static Durability TransientLocal() { return Durability(DurabilityKind::TRANSIENT_LOCAL); }
  static Durability Transient() { return Durability(DurabilityKind::TRANSIENT); }
  static Durability Persistent() { return Durability(DurabilityKind::PERSISTENT); }
};

class DurabilityService : public PolicyOf<llamada::qos::DurabilityService> {
  DDS_DETAIL_POLICY(DurabilityService);
  DDS_DETAIL_DURATION(DurabilityService, service_cleanup_delay)
  DDS_DETAIL_KIND(DurabilityService, HistoryKind, history_kind)
  DDS_DETAIL_FIELD(DurabilityService, std::int32_t, history_depth)
  DDS_DETAIL_FIELD(DurabilityService, std::int32_t, max_samples)
  DDS_DETAIL_FIELD(DurabilityService, std::int32_t, max_instances)
  DDS_DETAIL_FIELD(DurabilityService, std::int32_t, max_samples_per_instance)
};

class Presentation : public PolicyOf<llamada::qos::Presentation> {
  DDS_DETAIL_POLICY(Presentation);
  Presentation(PresentationAccessScopeKind scope, bool coherent_access, bool ordered_access) {
    access_scope(scope).coherent_access(coherent_access).ordered_access(ordered_access);
  }
  DDS_DETAIL_KIND(Presentation, PresentationAccessScopeKind, access_scope)
  DDS_DETAIL_FIELD(Presentation, bool, coherent_access)
  DDS_DETAIL_FIELD(Presentation, bool, ordered_access)
  static Presentation InstanceAccessScope(bool coherent_access = false, bool ordered_access = false) {
    return {PresentationAccessScopeKind::INSTANCE, coherent_access, ordered_access};
  }
  static Presentation TopicAccessScope(bool coherent_access = false, bool ordered_access = false) {
    return {PresentationAccessScopeKind::TOPIC, coherent_access, ordered_access};
  }
  static Presentation GroupAccessScope(bool coherent_access = false, bool ordered_access = false) {
    return {PresentationAccessScopeKind::GROUP, coherent_access, ordered_access};
  }
};

class Deadline : public PolicyOf<llamada::qos::Deadline> {
  DDS_DETAIL_POLICY(Deadline);
  explicit Deadline(const Duration& period) { this->period(period); }
  DDS_DETAIL_DURATION(Deadline, period)
};

class LatencyBudget : public PolicyOf<llamada::qos::LatencyBudget> {
  DDS_DETAIL_POLICY(LatencyBudget);
  explicit LatencyBudget(const Duration& duration) { this->duration(duration); }
  DDS_DETAIL_DURATION(LatencyBudget, duration)
};

class Ownership : public PolicyOf<llamada::qos::Ownership> {
  DDS_DETAIL_POLICY(Ownership);
  explicit Ownership(OwnershipKind kind) { this->kind(kind); }
  DDS_DETAIL_KIND(Ownership, OwnershipKind, kind)
  static Ownership Shared() { return Ownership(OwnershipKind::SHARED); }
  static Ownership Exclusive() { return Ownership(OwnershipKind::EXCLUSIVE); }
};

class OwnershipStrength : public PolicyOf<llamada::qos::OwnershipStrength> {
  DDS_DETAIL_POLICY(OwnershipStrength);
  explicit OwnershipStrength(std::int32_t value) { this->value(value); }
  DDS_DETAIL_FIELD(OwnershipStrength, std::int32_t, value)
};

class Liveliness : public PolicyOf<llamada::qos::Liveliness> {
  DDS_DETAIL_POLICY(Liveliness);
  Liveliness(LivelinessKind kind, const Duration& lease) { this->kind(kind).lease_duration(lease); }
  DDS_DETAIL_KIND(Liveliness, LivelinessKind, kind)
  DDS_DETAIL_DURATION(Liveliness, lease_duration)
  static Liveliness Automatic(const Duration& lease = Duration::infinite()) {
    return {LivelinessKind::AUTOMATIC, lease};
  }
  static Liveliness ManualByParticipant(const Duration& lease) {
    return {LivelinessKind::MANUAL_BY_PARTICIPANT, lease};
  }
  static Liveliness ManualByTopic(const Duration& lease) { return {LivelinessKind::MANUAL_BY_TOPIC, lease}; }
};

class TimeBasedFilter : public PolicyOf<llamada::qos::TimeBasedFilter> {
  DDS_DETAIL_POLICY(TimeBasedFilter);
  explicit TimeBasedFilter(const Duration& minimum) { minimum_separation(minimum); }
  DDS_DETAIL_DURATION(TimeBasedFilter, minimum_separation)
};

class Partition : public PolicyOf<llamada::qos::Partition> {
  DDS_DETAIL_POLICY(Partition);
  explicit Partition(const std::string& name) { this->name({name}); }
  explicit Partition(const StringSeq& names) { name(names); }
  DDS_DETAIL_FIELD(Partition, StringSeq, name)
};

class Reliability : public PolicyOf<llamada::qos::Reliability> {
  DDS_DETAIL_POLICY(Reliability);
  Reliability(ReliabilityKind kind, const Duration& blocking) {
    this->kind(kind).max_blocking_time(blocking);
  }
  DDS_DETAIL_KIND(Reliability, ReliabilityKind, kind)
  DDS_DETAIL_DURATION(Reliability, max_blocking_time)
  static Reliability Reliable(const Duration& max_blocking_time = Duration::from_millisecs(100)) {
    return {ReliabilityKind::RELIABLE, max_blocking_time};
  }
  static Reliability BestEffort(const Duration& max_blocking_time = Duration::from_millisecs(100)) {
    return {ReliabilityKind::BEST_EFFORT, max_blocking_time};
  }
};

class TransportPriority : public PolicyOf<llamada::qos::TransportPriority> {
  DDS_DETAIL_POLICY(TransportPriority);
  explicit TransportPriority(std::int32_t value) { this->value(value); }
  DDS_DETAIL_FIELD(TransportPriority, std::int32_t, value)
};

class Lifespan : public PolicyOf<llamada::qos::Lifespan> {
  DDS_DETAIL_POLICY(Lifespan);
  explicit Lifespan(const Duration& duration) { this->duration(duration); }
  DDS_DETAIL_DURATION(Lifespan, duration)
};

class DestinationOrder : public PolicyOf<llamada::qos::DestinationOrder> {
  DDS_DETAIL_POLICY(DestinationOrder);
  explicit DestinationOrder(DestinationOrderKind kind) { this->kind(kind); }
  DDS_DETAIL_KIND(DestinationOrder, DestinationOrderKind, kind)
  static DestinationOrder SourceTimestamp() {
    return DestinationOrder(DestinationOrderKind::BY_SOURCE_TIMESTAMP);
  }
  static DestinationOrder ReceptionTimestamp() {
    return DestinationOrder(DestinationOrderKind::BY_RECEPTION_TIMESTAMP);
  }
};

class History : public PolicyOf<llamada::qos::History> {
  DDS_DETAIL_POLICY(History);
  History(HistoryKind kind, std::int32_t depth) { this->kind(kind).depth(depth); }
  DDS_DETAIL_KIND(History, HistoryKind, kind)
  DDS_DETAIL_FIELD(History, std::int32_t, depth)
  static History KeepAll() { return {HistoryKind::KEEP_ALL, 1}; }
  static History KeepLast(std::int32_t depth = 1) { return {HistoryKind::KEEP_LAST, depth}; }
};

class ResourceLimits : public PolicyOf<llamada::qos::ResourceLimits> {
  DDS_DETAIL_POLICY(ResourceLimits);
  explicit ResourceLimits(std::int32_t samples, std::int32_t instances = llamada::qos::length_unlimited,
                          std::int32_t samples_per_instance = llamada::qos::length_unlimited) {
    max_samples(samples).max_instances(instances).max_samples_per_instance(samples_per_instance);
  }
  DDS_DETAIL_FIELD(ResourceLimits, std::int32_t, max_samples)
  DDS_DETAIL_FIELD(ResourceLimits, std::int32_t, max_instances)
  DDS_DETAIL_FIELD(ResourceLimits, std::int32_t, max_samples_per_instance)
};

class EntityFactory : public PolicyOf<llamada::qos::EntityFactory> {
  DDS_DETAIL_POLICY(EntityFactory);
  explicit EntityFactory(bool autoenable) { autoenable_created_entities(autoenable); }
  DDS_DETAIL_FIELD(EntityFactory, bool, autoenable_created_entities)
  static EntityFactory AutoEnable() { return EntityFactory(true); }
  static EntityFactory ManuallyEnable() { return EntityFactory(false); }
};

class WriterDataLifecycle : public PolicyOf<llamada::qos::WriterDataLifecycle> {
  DDS_DETAIL_POLICY(WriterDataLifecycle);
  explicit WriterDataLifecycle(bool autodispose) { autodispose_unregistered_instances(autodispose); }
  DDS_DETAIL_FIELD(WriterDataLifecycle, bool, autodispose_unregistered_instances)
  static WriterDataLifecycle AutoDisposeUnregisteredInstances() { return WriterDataLifecycle(true); }
  static WriterDataLifecycle ManuallyDisposeUnregisteredInstances() { return WriterDataLifecycle(false); }
};

class ReaderDataLifecycle : public PolicyOf<llamada::qos::ReaderDataLifecycle> {
  DDS_DETAIL_POLICY(ReaderDataLifecycle);
  ReaderDataLifecycle(const Duration& nowriter, const Duration& disposed) {
    autopurge_nowriter_samples_delay(nowriter).autopurge_disposed_samples_delay(disposed);
  }
  DDS_DETAIL_DURATION(ReaderDataLifecycle, autopurge_nowriter_samples_delay)
  DDS_DETAIL_DURATION(ReaderDataLifecycle, autopurge_disposed_samples_delay)
  static ReaderDataLifecycle NoAutoPurge() { return {Duration::infinite(), Duration::infinite()}; }
  static ReaderDataLifecycle AutoPurgeDisposedSamples(const Duration& delay) {
    return {Duration::infinite(), delay};
  }
  static ReaderDataLifecycle AutoPurgeNoWriterSamples(const Duration& delay) {
    return {delay, Duration::infinite()};
  }
};

class SendWindow : public PolicyOf<llamada::qos::SendWindow> {
  DDS_DETAIL_POLICY(SendWindow);
  SendWindow(std::int32_t least, std::int32_t most) { min(least).max(most); }
  DDS_DETAIL_FIELD(SendWindow, std::int32_t, min)
  DDS_DETAIL_FIELD(SendWindow, std::int32_t, max)
};

/// `policy_id<History>::value`: the QosPolicyId_t of DDS 1.4, 2.3.3, as statuses tell it (ISO C++
/// PSM, 7.5.6).
template <typename Policy>
struct policy_id;
/// `policy_name<History>::name()`: "History", the policy's name in the PSM.
template <typename Policy>
struct policy_name;

#define DDS_DETAIL_NAMED(Policy, id)                                                           \
  template <>                                                                                  \
  struct policy_id<Policy> {                                                                   \
    static constexpr QosPolicyId value = static_cast<QosPolicyId>(llamada::qos::PolicyId::id); \
  };                                                                                           \
  template <>                                                                                  \
  struct policy_name<Policy> {                                                                 \
    static std::string name() { return #Policy; }                                              \
  }
DDS_DETAIL_NAMED(UserData, user_data);
DDS_DETAIL_NAMED(Durability, durability);
DDS_DETAIL_NAMED(Presentation, presentation);
DDS_DETAIL_NAMED(Deadline, deadline);
DDS_DETAIL_NAMED(LatencyBudget, latency_budget);
DDS_DETAIL_NAMED(Ownership, ownership);
DDS_DETAIL_NAMED(OwnershipStrength, ownership_strength);
DDS_DETAIL_NAMED(Liveliness, liveliness);
DDS_DETAIL_NAMED(TimeBasedFilter, time_based_filter);
DDS_DETAIL_NAMED(Partition, partition);
DDS_DETAIL_NAMED(Reliability, reliability);
DDS_DETAIL_NAMED(DestinationOrder, destination_order);
DDS_DETAIL_NAMED(History, history);
DDS_DETAIL_NAMED(ResourceLimits, resource_limits);
DDS_DETAIL_NAMED(EntityFactory, entity_factory);
DDS_DETAIL_NAMED(WriterDataLifecycle, writer_data_lifecycle);
DDS_DETAIL_NAMED(ReaderDataLifecycle, reader_data_lifecycle);
DDS_DETAIL_NAMED(TopicData, topic_data);
DDS_DETAIL_NAMED(GroupData, group_data);
DDS_DETAIL_NAMED(TransportPriority, transport_priority);
DDS_DETAIL_NAMED(Lifespan, lifespan);
DDS_DETAIL_NAMED(DurabilityService, durability_service);
DDS_DETAIL_NAMED(SendWindow, send_window);

#undef DDS_DETAIL_NAMED
#undef DDS_DETAIL_POLICY
#undef DDS_DETAIL_KIND
#undef DDS_DETAIL_DURATION
#undef DDS_DETAIL_FIELD

}  // namespace dds::core::policy
