#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/qos/fields.hpp"
#include "llamada/qos/policy.hpp"

namespace llamada::qos {

/// The policies of a DomainParticipant (DDS 1.4, 2.2.3), with the standard's defaults.
struct DomainParticipantQos {
  UserData user_data;
  EntityFactory entity_factory;

  bool operator==(const DomainParticipantQos&) const = default;
};

/// The policies of a Topic (DDS 1.4, 2.2.3), with the standard's defaults.
struct TopicQos {
  TopicData topic_data;
  Durability durability;
  DurabilityService durability_service;
  Deadline deadline;
  LatencyBudget latency_budget;
  Liveliness liveliness;
  Reliability reliability;
  DestinationOrder destination_order;
  History history;
  ResourceLimits resource_limits;
  TransportPriority transport_priority;
  Lifespan lifespan;
  Ownership ownership;

  bool operator==(const TopicQos&) const = default;
};

/// The policies of a Publisher (DDS 1.4, 2.2.3), with the standard's defaults.
struct PublisherQos {
  Presentation presentation;
  Partition partition;
  GroupData group_data;
  EntityFactory entity_factory;

  bool operator==(const PublisherQos&) const = default;
};

/// The policies of a Subscriber (DDS 1.4, 2.2.3), with the standard's defaults.
struct SubscriberQos {
  Presentation presentation;
  Partition partition;
  GroupData group_data;
  EntityFactory entity_factory;

  bool operator==(const SubscriberQos&) const = default;
};

/// The policies of a DataWriter (DDS 1.4, 2.2.3), with the standard's defaults.
struct DataWriterQos {
  Durability durability;
  DurabilityService durability_service;
  Deadline deadline;
  LatencyBudget latency_budget;
  Liveliness liveliness;
  Reliability reliability{.kind = ReliabilityKind::reliable};
  DestinationOrder destination_order;
  History history;
  ResourceLimits resource_limits;
  TransportPriority transport_priority;
  Lifespan lifespan;
  UserData user_data;
  Ownership ownership;
  OwnershipStrength ownership_strength;
  WriterDataLifecycle writer_data_lifecycle;
  SendWindow send_window;

  bool operator==(const DataWriterQos&) const = default;
};

/// The policies of a DataReader (DDS 1.4, 2.2.3), with the standard's defaults.
struct DataReaderQos {
  Durability durability;
  Deadline deadline;
  LatencyBudget latency_budget;
  Liveliness liveliness;
  Reliability reliability;
  DestinationOrder destination_order;
  History history;
  ResourceLimits resource_limits;
  UserData user_data;
  Ownership ownership;
  TimeBasedFilter time_based_filter;
  ReaderDataLifecycle reader_data_lifecycle;

