#pragma once

#include "dds/core/expression.hpp"
#include "dds/domain/domain.hpp"
#include "dds/topic/listener.hpp"
#include "dds/topic/representation.hpp"

namespace dds::topic {

template <typename T>
class ContentFilteredTopic;

/// Types that LLAMADA_TYPE describes.
template <typename T>
struct is_topic_type : std::bool_constant<llamada::types::DescribedStruct<T>> {};

template <typename T>
struct topic_type_name {
  static const std::string& value() { return detail::Representation<T>::type_name(); }
};

namespace detail {

using Participant = std::shared_ptr<domain::detail::ParticipantState>;

class TopicState;

/// The subject of a reader: a topic, filtered or not, or a built-in one.
class DescriptionState {
 public:
  DescriptionState() = default;
  DescriptionState(const DescriptionState&) = delete;
  DescriptionState& operator=(const DescriptionState&) = delete;
  virtual ~DescriptionState() = default;
  virtual const Participant& participant() const = 0;
  virtual std::shared_ptr<llamada::dcps::TopicDescription> description() const = 0;
  /// The topic itself, or the one that is filtered; of built-in topics nullptr.
  virtual std::shared_ptr<TopicState> topic() = 0;
};

class TopicState final : public core::detail::ConfiguredState<llamada::dcps::Topic>, public DescriptionState {
 public:
  TopicState(Participant participant, std::shared_ptr<llamada::dcps::Topic> native)
      : ConfiguredState(std::move(native)), participant_(std::move(participant)) {}
  ~TopicState() override { close_silently(); }
  const Participant& participant() const override { return participant_; }
  std::shared_ptr<llamada::dcps::TopicDescription> description() const override {
    return std::static_pointer_cast<llamada::dcps::Topic>(shared_entity());
  }
  std::shared_ptr<TopicState> topic() override {
    return std::static_pointer_cast<TopicState>(shared_from_this());
  }

 private:
  llamada::Status remove() override;
  Participant participant_;
};

/// Returns this type under another name.
std::shared_ptr<const llamada::types::TypeSupport> named_type(
    std::shared_ptr<const llamada::types::TypeSupport> type, const std::string& name);

using TopicListening = core::detail::Listening<llamada::dcps::TopicListener>;

/// The state of a topic that this participant has already is that one's.
std::shared_ptr<TopicState> create_topic(const domain::DomainParticipant& participant,
                                         const std::string& name,
                                         std::shared_ptr<const llamada::types::TypeSupport> type,
                                         const llamada::qos::TopicQos& qos, TopicListening listening);

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
class FilteredTopicState final : public DescriptionState {
 public:
  FilteredTopicState(std::shared_ptr<TopicState> related,
                     std::shared_ptr<llamada::dcps::ContentFilteredTopic> native)
      : related_(std::move(related)), native_(std::move(native)) {}
  ~FilteredTopicState() override;
  const Participant& participant() const override { return related_->participant(); }
  std::shared_ptr<llamada::dcps::TopicDescription> description() const override { return native_; }
  std::shared_ptr<TopicState> topic() override { return related_; }
  /// Throws PreconditionNotMetError in a child of fork().
  const std::shared_ptr<llamada::dcps::ContentFilteredTopic>& native() const {
    core::detail::value_of(made_.check());
    return native_;
  }

 private:
  const llamada::MadeHere made_;
  std::shared_ptr<TopicState> related_;
  std::shared_ptr<llamada::dcps::ContentFilteredTopic> native_;
};

std::shared_ptr<FilteredTopicState> create_filtered(const std::shared_ptr<TopicState>& related,
                                                    const std::string& name, const std::string& expression,
                                                    const std::vector<std::string>& parameters);

}  // namespace detail

/// The subject of a reader (DDS 1.4, 2.2.2.3.1): a topic, filtered or not. Without a `T` it has any type, and
/// a variable need not name one: `dds::topic::TopicDescription description(topic);`.
template <typename T = void>
class TopicDescription : public core::Reference<detail::DescriptionState> {
 public:
  using Reference::Reference;
  TopicDescription(const Topic<T>& topic)  // NOLINT: implicit by intent
      requires(!std::is_void_v<T>)
      : Reference(topic.shared_state()) {}
  TopicDescription(const ContentFilteredTopic<T>& topic)  // NOLINT: implicit by intent
      requires(!std::is_void_v<T>)
      : Reference(topic.shared_state()) {}
  /// Also of any type.
  template <typename Described>
  requires(std::is_void_v<T>&& std::is_base_of_v<detail::DescriptionState, typename Described::State>)
      TopicDescription(const Described& other)  // NOLINT: implicit by intent
      : Reference(other.shared_state()) {}

