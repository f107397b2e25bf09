#pragma once

#include "dds/domain/domain.hpp"
#include "dds/topic/listener.hpp"
#include "dds/topic/representation.hpp"

namespace dds::topic {

/// Types that LLAMADA_TYPE describes.
template <typename T>
struct is_topic_type : std::bool_constant<llamada::types::DescribedStruct<T>> {};

template <typename T>
struct topic_type_name {
  static const std::string& value() { return detail::Representation<T>::type_name(); }
};

namespace detail {

using Participant = std::shared_ptr<domain::detail::ParticipantState>;

class TopicState final : public core::detail::ConfiguredState<llamada::dcps::Topic> {
 public:
  TopicState(Participant participant, std::shared_ptr<llamada::dcps::Topic> native)
      : ConfiguredState(std::move(native)), participant_(std::move(participant)) {}
  ~TopicState() override { close_silently(); }
  const Participant& participant() const { return participant_; }

 private:
  llamada::Status remove() override;
  Participant participant_;
};

using TopicListening = core::detail::Listening<llamada::dcps::TopicListener>;

/// The state of a topic that this participant has already is that one's.
std::shared_ptr<TopicState> create_topic(const domain::DomainParticipant& participant,
                                         const std::string& name,
                                         std::shared_ptr<const llamada::types::TypeSupport> type,
                                         const llamada::qos::TopicQos& qos, TopicListening listening);

/// The state of a topic that the program has a reference to, or nullptr.
std::shared_ptr<TopicState> find_topic(const domain::DomainParticipant& participant, const std::string& name);

/// `Typed` is a Topic<T>, a DataReader<T> or a DataWriter<T>, or the same of any type. Throws
/// InvalidDowncastError if the entity is of another type.
template <typename Typed>
void check_type(const llamada::types::TypeSupport& type) {
  if constexpr (requires { typename Typed::DataType; }) {
    using Wanted = Representation<typename Typed::DataType>;
    if (!Wanted::is_of(type))
      throw core::InvalidDowncastError("the topic has the type " + type.name() + ", not this " +
                                       Wanted::type_name());
  }
}

/// A topic with an expression, which readers see in the topic's stead. Keeps the topic.
class FilteredTopicState {
 public:
  FilteredTopicState(std::shared_ptr<TopicState> related,
                     std::shared_ptr<llamada::dcps::ContentFilteredTopic> native)
      : related_(std::move(related)), native_(std::move(native)) {}
  FilteredTopicState(const FilteredTopicState&) = delete;
  FilteredTopicState& operator=(const FilteredTopicState&) = delete;
  ~FilteredTopicState();

  const std::shared_ptr<TopicState>& related() const { return related_; }
  const std::shared_ptr<llamada::dcps::ContentFilteredTopic>& native() const { return native_; }

 private:
  std::shared_ptr<TopicState> related_;
  std::shared_ptr<llamada::dcps::ContentFilteredTopic> native_;
};

std::shared_ptr<FilteredTopicState> create_filtered(const std::shared_ptr<TopicState>& related,
                                                    const std::string& name, const std::string& expression,
                                                    const std::vector<std::string>& parameters);

}  // namespace detail

/// A topic of any type.
class AnyTopic : public core::ConfiguredReference<detail::TopicState, llamada::dcps::Topic, qos::TopicQos> {
 public:
  using ConfiguredReference::ConfiguredReference;

  const std::string& name() const { return native().name(); }
  const std::string& type_name() const { return native().type_name(); }
  domain::DomainParticipant domain_participant() const {
    return domain::DomainParticipant(state().participant());
  }
  core::status::InconsistentTopicStatus inconsistent_topic_status() {
    return core::status::InconsistentTopicStatus(native().inconsistent_topic_status());
  }
  /// As what it is. Throws InvalidDowncastError if it is of another type.
  template <typename T>
  Topic<T> get() const {
    detail::check_type<Topic<T>>(*native().type());
    return Topic<T>(shared_state());
  }
};

/// A name and a type that writers and readers have in common (DDS 1.4, 2.2.2.3.2; ISO C++ PSM, 7.5.11). A
/// topic that this participant has already is the same topic; one that has a listener must be the first.
template <typename T>
class Topic : public AnyTopic {
 public:
  static_assert(is_topic_type<T>::value, "the type needs LLAMADA_TYPE");
  using DataType = T;
  using Listener = TopicListener<T>;
  using AnyTopic::AnyTopic;

