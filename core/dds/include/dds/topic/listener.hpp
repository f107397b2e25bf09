#pragma once

#include "dds/core/entity.hpp"

// Listeners of topics (DDS 1.4, 2.2.2.3.5; ISO C++ PSM, 7.5.11). All are called from the participant's
// service thread. An exception that leaves one ends the program.
namespace dds::topic {

class AnyTopic;
template <typename T>
class Topic;

namespace detail {

/// The statuses that a listener hears of a `TopicType`: a Topic<T> or an AnyTopic.
template <typename TopicType>
class TopicMethods {
 public:
  using Subject = TopicType;
  virtual ~TopicMethods() = default;
  virtual void on_inconsistent_topic(TopicType&, const core::status::InconsistentTopicStatus&) = 0;
};

/// `Base` with methods that do nothing.
template <typename Base>
class NoOpTopicMethods : public virtual Base {
 public:
  void on_inconsistent_topic(typename Base::Subject&, const core::status::InconsistentTopicStatus&) override {
  }
};

}  // namespace detail

template <typename T>
class TopicListener : public detail::TopicMethods<Topic<T>> {};
template <typename T>
class NoOpTopicListener : public detail::NoOpTopicMethods<TopicListener<T>> {};

/// Hears of topics of any type.
class AnyTopicListener : public detail::TopicMethods<AnyTopic> {};
class NoOpAnyTopicListener : public detail::NoOpTopicMethods<AnyTopicListener> {};

namespace detail {

/// Tells a listener what the layer below tells of topics, each as a `Subject`.
template <typename Heard, typename Subject>
class TopicCalls : public virtual llamada::dcps::TopicListener {
 public:
  explicit TopicCalls(Heard& listener) : listener_(listener) {}
  Heard& listener() const { return listener_; }

  void on_inconsistent_topic(llamada::dcps::Topic& topic,
                             const llamada::dcps::InconsistentTopicStatus& status) override {
    core::detail::tell<Subject>(listener_, &Heard::on_inconsistent_topic, topic,
                                core::status::InconsistentTopicStatus(status));
  }

 private:
  Heard& listener_;
};

template <typename T>
using TopicAdapter = TopicCalls<topic::TopicListener<T>, Topic<T>>;

}  // namespace detail

}  // namespace dds::topic
