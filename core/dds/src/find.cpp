// Entities by the names of their topics.

#include <thread>

#include "dds/domain/find.hpp"
#include "dds/pub/find.hpp"
#include "dds/sub/find.hpp"
#include "dds/topic/find.hpp"

namespace dds {

namespace {

/// The references' state of each of these, if they have one and `wanted` likes them.
template <typename State, typename Native, typename Predicate>
std::vector<std::shared_ptr<State>> states_of(const std::vector<std::shared_ptr<Native>>& all,
                                              Predicate&& wanted) {
  std::vector<std::shared_ptr<State>> found;
  for (const auto& each : all) {
    if (!wanted(*each)) continue;
    if (auto state = core::detail::known_state(*each))
      found.push_back(std::static_pointer_cast<State>(std::move(state)));
  }
  return found;
}

core::InstanceHandleSeq handles_of(const std::vector<llamada::dcps::InstanceHandle>& natives) {
  core::InstanceHandleSeq handles;
  for (const auto& each : natives) handles.emplace_back(each);
  return handles;
}

bool is_builtin(const sub::Subscriber& subscriber) {
  return subscriber.participant().native().builtin_subscriber().get() == &subscriber.native();
}

/// Nobody makes the states of the readers of built-in topics but who looks for them.
void make_builtin_known(const sub::Subscriber& subscriber,
                        const std::shared_ptr<llamada::dcps::DataReader>& reader,
                        std::vector<std::shared_ptr<sub::detail::ReaderState>>& keep) {
  if (core::detail::known_state(*reader)) return;
  auto description = std::make_shared<sub::detail::BuiltinDescription>(subscriber.state().participant(),
                                                                       reader->topicdescription());
  keep.push_back(
      std::make_shared<sub::detail::ReaderState>(subscriber.shared_state(), std::move(description), reader));
  core::detail::make_known(keep.back());
}

template <typename Predicate>
std::vector<std::shared_ptr<sub::detail::ReaderState>> find_readers(
    const sub::Subscriber& subscriber, const std::vector<std::shared_ptr<llamada::dcps::DataReader>>& all,
    Predicate&& wanted) {
  std::vector<std::shared_ptr<sub::detail::ReaderState>> keep;
  if (is_builtin(subscriber))
    for (const auto& each : all) make_builtin_known(subscriber, each, keep);
  return states_of<sub::detail::ReaderState>(all, wanted);
}

}  // namespace

namespace topic::detail {

std::shared_ptr<TopicState> find_topic(const domain::DomainParticipant& participant,
                                       const std::string& name) {
  const auto found =
      std::dynamic_pointer_cast<llamada::dcps::Topic>(participant.native().lookup_topicdescription(name));
  if (!found) return nullptr;
  return std::static_pointer_cast<TopicState>(core::detail::known_state(*found));
}

llamada::qos::TopicQos await_topic(const domain::DomainParticipant& participant, const std::string& name,
                                   const std::string& type_name, const core::Duration& at_most) {
  // Discovery tells the built-in readers, whose news belong to the program.
  constexpr auto interval = std::chrono::milliseconds(2);
  const auto begin = std::chrono::steady_clock::now();
  while (true) {
    for (const auto& each : discover_topic_data(participant))
      if (each.name() == name && each.type_name() == type_name) return each.native().qos;
    if (std::chrono::steady_clock::now() - begin >= at_most.to_chrono())
      throw core::TimeoutError("no participant has a topic '" + name + "' of the type " + type_name);
    std::this_thread::sleep_for(interval);
  }
}

}  // namespace topic::detail

namespace topic {

core::InstanceHandleSeq discover_topics(const domain::DomainParticipant& participant) {
  return handles_of(participant.native().discovered_topics());
}

TopicBuiltinTopicData discover_topic_data(const domain::DomainParticipant& participant,
                                          const core::InstanceHandle& topic) {
  return TopicBuiltinTopicData(
      core::detail::value_of(participant.native().discovered_topic_data(topic.native())));
}

std::vector<TopicBuiltinTopicData> discover_topic_data(const domain::DomainParticipant& participant) {
  std::vector<TopicBuiltinTopicData> all;
  for (const auto& each : participant.native().discovered_topics())
    if (auto data = participant.native().discovered_topic_data(each)) all.emplace_back(std::move(*data));
  return all;
}

}  // namespace topic

namespace domain {

core::InstanceHandleSeq discovered_participants(const DomainParticipant& participant) {
  return handles_of(participant.native().discovered_participants());
}

topic::ParticipantBuiltinTopicData discovered_participant_data(const DomainParticipant& participant,
                                                               const core::InstanceHandle& other) {
  return topic::ParticipantBuiltinTopicData(
      core::detail::value_of(participant.native().discovered_participant_data(other.native())));
}

}  // namespace domain

namespace pub {

std::vector<std::shared_ptr<detail::WriterState>> detail::find_writers(const Publisher& publisher,
                                                                       const std::string& topic_name) {
  return states_of<WriterState>(publisher.native().datawriters(), [&](llamada::dcps::DataWriter& each) {
    return each.topic()->name() == topic_name;
  });
}

core::InstanceHandleSeq matched_subscriptions(const AnyDataWriter& writer) {
  return handles_of(writer.native().matched_subscriptions());
}

}  // namespace pub

namespace sub {

std::shared_ptr<detail::SubscriberState> detail::builtin_subscriber(
    const domain::DomainParticipant& participant) {
  auto native = participant.native().builtin_subscriber();
  if (!native) throw core::NotEnabledError("the participant is not enabled, or was closed");
  if (auto known = core::detail::known_state(*native))
    return std::static_pointer_cast<SubscriberState>(known);
  auto state = std::make_shared<SubscriberState>(participant.shared_state(), std::move(native));
  core::detail::make_known(state);
  return state;
}

std::vector<std::shared_ptr<detail::ReaderState>> detail::find_readers(const Subscriber& subscriber,
                                                                       const std::string& topic_name) {
  return dds::find_readers(
      subscriber, subscriber.native().datareaders(),
      [&](llamada::dcps::DataReader& each) { return each.topicdescription()->name() == topic_name; });
}

std::vector<std::shared_ptr<detail::ReaderState>> detail::find_readers(const Subscriber& subscriber,
                                                                       const status::DataState& state) {
  return dds::find_readers(subscriber,
                           core::detail::value_of(subscriber.native().datareaders(state.native())),
                           [](llamada::dcps::DataReader&) { return true; });
}

core::InstanceHandleSeq matched_publications(const AnyDataReader& reader) {
  return handles_of(reader.native().matched_publications());
}

}  // namespace sub

}  // namespace dds
