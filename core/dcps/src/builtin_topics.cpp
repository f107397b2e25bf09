#include "llamada/dcps/builtin_topics.hpp"

#include <cstring>

#include "builtin_types.hpp"

namespace llamada::dcps {
namespace {

// The fields one after another, in this machine's order: these samples never leave the process.
class Writer {
 public:
  template <typename Number>
  requires std::is_integral_v<Number>
  void put(Number value) { put_raw(&value, sizeof value); }
  void put(const InstanceHandle& handle) {
    put(handle.high);
    put(handle.low);
  }
  void put(std::span<const std::byte> bytes) {
    put(static_cast<std::uint32_t>(bytes.size()));
    put_raw(bytes.data(), bytes.size());
  }
  void put(const std::string& text) { put(std::as_bytes(std::span(text))); }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void put_raw(const void* data, std::size_t size) {
    const auto* first = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), first, first + size);
  }
  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <typename Number>
  requires std::is_integral_v<Number>
  void get(Number& value) {
    const auto raw = take(sizeof value);
    if (!raw.empty()) std::memcpy(&value, raw.data(), sizeof value);
  }
  void get(InstanceHandle& handle) {
    get(handle.high);
    get(handle.low);
  }
  std::span<const std::byte> get_bytes() {
    std::uint32_t size = 0;
    get(size);
    return take(size);
  }
  void get(std::vector<std::byte>& bytes) {
    const auto raw = get_bytes();
    bytes.assign(raw.begin(), raw.end());
  }
  void get(std::string& text) {
    const auto raw = get_bytes();
    text.assign(reinterpret_cast<const char*>(raw.data()), raw.size());
  }
  Result<qos::EndpointQos> get_qos() { return qos::deserialize(get_bytes()); }
  bool is_done() const { return good_ && bytes_.empty(); }

 private:
  std::span<const std::byte> take(std::size_t size) {
    if (size > bytes_.size()) good_ = false;
    if (!good_) return {};
    const auto taken = bytes_.first(size);
    bytes_ = bytes_.subspan(size);
    return taken;
  }
  std::span<const std::byte> bytes_;
  bool good_ = true;
};

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
  Writer writer;
  writer.put(data.key);
  writer.put(data.participant_key);
  writer.put(data.topic_name);
  writer.put(data.type_name);
  writer.put(std::span<const std::byte>(serialize(qos)));
  return writer.take();
}

template <typename Data>
Result<qos::EndpointQos> deserialize_endpoint(std::span<const std::byte> sample, Data& data) {
  Reader reader(sample);
  reader.get(data.key);
  reader.get(data.participant_key);
  reader.get(data.topic_name);
  reader.get(data.type_name);
  auto qos = reader.get_qos();
  if (!qos || !reader.is_done()) return malformed();
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
  Writer writer;
  writer.put(data.key);
  writer.put(std::span<const std::byte>(data.user_data));
  writer.put(data.name);
  writer.put(data.domain_id);
  writer.put(data.pid);
  return writer.take();
}

std::vector<std::byte> serialize_builtin(const TopicBuiltinTopicData& data) {
  Writer writer;
  writer.put(data.key);
  writer.put(data.name);
  writer.put(data.type_name);
  qos::DataWriterQos policies;
  copy_from_topic_qos(policies, data.qos);
  writer.put(std::span<const std::byte>(serialize(qos::endpoint_qos(policies, {}, data.qos.topic_data))));
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
  Reader reader(sample);
  ParticipantBuiltinTopicData data;
  reader.get(data.key);
  reader.get(data.user_data);
  reader.get(data.name);
  reader.get(data.domain_id);
  reader.get(data.pid);
  if (!reader.is_done()) return malformed();
  return data;
}

template <>
Result<TopicBuiltinTopicData> deserialize_builtin(std::span<const std::byte> sample) {
  Reader reader(sample);
  TopicBuiltinTopicData data;
  reader.get(data.key);
  reader.get(data.name);
  reader.get(data.type_name);
  auto qos = reader.get_qos();
  if (!qos || !reader.is_done()) return malformed();
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
  Writer writer;
  writer.put(handle);
  return writer.take();
}

Result<InstanceHandle> builtin_handle(std::span<const std::byte> key) {
  Reader reader(key);
  InstanceHandle handle;
  reader.get(handle);
  if (!reader.is_done()) return malformed();
  return handle;
}

}  // namespace llamada::dcps
