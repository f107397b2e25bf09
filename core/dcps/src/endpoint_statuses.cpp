#include "endpoint_statuses.hpp"

#include "domain_handles.hpp"

namespace llamada::dcps {

void count_incompatible(IncompatibleQosStatus& status, const std::vector<qos::Incompatibility>& why) {
  if (why.empty()) return;
  status.add();
  status.last_policy_id = why.front().policy;
  status.last_reason = why.front().reason;
  for (const qos::Incompatibility& each : why) {
    auto known = std::find_if(status.policies.begin(), status.policies.end(),
                              [&](const QosPolicyCount& count) { return count.policy == each.policy; });
    if (known == status.policies.end()) known = status.policies.insert(known, {each.policy, 0});
    ++known->count;
  }
}

PublicationBuiltinTopicData publication_data(const topics::EndpointInfo& writer) {
  return {handle_of(writer.id),  participant_handle(writer.id.participant),
          writer.topic,          writer.type,
          writer.qos.datawriter, writer.qos.publisher,
          writer.qos.topic_data};
}

SubscriptionBuiltinTopicData subscription_data(const topics::EndpointInfo& reader) {
  return {handle_of(reader.id),  participant_handle(reader.id.participant),
          reader.topic,          reader.type,
          reader.qos.datareader, reader.qos.subscriber,
          reader.qos.topic_data};
}

}  // namespace llamada::dcps
