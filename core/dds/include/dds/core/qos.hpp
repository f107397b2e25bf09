#pragma once

#include "dds/core/exception.hpp"
#include "dds/core/policy.hpp"

namespace dds::core {

namespace detail {

/// One policy of an EntityQos.
template <typename Policy>
struct Held {
  Policy policy;

  void load(const typename Policy::Native& native) { policy = Policy(native); }
  void store(typename Policy::Native& native) const { native = policy.native(); }
  bool operator==(const Held&) const = default;
};

}  // namespace detail

/// The policies of an entity as a value (ISO C++ PSM, 7.5.6): `qos << Reliability::Reliable() <<
/// History::KeepAll();`, `qos >> history`, `qos.policy<History>().depth(5)`. A policy that the entity has not
/// does not compile.
template <typename NativeQos, typename... Policies>
class EntityQos : private detail::Held<Policies>... {
 public:
  using Native = NativeQos;

  /// The defaults of the standard.
  EntityQos() : EntityQos(Native{}) {}
  EntityQos(const Native& native) {  // NOLINT: implicit by intent
    llamada::qos::each_policy(native, [this](llamada::qos::PolicyId, const auto& each) { this->load(each); });
  }
  /// The standard's defaults, except the policies that the topic has, too (DDS 1.4, 2.2.2.4.1.12).
  template <typename TopicQos>
  requires requires(Native& native, const TopicQos& topic) { copy_from_topic_qos(native, topic.native()); }
  EntityQos(const TopicQos& topic) : EntityQos() { *this = topic; }  // NOLINT: implicit by intent

  /// In place: what is changed of it is changed here.
  template <typename Policy>
  Policy& policy() {
    static_assert(has<Policy>, "this entity does not have this policy");
    return static_cast<detail::Held<Policy>&>(*this).policy;
  }
  template <typename Policy>
  const Policy& policy() const {
    static_assert(has<Policy>, "this entity does not have this policy");
    return static_cast<const detail::Held<Policy>&>(*this).policy;
  }
  template <typename Policy>
  EntityQos& policy(const Policy& policy) {
    this->policy<Policy>() = policy;
    return *this;
  }
  template <typename Policy>
  EntityQos& operator<<(const Policy& policy) {
    return this->policy(policy);
  }
  template <typename Policy>
  const EntityQos& operator>>(Policy& policy) const {
    policy = this->policy<Policy>();
    return *this;
  }
  /// As values of the PSM have it: `qos->policy(…)`.
  EntityQos* operator->() { return this; }
  const EntityQos* operator->() const { return this; }

  /// Takes over the policies that a topic has, too (DDS 1.4, 2.2.2.4.1.12).
  template <typename TopicQos>
  requires requires(Native& native, const TopicQos& topic) { copy_from_topic_qos(native, topic.native()); }
  EntityQos& operator=(const TopicQos& topic) {
    Native native = this->native();
    copy_from_topic_qos(native, topic.native());
    *this = native;
    return *this;
  }

  Native native() const {
    Native native;
    llamada::qos::each_policy(native, [this](llamada::qos::PolicyId, auto& each) { this->store(each); });
    return native;
  }
  bool operator==(const EntityQos&) const = default;

 private:
  using detail::Held<Policies>::load...;
  using detail::Held<Policies>::store...;

  template <typename Policy>
  static constexpr bool has = (std::is_same_v<Policy, Policies> || ...);
};

}  // namespace dds::core

namespace dds::domain::qos {
using DomainParticipantQos =
    core::EntityQos<llamada::qos::DomainParticipantQos, core::policy::UserData, core::policy::EntityFactory>;
}  // namespace dds::domain::qos

namespace dds::topic::qos {
using TopicQos =
    core::EntityQos<llamada::qos::TopicQos, core::policy::TopicData, core::policy::Durability,
                    core::policy::DurabilityService, core::policy::Deadline, core::policy::LatencyBudget,
                    core::policy::Liveliness, core::policy::Reliability, core::policy::DestinationOrder,
                    core::policy::History, core::policy::ResourceLimits, core::policy::TransportPriority,
                    core::policy::Lifespan, core::policy::Ownership>;
}  // namespace dds::topic::qos

namespace dds::pub::qos {
using PublisherQos =
    core::EntityQos<llamada::qos::PublisherQos, core::policy::Presentation, core::policy::Partition,
                    core::policy::GroupData, core::policy::EntityFactory>;
using DataWriterQos =
    core::EntityQos<llamada::qos::DataWriterQos, core::policy::Durability, core::policy::DurabilityService,
                    core::policy::Deadline, core::policy::LatencyBudget, core::policy::Liveliness,
                    core::policy::Reliability, core::policy::DestinationOrder, core::policy::History,
                    core::policy::ResourceLimits, core::policy::TransportPriority, core::policy::Lifespan,
                    core::policy::UserData, core::policy::Ownership, core::policy::OwnershipStrength,
                    core::policy::WriterDataLifecycle, core::policy::SendWindow>;
}  // namespace dds::pub::qos

namespace dds::sub::qos {
using SubscriberQos =
    core::EntityQos<llamada::qos::SubscriberQos, core::policy::Presentation, core::policy::Partition,
                    core::policy::GroupData, core::policy::EntityFactory>;
using DataReaderQos =
    core::EntityQos<llamada::qos::DataReaderQos, core::policy::Durability, core::policy::Deadline,
                    core::policy::LatencyBudget, core::policy::Liveliness, core::policy::Reliability,
                    core::policy::DestinationOrder, core::policy::History, core::policy::ResourceLimits,
                    core::policy::UserData, core::policy::Ownership, core::policy::TimeBasedFilter,
                    core::policy::ReaderDataLifecycle>;
}  // namespace dds::sub::qos
