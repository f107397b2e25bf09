#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/dcps/instance_handle.hpp"
#include "llamada/qos/endpoint_qos.hpp"
#include "llamada/types/type_support.hpp"

namespace llamada::dcps {

/// The built-in topics (DDS 1.4, 2.2.5), read by the readers of DomainParticipant::builtin_subscriber().
/// Their samples are bytes of these structures, for deserialize_builtin(). The own participant and its
/// entities are not in them.
inline constexpr const char* builtin_participant_topic = "DCPSParticipant";
inline constexpr const char* builtin_topic_topic = "DCPSTopic";
inline constexpr const char* builtin_publication_topic = "DCPSPublication";
inline constexpr const char* builtin_subscription_topic = "DCPSSubscription";

struct ParticipantBuiltinTopicData {
  InstanceHandle key;
  std::vector<std::byte> user_data;
  // Beyond the standard:
  std::string name;
  std::uint32_t domain_id = 0;
  std::uint32_t pid = 0;

  bool operator==(const ParticipantBuiltinTopicData&) const = default;
};

/// A topic is known by its writers and readers: `qos` is that of the first one's that was seen.
struct TopicBuiltinTopicData {
  InstanceHandle key;
  std::string name;
  std::string type_name;
  qos::TopicQos qos;

  bool operator==(const TopicBuiltinTopicData&) const = default;
};

struct PublicationBuiltinTopicData {
  InstanceHandle key;
  InstanceHandle participant_key;
  std::string topic_name;
  std::string type_name;
  qos::DataWriterQos qos;
  qos::PublisherQos publisher;
  qos::TopicData topic_data;

  bool operator==(const PublicationBuiltinTopicData&) const = default;
};

struct SubscriptionBuiltinTopicData {
  InstanceHandle key;
  InstanceHandle participant_key;
  std::string topic_name;
  std::string type_name;
  qos::DataReaderQos qos;
  qos::SubscriberQos subscriber;
  qos::TopicData topic_data;

  bool operator==(const SubscriptionBuiltinTopicData&) const = default;
};

std::vector<std::byte> serialize_builtin(const ParticipantBuiltinTopicData& data);
std::vector<std::byte> serialize_builtin(const TopicBuiltinTopicData& data);
std::vector<std::byte> serialize_builtin(const PublicationBuiltinTopicData& data);
std::vector<std::byte> serialize_builtin(const SubscriptionBuiltinTopicData& data);

/// `Data` is one of the four structures. Errors: parse_error.
template <typename Data>
Result<Data> deserialize_builtin(std::span<const std::byte> sample);
template <>
Result<ParticipantBuiltinTopicData> deserialize_builtin(std::span<const std::byte> sample);
template <>
Result<TopicBuiltinTopicData> deserialize_builtin(std::span<const std::byte> sample);
template <>
Result<PublicationBuiltinTopicData> deserialize_builtin(std::span<const std::byte> sample);
template <>
Result<SubscriptionBuiltinTopicData> deserialize_builtin(std::span<const std::byte> sample);

}  // namespace llamada::dcps