  bool operator==(const DataReaderQos&) const = default;
};

/// each_policy(qos, visit) calls visit(PolicyId::durability, qos.durability) for each policy of an entity.
template <OneOf<DomainParticipantQos> Qos, typename Visitor>
void each_policy(Qos& qos, Visitor&& visit) {
  visit(PolicyId::user_data, qos.user_data);
  visit(PolicyId::entity_factory, qos.entity_factory);
}

template <OneOf<TopicQos> Qos, typename Visitor>
void each_policy(Qos& qos, Visitor&& visit) {
  visit(PolicyId::topic_data, qos.topic_data);
  visit(PolicyId::durability, qos.durability);
  visit(PolicyId::durability_service, qos.durability_service);
  visit(PolicyId::deadline, qos.deadline);
  visit(PolicyId::latency_budget, qos.latency_budget);
  visit(PolicyId::liveliness, qos.liveliness);
  visit(PolicyId::reliability, qos.reliability);
  visit(PolicyId::destination_order, qos.destination_order);
  visit(PolicyId::history, qos.history);
  visit(PolicyId::resource_limits, qos.resource_limits);
  visit(PolicyId::transport_priority, qos.transport_priority);
  visit(PolicyId::lifespan, qos.lifespan);
  visit(PolicyId::ownership, qos.ownership);
}

template <OneOf<PublisherQos> Qos, typename Visitor>
void each_policy(Qos& qos, Visitor&& visit) {
  visit(PolicyId::presentation, qos.presentation);
  visit(PolicyId::partition, qos.partition);
  visit(PolicyId::group_data, qos.group_data);
  visit(PolicyId::entity_factory, qos.entity_factory);
}

template <OneOf<SubscriberQos> Qos, typename Visitor>
void each_policy(Qos& qos, Visitor&& visit) {
  visit(PolicyId::presentation, qos.presentation);
  visit(PolicyId::partition, qos.partition);
  visit(PolicyId::group_data, qos.group_data);
  visit(PolicyId::entity_factory, qos.entity_factory);
}

template <OneOf<DataWriterQos> Qos, typename Visitor>
void each_policy(Qos& qos, Visitor&& visit) {
  visit(PolicyId::durability, qos.durability);
  visit(PolicyId::durability_service, qos.durability_service);
  visit(PolicyId::deadline, qos.deadline);
  visit(PolicyId::latency_budget, qos.latency_budget);
  visit(PolicyId::liveliness, qos.liveliness);
  visit(PolicyId::reliability, qos.reliability);
  visit(PolicyId::destination_order, qos.destination_order);
  visit(PolicyId::history, qos.history);
  visit(PolicyId::resource_limits, qos.resource_limits);
  visit(PolicyId::transport_priority, qos.transport_priority);
  visit(PolicyId::lifespan, qos.lifespan);
  visit(PolicyId::user_data, qos.user_data);
  visit(PolicyId::ownership, qos.ownership);
  visit(PolicyId::ownership_strength, qos.ownership_strength);
  visit(PolicyId::writer_data_lifecycle, qos.writer_data_lifecycle);
  visit(PolicyId::send_window, qos.send_window);
}

template <OneOf<DataReaderQos> Qos, typename Visitor>
void each_policy(Qos& qos, Visitor&& visit) {
  visit(PolicyId::durability, qos.durability);
  visit(PolicyId::deadline, qos.deadline);
  visit(PolicyId::latency_budget, qos.latency_budget);
  visit(PolicyId::liveliness, qos.liveliness);
  visit(PolicyId::reliability, qos.reliability);
  visit(PolicyId::destination_order, qos.destination_order);
  visit(PolicyId::history, qos.history);
  visit(PolicyId::resource_limits, qos.resource_limits);
  visit(PolicyId::user_data, qos.user_data);
  visit(PolicyId::ownership, qos.ownership);
  visit(PolicyId::time_based_filter, qos.time_based_filter);
  visit(PolicyId::reader_data_lifecycle, qos.reader_data_lifecycle);
}

/// Errc::invalid_argument if a policy is outside its range or two contradict each other (DDS 1.4, 2.2.3:
/// INCONSISTENT_POLICY). The sentence names the policy to change.
Status check_consistent(const DomainParticipantQos& qos);
Status check_consistent(const TopicQos& qos);
Status check_consistent(const PublisherQos& qos);
Status check_consistent(const SubscriberQos& qos);
Status check_consistent(const DataWriterQos& qos);
Status check_consistent(const DataReaderQos& qos);

/// Errc::incompatible if a policy differs that must not change once the entity is enabled (DDS 1.4, 2.2.3:
/// IMMUTABLE_POLICY): "HISTORY cannot be changed once the entity is enabled: it is KEEP_ALL, not KEEP_LAST,
/// depth 1".
Status check_changeable(const DomainParticipantQos& old_qos, const DomainParticipantQos& new_qos);
Status check_changeable(const TopicQos& old_qos, const TopicQos& new_qos);
Status check_changeable(const PublisherQos& old_qos, const PublisherQos& new_qos);
Status check_changeable(const SubscriberQos& old_qos, const SubscriberQos& new_qos);
Status check_changeable(const DataWriterQos& old_qos, const DataWriterQos& new_qos);
Status check_changeable(const DataReaderQos& old_qos, const DataReaderQos& new_qos);

/// "DURABILITY VOLATILE; RELIABILITY RELIABLE, max_blocking_time 100 ms; ...": all policies.
std::string to_string(const DomainParticipantQos& qos);
std::string to_string(const TopicQos& qos);
std::string to_string(const PublisherQos& qos);
std::string to_string(const SubscriberQos& qos);
std::string to_string(const DataWriterQos& qos);
std::string to_string(const DataReaderQos& qos);

/// Sets the policies that a topic, too, has to the topic's (DDS 1.4, 2.2.2.4.1.12: copy_from_topic_qos).
void copy_from_topic_qos(DataWriterQos& qos, const TopicQos& topic);
void copy_from_topic_qos(DataReaderQos& qos, const TopicQos& topic);

/// One policy in which a writer does not satisfy a reader, and why: what OFFERED_INCOMPATIBLE_QOS and
/// REQUESTED_INCOMPATIBLE_QOS report (DDS 1.4, 2.2.4.1).
struct Incompatibility {
  PolicyId policy;
  std::string reason;  ///< "reader requests RELIABLE, writer offers BEST_EFFORT"

  bool operator==(const Incompatibility&) const = default;
};

/// All RxO policies in which they do not fit, in the order of their ids; empty if they match. PARTITION is
/// not one of them: ends whose partitions_match() is false ignore each other in silence (DDS 1.4, 2.2.3.13).
std::vector<Incompatibility> incompatibilities(const DataWriterQos& offered, const PublisherQos& publisher,
                                               const DataReaderQos& requested,
                                               const SubscriberQos& subscriber);
/// As above, for ends whose publisher and subscriber have the defaults.
std::vector<Incompatibility> incompatibilities(const DataWriterQos& offered, const DataReaderQos& requested);

/// Puts the names of the ends into the sentences: "reader 'results' requests RELIABLE, writer 'rank 3' offers
/// BEST_EFFORT".
std::vector<Incompatibility> with_names(std::vector<Incompatibility> found, std::string_view writer,
                                        std::string_view reader);

/// "RELIABILITY: reader requests ...; DEADLINE: ...".
std::string to_string(const std::vector<Incompatibility>& found);

/// Errc::incompatible with all reasons in one sentence, or success.
Status check_compatible(const DataWriterQos& offered, const DataReaderQos& requested);

}  // namespace llamada::qos
