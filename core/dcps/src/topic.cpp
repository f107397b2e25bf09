#include "llamada/dcps/topic.hpp"

#include <utility>

#include "core.hpp"
#include "listener_call.hpp"
#include "llamada/dcps/data_reader.hpp"
#include "llamada/dcps/data_writer.hpp"
#include "llamada/dcps/domain_participant.hpp"

namespace llamada::dcps {

Topic::Topic(std::shared_ptr<detail::Core> core, Entity* participant, std::string name,
             std::shared_ptr<const types::TypeSupport> type, const qos::TopicQos& qos)
    : ConfiguredEntity(std::move(core), participant, qos),
      TopicDescription(std::move(name), std::move(type)) {}

std::function<void(Listener&)> Topic::listener_call(StatusMask) {
  return call_of(topic(), &TopicListener::on_inconsistent_topic,
                 take_status(inconsistent_topic_, status::inconsistent_topic));
}

// TOPIC_DATA travels with the endpoints.
void Topic::on_qos_applied(Lock&) { core().entities().topic_changed(*this); }

// Endpoints that were discovered before count, too.
Status Topic::on_enable() {
  static_cast<DomainParticipant&>(*parent_).check_new_topic(*this);
  return {};
}

void Topic::check_consistent(const topics::EndpointInfo& endpoint) {
  const bool fits = endpoint.type == type_name() &&
                    (endpoint.type_hash == 0 || endpoint.type_hash == type()->descriptor_hash());
  if (endpoint.topic != name() || fits) return;
  inconsistent_topic_.add();
  raise(status::inconsistent_topic);
}

topics::EndpointSpec Topic::endpoint_spec(qos::EndpointQos qos, std::uint64_t group) const {
  topics::EndpointSpec spec;
  spec.topic = name();
  spec.type = type_name();
  spec.type_hash = type()->descriptor_hash();
  spec.type_description = type()->descriptor();
  spec.keyed = type()->is_keyed();
  spec.qos = std::move(qos);
  spec.publisher = group;
  return spec;
}

ContentFilteredTopic::ContentFilteredTopic(std::string name, std::shared_ptr<Topic> related,
                                           sql::Filter filter, std::shared_ptr<detail::Core> core)
    : TopicDescription(std::move(name), related->type()),
      core_(std::move(core)),
      related_(std::move(related)),
      filter_(std::move(filter)) {}

std::string ContentFilteredTopic::filter_expression() const {
  detail::Lock held = core_->lock();
  return filter_.expression();
}

std::vector<std::string> ContentFilteredTopic::expression_parameters() const {
  detail::Lock held = core_->lock();
  return filter_.parameters();
}

Status ContentFilteredTopic::set_expression_parameters(std::vector<std::string> parameters) {
  detail::Lock held = core_->lock();
  auto filter = filter_.with_parameters(parameters);
  if (!filter) return propagate(filter);
  filter_ = *filter;
  core_->entities().filter_changed(*this);
  return {};
}

}  // namespace llamada::dcps
