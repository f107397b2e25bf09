#pragma once

#include "dds/core/policy.hpp"
#include "dds/topic/representation.hpp"
#include "llamada/dcps/builtin_topics.hpp"

// Types of the built-in topics, which describe the domain (DDS 1.4, 2.2.5; ISO C++ PSM, 7.5.11), for the
// readers of dds::sub::builtin_subscriber().
namespace dds::topic {

inline std::string participant_topic_name() { return llamada::dcps::builtin_participant_topic; }
inline std::string topic_topic_name() { return llamada::dcps::builtin_topic_topic; }
inline std::string publication_topic_name() { return llamada::dcps::builtin_publication_topic; }
inline std::string subscription_topic_name() { return llamada::dcps::builtin_subscription_topic; }

/// Names a participant, a topic, a writer or a reader in the built-in topics.
class BuiltinTopicKey {
 public:
  BuiltinTopicKey() = default;
  explicit BuiltinTopicKey(llamada::dcps::InstanceHandle native) : native_(native) {}
  /// For the operations that name an entity, as dds::sub::ignore().
  core::InstanceHandle instance_handle() const { return core::InstanceHandle(native_); }
  auto operator<=>(const BuiltinTopicKey&) const = default;

 private:
  llamada::dcps::InstanceHandle native_;
};

namespace detail {

template <typename NativeData>
class BuiltinData {
 public:
  using Native = NativeData;

  BuiltinData() = default;
  explicit BuiltinData(Native native) : native_(std::move(native)) {}
  BuiltinTopicKey key() const { return BuiltinTopicKey(native_.key); }
  const Native& native() const { return native_; }
  bool operator==(const BuiltinData&) const = default;

