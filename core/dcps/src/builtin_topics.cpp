#include "llamada/dcps/builtin_topics.hpp"

#include "builtin_types.hpp"
#include "llamada/base/bytes.hpp"

namespace llamada::dcps {
namespace {

// These samples never leave the process.

void put(ByteWriter& to, const InstanceHandle& handle) {
  to.number(handle.high);
  to.number(handle.low);
}
InstanceHandle get_handle(ByteReader& from) {
  const auto high = from.number<decltype(InstanceHandle::high)>();
  return {high, from.number<decltype(InstanceHandle::low)>()};
}
std::vector<std::byte> get_bytes(ByteReader& from) {
  const auto bytes = from.block();
  return {bytes.begin(), bytes.end()};
}

tl::unexpected<Error> malformed() {
  return failure(Errc::parse_error, "these bytes are no sample of a built-in topic");
}

// The policies that a topic has in common with a writer.
template <typename To, typename From>
void copy_topic_policies(To& to, const From& from) {
  to.durability = from.durability;
  to.deadline = from.deadline;
  to.latency_budget = from.latency_budget;
  to.liveliness = from.liveliness;
  to.reliability = from.reliability;
  to.destination_order = from.destination_order;
  to.history = from.history;
  to.resource_limits = from.resource_limits;
  to.ownership = from.ownership;
  if constexpr (requires { from.lifespan, to.lifespan; }) {
    to.durability_service = from.durability_service;
    to.transport_priority = from.transport_priority;
    to.lifespan = from.lifespan;
  }
}

// What the data of a writer and of a reader have in common; their policies are those of the endpoint.
template <typename Data>
std::vector<std::byte> serialize_endpoint(const Data& data, const qos::EndpointQos& qos) {
  ByteWriter writer;
  put(writer, data.key);
  put(writer, data.participant_key);
  writer.text(data.topic_name);
  writer.text(data.type_name);
  writer.block(serialize(qos));
  return writer.take();
}

template <typename Data>
Result<qos::EndpointQos> deserialize_endpoint(std::span<const std::byte> sample, Data& data) {
  ByteReader reader(sample);
  data.key = get_handle(reader);
  data.participant_key = get_handle(reader);
  data.topic_name = reader.text();
  data.type_name = reader.text();
  auto qos = qos::deserialize(reader.block());
  if (!qos || !reader.is_complete()) return malformed();
  data.topic_data = qos->topic_data;
  return qos;
}

}  // namespace

qos::TopicQos topic_qos_of(const qos::EndpointQos& endpoint) {
  qos::TopicQos topic;
  topic.topic_data = endpoint.topic_data;
  if (endpoint.writer)
    copy_topic_policies(topic, endpoint.datawriter);
  else
    copy_topic_policies(topic, endpoint.datareader);
  return topic;
}

std::vector<std::byte> serialize_builtin(const ParticipantBuiltinTopicData& data) {
  ByteWriter writer;
  put(writer, data.key);
  writer.block(data.user_data);
  writer.text(data.name);
  writer.number(data.domain_id);
  writer.number(data.pid);
  return writer.take();
}

std::vector<std::byte> serialize_builtin(const TopicBuiltinTopicData& data) {
  ByteWriter writer;
  put(writer, data.key);
  writer.text(data.name);
  writer.text(data.type_name);
  qos::DataWriterQos policies;
  copy_from_topic_qos(policies, data.qos);
  writer.block(serialize(qos::endpoint_qos(policies, {}, data.qos.topic_data)));
  return writer.take();
}

std::vector<std::byte> serialize_builtin(const PublicationBuiltinTopicData& data) {
  return serialize_endpoint(data, qos::endpoint_qos(data.qos, data.publisher, data.topic_data));
}

std::vector<std::byte> serialize_builtin(const SubscriptionBuiltinTopicData& data) {
  return serialize_endpoint(data, qos::endpoint_qos(data.qos, data.subscriber, data.topic_data));
}

template <>
Result<ParticipantBuiltinTopicData> deserialize_builtin(std::span<const std::byte> sample) {
  ByteReader reader(sample);
  ParticipantBuiltinTopicData data;
  data.key = get_handle(reader);
  data.user_data = get_bytes(reader);
  data.name = reader.text();
  data.domain_id = reader.number<decltype(data.domain_id)>();
  data.pid = reader.number<decltype(data.pid)>();
  if (!reader.is_complete()) return malformed();
  return data;
}

template <>
Result<TopicBuiltinTopicData> deserialize_builtin(std::span<const std::byte> sample) {
  ByteReader reader(sample);
  TopicBuiltinTopicData data;
  data.key = get_handle(reader);
  data.name = reader.text();
  data.type_name = reader.text();
  auto qos = qos::deserialize(reader.block());
  if (!qos || !reader.is_complete()) return malformed();
  data.qos = topic_qos_of(*qos);
  return data;
}

template <>
Result<PublicationBuiltinTopicData> deserialize_builtin(std::span<const std::byte> sample) {
  PublicationBuiltinTopicData data;
  auto qos = deserialize_endpoint(sample, data);
  if (!qos) return propagate(qos);
  data.qos = qos->datawriter;
  data.publisher = qos->publisher;
  return data;
}

template <>
Result<SubscriptionBuiltinTopicData> deserialize_builtin(std::span<const std::byte> sample) {
  SubscriptionBuiltinTopicData data;
  auto qos = deserialize_endpoint(sample, data);
  if (!qos) return propagate(qos);
  data.qos = qos->datareader;
  data.subscriber = qos->subscriber;
  return data;
}

std::vector<std::byte> builtin_key(const InstanceHandle& handle) {
  ByteWriter writer;
  put(writer, handle);
  return writer.take();
}

Result<InstanceHandle> builtin_handle(std::span<const std::byte> key) {
  ByteReader reader(key);
  const InstanceHandle handle = get_handle(reader);
  if (!reader.is_complete()) return malformed();
  return handle;
}

}  // namespace llamada::dcps