  Topic(const domain::DomainParticipant& participant, const std::string& name)
      : Topic(participant, name, participant.native().default_topic_qos()) {}
  Topic(const domain::DomainParticipant& participant, const std::string& name, const qos::TopicQos& qos,
        Listener* listener = nullptr, const core::status::StatusMask& mask = core::status::StatusMask::all())
      : AnyTopic(
            detail::create_topic(participant, name, llamada::types::shared_type_support<T>(), qos.native(),
                                 {core::detail::adapt<detail::TopicAdapter<T>>(listener), mask.native()})) {}

  /// nullptr: none. The listener must outlive the topic, or the time that it is set.
  void listener(Listener* listener, const core::status::StatusMask& mask) {
    this->state().listen({core::detail::adapt<detail::TopicAdapter<T>>(listener), mask.native()});
  }
  Listener* listener() const { return this->state().template heard_by<detail::TopicAdapter<T>>(); }
};

/// The topic of this name that the participant has, a Topic<T> or an AnyTopic; null: there is none. Throws
/// InvalidDowncastError if it is of another type.
template <typename TopicType>
TopicType find(const domain::DomainParticipant& participant, const std::string& name) {
  TopicType found(detail::find_topic(participant, name));
  if (!found.is_nil()) detail::check_type<TopicType>(*found.native().type());
  return found;
}

/// From now on the participant does as if nobody else wrote or read this topic.
inline void ignore(domain::DomainParticipant& participant, const core::InstanceHandle& topic) {
  core::detail::value_of(participant.native().ignore_topic(topic.native()));
}

/// The expression and parameters of a ContentFilteredTopic: "value > %0 AND text LIKE 'a%'" (DDS 1.4, Annex
/// B).
class Filter {
 public:
  Filter(std::string expression) : expression_(std::move(expression)) {}  // NOLINT: implicit by intent
  Filter(const char* expression) : expression_(expression) {}             // NOLINT: implicit by intent
  Filter(std::string expression, core::StringSeq parameters)
      : expression_(std::move(expression)), parameters_(std::move(parameters)) {}

  const std::string& expression() const { return expression_; }
  const core::StringSeq& parameters() const { return parameters_; }
  void parameters(core::StringSeq parameters) { parameters_ = std::move(parameters); }
  void add_parameter(std::string parameter) { parameters_.push_back(std::move(parameter)); }

 private:
  std::string expression_;
  core::StringSeq parameters_;
};

/// A Topic of which only the samples that match are of interest (DDS 1.4, 2.2.2.3.3). An expression that is
/// wrong throws InvalidArgumentError, with the column.
template <typename T>
class ContentFilteredTopic : public core::Reference<detail::FilteredTopicState> {
 public:
  using DataType = T;
  using Reference::Reference;

  ContentFilteredTopic(const Topic<T>& topic, const std::string& name, const Filter& filter)
      : Reference(
            detail::create_filtered(topic.shared_state(), name, filter.expression(), filter.parameters())) {}

  const std::string& name() const { return state().native()->name(); }
  const std::string& type_name() const { return state().native()->type_name(); }
  dds::topic::Topic<T> topic() const { return dds::topic::Topic<T>(state().related()); }
  std::string filter_expression() const { return state().native()->filter_expression(); }
  core::StringSeq filter_parameters() const { return state().native()->expression_parameters(); }
  /// For samples that arrive from now on.
  void filter_parameters(const core::StringSeq& parameters) {
    core::detail::value_of(state().native()->set_expression_parameters(parameters));
  }
};

}  // namespace dds::topic
