// Making and deleting entities: what the templates of the API have in common.

#include "dds/pub/pub.hpp"
#include "dds/sub/sub.hpp"

namespace dds {

using core::detail::value_of;

namespace core::detail {

void EntityState::close() {
  if (is_closed_.load(std::memory_order_acquire)) return;
  if (made_.holds() && !entity_->is_deleted()) value_of(remove());
  is_closed_.store(true, std::memory_order_release);
  self_.reset();
}

void EntityState::close_silently() noexcept {
  if (!is_closed_.exchange(true) && made_.holds()) static_cast<void>(remove().has_value());
}

}  // namespace core::detail

namespace {

template <typename Native>
std::shared_ptr<Native> native_of(const core::detail::EntityState& state) {
  return std::static_pointer_cast<Native>(state.shared_entity());
}

/// The state of a new entity.
template <typename State, typename Listening, typename... Arguments>
std::shared_ptr<State> make_state(Listening& listening, Arguments&&... arguments) {
  auto state = std::make_shared<State>(std::forward<Arguments>(arguments)...);
  state->adopt(std::move(listening.adapter));
  core::detail::make_known(state);
  return state;
}

}  // namespace

namespace domain::detail {

pub::qos::DataWriterQos ParticipantState::default_datawriter_qos() const {
  const std::lock_guard held(mutex_);
  return default_datawriter_qos_;
}

void ParticipantState::default_datawriter_qos(const pub::qos::DataWriterQos& qos) {
  value_of(llamada::dcps::check_creatable(qos.native()));
  const std::lock_guard held(mutex_);
  default_datawriter_qos_ = qos;
}

sub::qos::DataReaderQos ParticipantState::default_datareader_qos() const {
  const std::lock_guard held(mutex_);
  return default_datareader_qos_;
}

void ParticipantState::default_datareader_qos(const sub::qos::DataReaderQos& qos) {
  value_of(llamada::dcps::check_creatable(qos.native()));
  const std::lock_guard held(mutex_);
  default_datareader_qos_ = qos;
}

}  // namespace domain::detail

namespace topic::detail {

std::shared_ptr<TopicState> create_topic(const domain::DomainParticipant& participant,
                                         const std::string& name,
                                         std::shared_ptr<const llamada::types::TypeSupport> type,
                                         const llamada::qos::TopicQos& qos, TopicListening listening) {
  const core::detail::Making making;
  auto native = value_of(
      participant.native().create_topic(name, std::move(type), qos, listening.adapter.get(), listening.mask));
  if (auto known = core::detail::known_state(*native)) {
    value_of(participant.native().delete_topic(native));  // which counts how often it was created
    return std::static_pointer_cast<TopicState>(known);
  }
  return make_state<TopicState>(listening, participant.shared_state(), std::move(native));
}

llamada::Status TopicState::remove() {
  return native_of<llamada::dcps::DomainParticipant>(*participant_)
      ->delete_topic(native_of<llamada::dcps::Topic>(*this));
}

std::shared_ptr<FilteredTopicState> create_filtered(const std::shared_ptr<TopicState>& related,
                                                    const std::string& name, const std::string& expression,
                                                    const std::vector<std::string>& parameters) {
  if (!related) throw core::NullReferenceError("the topic is null");
  auto& participant = static_cast<llamada::dcps::DomainParticipant&>(related->participant()->entity());
  auto native = value_of(participant.create_contentfilteredtopic(
      name, native_of<llamada::dcps::Topic>(*related), expression, parameters));
  return std::make_shared<FilteredTopicState>(related, std::move(native));
}

FilteredTopicState::~FilteredTopicState() {
  if (!made_.holds()) {
    llamada::keep_for_good(std::move(native_));
    return;
  }
  const auto participant = native_of<llamada::dcps::DomainParticipant>(*related_->participant());
  static_cast<void>(participant->delete_contentfilteredtopic(native_).has_value());
}

}  // namespace topic::detail

namespace pub::detail {

llamada::Status PublisherState::remove() {
  const auto native = native_of<llamada::dcps::Publisher>(*this);
  if (auto status = native->delete_contained_entities(); !status) return status;
  return native_of<llamada::dcps::DomainParticipant>(*participant_)->delete_publisher(native);
}

std::shared_ptr<WriterState> create_writer(const std::shared_ptr<PublisherState>& publisher,
                                           const std::shared_ptr<topic::detail::TopicState>& topic,
                                           const llamada::qos::DataWriterQos& qos,
                                           WriterListening listening) {
  if (!publisher || !topic) throw core::NullReferenceError("the publisher or the topic is null");
  auto& native = static_cast<llamada::dcps::Publisher&>(publisher->entity());
  const core::detail::Making making;
  auto writer = value_of(native.create_datawriter(native_of<llamada::dcps::Topic>(*topic), qos,
                                                  listening.adapter.get(), listening.mask));
  return make_state<WriterState>(listening, publisher, topic, std::move(writer));
}

llamada::Status WriterState::remove() {
  return native_of<llamada::dcps::Publisher>(*publisher_)
      ->delete_datawriter(native_of<llamada::dcps::DataWriter>(*this));
}

}  // namespace pub::detail

namespace sub::detail {

llamada::Status SubscriberState::remove() {
  const auto native = native_of<llamada::dcps::Subscriber>(*this);
  if (auto status = native->delete_contained_entities(); !status) return status;
  return native_of<llamada::dcps::DomainParticipant>(*participant_)->delete_subscriber(native);
}

std::shared_ptr<ReaderState> create_reader(const std::shared_ptr<SubscriberState>& subscriber,
                                           Description description, const llamada::qos::DataReaderQos& qos,
                                           ReaderListening listening) {
  if (!subscriber || !description) throw core::NullReferenceError("the subscriber or the topic is null");
  auto& native = static_cast<llamada::dcps::Subscriber&>(subscriber->entity());
  const core::detail::Making making;
  auto reader = value_of(
      native.create_datareader(description->description(), qos, listening.adapter.get(), listening.mask));
  return make_state<ReaderState>(listening, subscriber, std::move(description), std::move(reader));
}

llamada::Status ReaderState::remove() {
  if (!description_->topic())
    return failure(llamada::Errc::precondition_not_met,
                   "the readers of the built-in topics go with their participant");
  return native_of<llamada::dcps::Subscriber>(*subscriber_)
      ->delete_datareader_and_conditions(native_of<llamada::dcps::DataReader>(*this));
}

TemporaryQuery::TemporaryQuery(llamada::dcps::DataReader& reader, const llamada::dcps::DataState& state,
                               const Query& query)
    : reader_(reader),
      condition_(value_of(reader.create_querycondition(state, query.expression(), query.parameters()))) {}

TemporaryQuery::~TemporaryQuery() { static_cast<void>(reader_.delete_readcondition(condition_).has_value()); }

}  // namespace sub::detail

}  // namespace dds