 protected:
  Native native_;
};

/// The policies that topics, writers and readers have all.
template <typename NativeData>
class PoliciesBuiltinData : public BuiltinData<NativeData> {
 public:
  using BuiltinData<NativeData>::BuiltinData;
  core::policy::Durability durability() const {
    return core::policy::Durability(this->native_.qos.durability);
  }
  core::policy::Deadline deadline() const { return core::policy::Deadline(this->native_.qos.deadline); }
  core::policy::LatencyBudget latency_budget() const {
    return core::policy::LatencyBudget(this->native_.qos.latency_budget);
  }
  core::policy::Liveliness liveliness() const {
    return core::policy::Liveliness(this->native_.qos.liveliness);
  }
  core::policy::Reliability reliability() const {
    return core::policy::Reliability(this->native_.qos.reliability);
  }
  core::policy::DestinationOrder destination_order() const {
    return core::policy::DestinationOrder(this->native_.qos.destination_order);
  }
  core::policy::Ownership ownership() const { return core::policy::Ownership(this->native_.qos.ownership); }
};

/// The common part of writers and readers.
template <typename NativeData>
class EndpointBuiltinData : public PoliciesBuiltinData<NativeData> {
 public:
  using PoliciesBuiltinData<NativeData>::PoliciesBuiltinData;
  BuiltinTopicKey participant_key() const { return BuiltinTopicKey(this->native_.participant_key); }
  const std::string& topic_name() const { return this->native_.topic_name; }
  const std::string& type_name() const { return this->native_.type_name; }
  core::policy::UserData user_data() const { return core::policy::UserData(this->native_.qos.user_data); }
  core::policy::TopicData topic_data() const { return core::policy::TopicData(this->native_.topic_data); }
};

}  // namespace detail

class ParticipantBuiltinTopicData : public detail::BuiltinData<llamada::dcps::ParticipantBuiltinTopicData> {
 public:
  using BuiltinData::BuiltinData;
  core::policy::UserData user_data() const {
    return core::policy::UserData(llamada::qos::UserData{native_.user_data});
  }
  // Not in the standard:
  const std::string& name() const { return native_.name; }
  std::uint32_t domain_id() const { return native_.domain_id; }
  std::uint32_t pid() const { return native_.pid; }
};

/// A topic is known by its writers and readers; its policies are those of the first one that was seen.
class TopicBuiltinTopicData : public detail::PoliciesBuiltinData<llamada::dcps::TopicBuiltinTopicData> {
 public:
  using PoliciesBuiltinData::PoliciesBuiltinData;
  const std::string& name() const { return native_.name; }
  const std::string& type_name() const { return native_.type_name; }
  core::policy::DurabilityService durability_service() const {
    return core::policy::DurabilityService(native_.qos.durability_service);
  }
  core::policy::TransportPriority transport_priority() const {
    return core::policy::TransportPriority(native_.qos.transport_priority);
  }
  core::policy::Lifespan lifespan() const { return core::policy::Lifespan(native_.qos.lifespan); }
  core::policy::History history() const { return core::policy::History(native_.qos.history); }
  core::policy::ResourceLimits resource_limits() const {
    return core::policy::ResourceLimits(native_.qos.resource_limits);
  }
  core::policy::TopicData topic_data() const { return core::policy::TopicData(native_.qos.topic_data); }
};

class PublicationBuiltinTopicData
    : public detail::EndpointBuiltinData<llamada::dcps::PublicationBuiltinTopicData> {
 public:
  using EndpointBuiltinData::EndpointBuiltinData;
  core::policy::DurabilityService durability_service() const {
    return core::policy::DurabilityService(native_.qos.durability_service);
  }
  core::policy::Lifespan lifespan() const { return core::policy::Lifespan(native_.qos.lifespan); }
  core::policy::OwnershipStrength ownership_strength() const {
    return core::policy::OwnershipStrength(native_.qos.ownership_strength);
  }
  core::policy::Presentation presentation() const {
    return core::policy::Presentation(native_.publisher.presentation);
  }
  core::policy::Partition partition() const { return core::policy::Partition(native_.publisher.partition); }
  core::policy::GroupData group_data() const { return core::policy::GroupData(native_.publisher.group_data); }
};

class SubscriptionBuiltinTopicData
    : public detail::EndpointBuiltinData<llamada::dcps::SubscriptionBuiltinTopicData> {
 public:
  using EndpointBuiltinData::EndpointBuiltinData;
  core::policy::TimeBasedFilter time_based_filter() const {
    return core::policy::TimeBasedFilter(native_.qos.time_based_filter);
  }
  core::policy::Presentation presentation() const {
    return core::policy::Presentation(native_.subscriber.presentation);
  }
  core::policy::Partition partition() const { return core::policy::Partition(native_.subscriber.partition); }
  core::policy::GroupData group_data() const {
    return core::policy::GroupData(native_.subscriber.group_data);
  }
};

namespace detail {

template <typename Data>
struct BuiltinRepresentation {
  using Copies = std::list<Data>;
  static constexpr bool is_plain = false;
  static std::unique_ptr<Data> make() { return std::make_unique<Data>(); }
  static llamada::Result<std::vector<std::byte>> serialize(const Data& data) {
    return llamada::dcps::serialize_builtin(data.native());
  }
  static llamada::Status deserialize(std::span<const std::byte> sample, Data& value) {
    auto data = llamada::dcps::deserialize_builtin<typename Data::Native>(sample);
    if (!data) return propagate(data);
    value = Data(std::move(*data));
    return {};
  }
};

template <>
struct Representation<ParticipantBuiltinTopicData> : BuiltinRepresentation<ParticipantBuiltinTopicData> {
  static const std::string& type_name() {
    static const std::string name = "DDS::ParticipantBuiltinTopicData";
    return name;
  }
  static bool is_of(const llamada::types::TypeSupport& type) { return type.name() == type_name(); }
};

template <>
struct Representation<TopicBuiltinTopicData> : BuiltinRepresentation<TopicBuiltinTopicData> {
  static const std::string& type_name() {
    static const std::string name = "DDS::TopicBuiltinTopicData";
    return name;
  }
  static bool is_of(const llamada::types::TypeSupport& type) { return type.name() == type_name(); }
};

template <>
struct Representation<PublicationBuiltinTopicData> : BuiltinRepresentation<PublicationBuiltinTopicData> {
  static const std::string& type_name() {
    static const std::string name = "DDS::PublicationBuiltinTopicData";
    return name;
  }
  static bool is_of(const llamada::types::TypeSupport& type) { return type.name() == type_name(); }
};

template <>
struct Representation<SubscriptionBuiltinTopicData> : BuiltinRepresentation<SubscriptionBuiltinTopicData> {
  static const std::string& type_name() {
    static const std::string name = "DDS::SubscriptionBuiltinTopicData";
    return name;
  }
  static bool is_of(const llamada::types::TypeSupport& type) { return type.name() == type_name(); }
};

}  // namespace detail

}  // namespace dds::topic
