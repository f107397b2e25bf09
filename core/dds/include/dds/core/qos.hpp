#pragma once

#include "dds/core/exception.hpp"
#include "dds/core/policy.hpp"

namespace dds::core {

/// The policies of an entity as a value (ISO C++ PSM, 7.5.6): `qos << Reliability::Reliable() <<
/// History::KeepAll();`, `qos >> history`, `qos.policy<History>()`. A policy that the entity has not does not
/// compile.
template <typename NativeQos, typename... Policies>
class EntityQos {
 public:
  using Native = NativeQos;

  EntityQos() = default;
  EntityQos(const Native& native) : native_(native) {}  // NOLINT: implicit by intent

  template <typename Policy>
  Policy policy() const {
    return Policy(field<Policy>(native_));
  }
  template <typename Policy>
  EntityQos& policy(const Policy& policy) {
    field<Policy>(native_) = policy.native();
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

  /// Takes over the policies that a topic has, too (DDS 1.4, 2.2.2.4.1.12).
  template <typename TopicQos>
  requires requires(Native& native, const TopicQos& topic) { copy_from_topic_qos(native, topic.native()); }
  EntityQos& operator=(const TopicQos& topic) {
    copy_from_topic_qos(native_, topic.native());
    return *this;
  }

  const Native& native() const { return native_; }
  bool operator==(const EntityQos&) const = default;

 private:
  template <typename Policy, typename Qos>
  static auto& field(Qos& qos) {
    static_assert((std::is_same_v<Policy, Policies> || ...), "this entity does not have this policy");
    using Field =
        std::conditional_t<std::is_const_v<Qos>, const typename Policy::Native, typename Policy::Native>;
    Field* found = nullptr;
    llamada::qos::each_policy(qos, [&](llamada::qos::PolicyId, auto& each) {
      if constexpr (std::is_same_v<std::remove_reference_t<decltype(each)>, Field>) found = &each;
    });
    return *found;
  }

  Native native_;
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
