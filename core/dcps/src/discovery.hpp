#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core.hpp"
#include "llamada/dcps/builtin_topics.hpp"
#include "llamada/dcps/domain_participant.hpp"

namespace llamada::dcps {

/// What a participant knows of the domain, its own entities included: told by topics::Participant, it fills
/// the built-in topics and finds topics that contradict each other. The built-in topics tell nothing of the
/// participant's own entities (DDS 1.4, 2.2.5). With the participant's lock held.
class DomainParticipant::Discovery final : public topics::DiscoveryEvents {
 public:
  explicit Discovery(DomainParticipant& participant) : participant_(participant) {}

  void on_participant(const topics::ParticipantInfo& participant) override;
  void on_participant_gone(std::uint64_t id) override;
  void on_endpoint(const topics::EndpointInfo& endpoint) override;
  void on_endpoint_changed(const topics::EndpointInfo& endpoint) override;
  void on_endpoint_gone(const topics::EndpointId& endpoint) override;

  const std::map<InstanceHandle, ParticipantBuiltinTopicData>& participants() const { return participants_; }
  const std::map<InstanceHandle, TopicBuiltinTopicData>& topics() const { return topics_; }
  const std::map<topics::EndpointId, topics::EndpointInfo>& endpoints() const { return endpoints_; }

  /// The handle of the entity that `handle` means: its own, or that of its instance in a built-in topic.
  /// handle_nil: none that is known.
  InstanceHandle find_participant(InstanceHandle handle) const;
  InstanceHandle find_endpoint(InstanceHandle handle, bool writer) const;
  InstanceHandle find_topic(InstanceHandle handle) const;

 private:
  template <typename Data>
  void tell(const char* topic, const Data& data);
  void tell_gone(const char* topic, InstanceHandle key);
  void tell_endpoint(const topics::EndpointInfo& endpoint);
  void look_at_topic(const topics::EndpointInfo& endpoint);
  void forget_topic(const topics::EndpointInfo& endpoint);
  bool is_own(std::uint64_t participant) const {
    return participant == participant_.core().participant().id();
  }

  DomainParticipant& participant_;
  std::map<InstanceHandle, ParticipantBuiltinTopicData> participants_;
  std::map<topics::EndpointId, topics::EndpointInfo> endpoints_;
  std::map<InstanceHandle, TopicBuiltinTopicData> topics_;
  std::map<InstanceHandle, std::size_t> topic_uses_;  // how many endpoints have it
  std::set<InstanceHandle> told_topics_;              // those that the built-in topic has
};

}  // namespace llamada::dcps