  const std::string& name() const { return state().description()->name(); }
  const std::string& type_name() const { return state().description()->type_name(); }
  domain::DomainParticipant domain_participant() const {
    return domain::DomainParticipant(state().participant());
  }
  /// For polymorphic_cast().
  void check_data_type() const {
    if constexpr (!std::is_void_v<T>) detail::check_type<Topic<T>>(*state().description()->type());
  }
};
template <typename T>
TopicDescription(const Topic<T>&) -> TopicDescription<T>;
template <typename T>
TopicDescription(const ContentFilteredTopic<T>&) -> TopicDescription<T>;

/// A topic of any type.
class AnyTopic : public core::ConfiguredReference<detail::TopicState, llamada::dcps::Topic, qos::TopicQos> {
 public:
  using ConfiguredReference::ConfiguredReference;

  const std::string& name() const { return native().name(); }
  const std::string& type_name() const { return native().type_name(); }
  domain::DomainParticipant domain_participant() const {
    return domain::DomainParticipant(state().participant());
  }
  core::status::InconsistentTopicStatus inconsistent_topic_status() const {
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
  using DataType = T;
  using Listener = TopicListener<T>;
  using AnyTopic::AnyTopic;

  Topic(const domain::DomainParticipant& participant, const std::string& name)
      : Topic(participant, name, participant.default_topic_qos()) {}
  Topic(const domain::DomainParticipant& participant, const std::string& name, const qos::TopicQos& qos,
        Listener* listener = nullptr, const core::status::StatusMask& mask = core::status::StatusMask::all())
      : Topic(participant, name, topic_type_name<T>::value(), qos, listener, mask) {}
  /// With the name `type_name` for the type: writers and readers match only if their topics' types have the
  /// same name and the same description.
  Topic(const domain::DomainParticipant& participant, const std::string& name, const std::string& type_name)
      : Topic(participant, name, type_name, participant.default_topic_qos()) {}
  Topic(const domain::DomainParticipant& participant, const std::string& name, const std::string& type_name,
        const qos::TopicQos& qos, Listener* listener = nullptr,
        const core::status::StatusMask& mask = core::status::StatusMask::all())
      : AnyTopic(detail::create_topic(
            participant, name, detail::named_type(detail::Representation<T>::support(), type_name),
            qos.native(), {core::detail::adapt<detail::TopicAdapter<T>>(listener), mask.native()})) {}

  /// nullptr: none. The listener must outlive the topic, or the time that it is set.
  void listener(Listener* listener, const core::status::StatusMask& mask) {
    this->state().listen({core::detail::adapt<detail::TopicAdapter<T>>(listener), mask.native()});
  }
  Listener* listener() const { return this->state().template heard_by<detail::TopicAdapter<T>>(); }

  Topic& operator<<(const qos::TopicQos& qos) {
    this->qos(qos);
    return *this;
  }
  /// For polymorphic_cast().
  void check_data_type() const { detail::check_type<Topic>(*native().type()); }
};

/// The expression and parameters of a ContentFilteredTopic: "value > %0 AND text LIKE 'a%'" (DDS 1.4, Annex
/// B).
class Filter : public core::detail::Expression {
 public:
  using Expression::Expression;
  Filter(std::string expression) : Expression(std::move(expression)) {}  // NOLINT: implicit by intent
  Filter(const char* expression) : Expression(expression) {}             // NOLINT: implicit by intent
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
  domain::DomainParticipant domain_participant() const {
    return domain::DomainParticipant(state().participant());
  }
  dds::topic::Topic<T> topic() const { return dds::topic::Topic<T>(state().topic()); }
  std::string filter_expression() const { return state().native()->filter_expression(); }
  core::StringSeq filter_parameters() const { return state().native()->expression_parameters(); }
  /// For samples that arrive from now on.
  void filter_parameters(const core::StringSeq& parameters) {
    core::detail::value_of(state().native()->set_expression_parameters(parameters));
  }
  template <typename Iterator>
  void filter_parameters(const Iterator& begin, const Iterator& end) {
    filter_parameters(core::StringSeq(begin, end));
  }
  /// For polymorphic_cast().
  void check_data_type() const { detail::check_type<ContentFilteredTopic>(*state().native()->type()); }
};

}  // namespace dds::topic
