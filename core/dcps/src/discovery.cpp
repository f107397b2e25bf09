#include "discovery.hpp"

#include "builtin_types.hpp"
#include "endpoint_statuses.hpp"

namespace llamada::dcps {
namespace {

topics::Sample builtin_sample(InstanceHandle key, topics::ChangeKind kind, Timestamp timestamp,
                              std::vector<std::byte> payload) {
  topics::SampleHeader header;
  header.source_timestamp_ns = timestamp.count();
  header.instance = builtin_key_hash(key);
  header.kind = kind;
  return topics::Sample::owning(header, std::move(payload));
}

InstanceHandle topic_handle(const std::string& name, const std::string& type) {
  return {types::hash64(type) | 1, types::hash64(name)};
}

// Whether `handle` is the entity's own or the one it has in a built-in topic.
bool means(InstanceHandle handle, InstanceHandle entity) {
  return handle == entity || handle == instance_handle(builtin_key_hash(entity));
}

}  // namespace

template <typename Data>
void DomainParticipant::Discovery::tell(const char* topic, const Data& data) {
  participant_.inject(topic, builtin_sample(data.key, topics::ChangeKind::alive,
                                            participant_.core().now().realtime, serialize_builtin(data)));
}

void DomainParticipant::Discovery::tell_gone(const char* topic, InstanceHandle key) {
  participant_.inject(topic, builtin_sample(key, topics::ChangeKind::disposed_unregistered,
                                            participant_.core().now().realtime, builtin_key(key)));
}

void DomainParticipant::Discovery::on_participant(const topics::ParticipantInfo& participant) {
  ParticipantBuiltinTopicData data;
  data.key = participant_handle(participant.id);
  data.user_data = participant.user_data;
  data.name = participant.name;
  data.domain_id = participant.domain;
  data.pid = participant.pid;
  participants_[data.key] = data;
  if (!is_own(participant.id) && !participant_.core().ignored().has(data.key))
    tell(builtin_participant_topic, data);
}

void DomainParticipant::Discovery::on_participant_gone(std::uint64_t id) {
  if (participants_.erase(participant_handle(id)) > 0 && !is_own(id))
    tell_gone(builtin_participant_topic, participant_handle(id));
}

void DomainParticipant::Discovery::on_endpoint(const topics::EndpointInfo& endpoint) {
  endpoints_[endpoint.id] = endpoint;
  ++topic_uses_[topic_handle(endpoint.topic, endpoint.type)];
  if (participant_.core().ignored().has(endpoint)) return;
  look_at_topic(endpoint);
  tell_endpoint(endpoint);
}

void DomainParticipant::Discovery::on_endpoint_changed(const topics::EndpointInfo& endpoint) {
  endpoints_[endpoint.id] = endpoint;
  if (!participant_.core().ignored().has(endpoint)) tell_endpoint(endpoint);
}

void DomainParticipant::Discovery::on_endpoint_gone(const topics::EndpointId& endpoint) {
  auto found = endpoints_.find(endpoint);
  if (found == endpoints_.end()) return;
  const topics::EndpointInfo gone = std::move(found->second);
  endpoints_.erase(found);
  forget_topic(gone);
  if (!is_own(endpoint.participant))
    tell_gone(gone.writer ? builtin_publication_topic : builtin_subscription_topic, handle_of(endpoint));
}

void DomainParticipant::Discovery::tell_endpoint(const topics::EndpointInfo& endpoint) {
  if (is_own(endpoint.id.participant)) return;
  if (endpoint.writer)
    tell(builtin_publication_topic, publication_data(endpoint));
  else
    tell(builtin_subscription_topic, subscription_data(endpoint));
}

// A topic is told once; a local one of the same name with another type does not fit.
void DomainParticipant::Discovery::look_at_topic(const topics::EndpointInfo& endpoint) {
  TopicBuiltinTopicData data{topic_handle(endpoint.topic, endpoint.type), endpoint.topic, endpoint.type,
                             topic_qos_of(endpoint.qos)};
  topics_.emplace(data.key, data);
  if (!is_own(endpoint.id.participant) && told_topics_.insert(data.key).second)
    tell(builtin_topic_topic, data);
  participant_.check_consistent_topic(endpoint);
}

// It is there as long as it has endpoints.
void DomainParticipant::Discovery::forget_topic(const topics::EndpointInfo& endpoint) {
  const InstanceHandle key = topic_handle(endpoint.topic, endpoint.type);
  const auto uses = topic_uses_.find(key);
  if (uses == topic_uses_.end() || --uses->second > 0) return;
  topic_uses_.erase(uses);
  topics_.erase(key);
  if (told_topics_.erase(key) > 0) tell_gone(builtin_topic_topic, key);
}

InstanceHandle DomainParticipant::Discovery::find_participant(InstanceHandle handle) const {
  for (const auto& [key, data] : participants_) {
    if (means(handle, key)) return key;
  }
  return handle_nil;
}

InstanceHandle DomainParticipant::Discovery::find_endpoint(InstanceHandle handle, bool writer) const {
  for (const auto& [id, endpoint] : endpoints_) {
    if (endpoint.writer == writer && means(handle, handle_of(id))) return handle_of(id);
  }
  return handle_nil;
}

InstanceHandle DomainParticipant::Discovery::find_topic(InstanceHandle handle) const {
  for (const auto& [key, data] : topics_) {
    if (means(handle, key)) return key;
  }
  return handle_nil;
}

}  // namespace llamada::dcps
