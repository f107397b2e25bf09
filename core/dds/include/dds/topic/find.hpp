#pragma once

#include "dds/topic/builtin.hpp"
#include "dds/topic/topic.hpp"

// Finding topics, and those of other participants (DDS 1.4, 2.2.2.2.1.11 to 2.2.2.2.1.13 and 2.2.2.2.1.29;
// ISO C++ PSM, 7.5.11).
namespace dds::topic {

namespace detail {
/// The state of a topic that the program has a reference to, or nullptr.
std::shared_ptr<TopicState> find_topic(const domain::DomainParticipant& participant, const std::string& name);
/// The policies of a topic of this name and type that somebody in the domain has; waits for one. Throws
/// TimeoutError.
llamada::qos::TopicQos await_topic(const domain::DomainParticipant& participant, const std::string& name,
                                   const std::string& type_name, const core::Duration& at_most);
}  // namespace detail

/// The topic of this name that the participant has, a Topic<T> or an AnyTopic; null: there is none. Throws
/// InvalidDowncastError if it is of another type.
template <typename TopicType>
TopicType find(const domain::DomainParticipant& participant, const std::string& name) {
  TopicType found(detail::find_topic(participant, name));
  if (!found.is_nil()) detail::check_type<TopicType>(*found.native().type());
  return found;
}

/// Returns the participant's topic of this name, a Topic<T>. If there is none, it waits until another
/// participant has one with this type's name, and makes one with the same policies. Throws TimeoutError, and
/// InvalidDowncastError like find().
template <typename TopicType>
TopicType discover(const domain::DomainParticipant& participant, const std::string& name,
                   const core::Duration& at_most = core::Duration::infinite()) {
  using T = typename TopicType::DataType;
  TopicType found = find<TopicType>(participant, name);
  if (!found.is_nil()) return found;
  return TopicType(participant, name,
                   detail::await_topic(participant, name, topic_type_name<T>::value(), at_most));
}

/// The topics that the participant has discovered, for discover_topic_data().
core::InstanceHandleSeq discover_topics(const domain::DomainParticipant& participant);
/// Throws InvalidArgumentError for a topic that is not known.
TopicBuiltinTopicData discover_topic_data(const domain::DomainParticipant& participant,
                                          const core::InstanceHandle& topic);
/// Returns the data of all topics.
std::vector<TopicBuiltinTopicData> discover_topic_data(const domain::DomainParticipant& participant);

/// From now on the participant does as if nobody else wrote or read this topic.
inline void ignore(const domain::DomainParticipant& participant, const core::InstanceHandle& topic) {
  core::detail::value_of(participant.native().ignore_topic(topic.native()));
}
/// Ignores several.
template <typename Iterator>
void ignore(const domain::DomainParticipant& participant, Iterator begin, Iterator end) {
  for (Iterator each = begin; each != end; ++each) topic::ignore(participant, *each);
}

}  // namespace dds::topic
