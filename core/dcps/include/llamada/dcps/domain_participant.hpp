#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "llamada/base/clock.hpp"
#include "llamada/dcps/builtin_topics.hpp"
#include "llamada/dcps/entity.hpp"
#include "llamada/dcps/publisher.hpp"
#include "llamada/dcps/subscriber.hpp"
#include "llamada/dcps/topic.hpp"
#include "llamada/topics/transport.hpp"

namespace llamada::dcps {

using DomainId = std::uint32_t;

/// An application's membership of a domain (DDS 1.4, 2.2.2.2.1). It has one lock and one service thread,
/// which receives, keeps the time and calls listeners. Made by DomainParticipantFactory.
class DomainParticipant final
    : public ConfiguredEntity<qos::DomainParticipantQos, DomainParticipantListener> {
 public:
  ~DomainParticipant() override;

  Result<std::shared_ptr<Publisher>> create_publisher(const qos::PublisherQos& qos,
                                                      PublisherListener* listener = nullptr,
                                                      StatusMask mask = status::all);
  /// Errors: precondition_not_met (not of this participant; it has writers).
  Status delete_publisher(const std::shared_ptr<Publisher>& publisher);
  Result<std::shared_ptr<Subscriber>> create_subscriber(const qos::SubscriberQos& qos,
                                                        SubscriberListener* listener = nullptr,
                                                        StatusMask mask = status::all);
  /// Errors: precondition_not_met (not of this participant; it has readers).
  Status delete_subscriber(const std::shared_ptr<Subscriber>& subscriber);

  /// Errors: already_exists (a topic of this name is here with another type or other policies, find_topic()
  /// gives it), invalid_argument (an empty name, no type), inconsistent_policy.
  Result<std::shared_ptr<Topic>> create_topic(const std::string& name,
                                              std::shared_ptr<const types::TypeSupport> type,
                                              const qos::TopicQos& qos, TopicListener* listener = nullptr,
                                              StatusMask mask = status::all);
  /// Errors: precondition_not_met (not of this participant; it is in use).
  Status delete_topic(const std::shared_ptr<Topic>& topic);
  /// The topic of this name that this participant has, waiting for one to be created. Errors: timeout.
  Result<std::shared_ptr<Topic>> find_topic(const std::string& name, Duration at_most);
  /// What this participant has of that name: a Topic or a ContentFilteredTopic; nothing: there is none.
  std::shared_ptr<TopicDescription> lookup_topicdescription(const std::string& name) const;

  /// Errors: already_exists (the name), parse_error, invalid_argument (a field that the type has not,
  /// parameters that are missing), precondition_not_met (the topic is another participant's).
  Result<std::shared_ptr<ContentFilteredTopic>> create_contentfilteredtopic(
      const std::string& name, const std::shared_ptr<Topic>& related, const std::string& expression,
      std::vector<std::string> parameters);
  /// Errors: precondition_not_met (not of this participant; it has readers).
  Status delete_contentfilteredtopic(const std::shared_ptr<ContentFilteredTopic>& topic);
  /// Always Errc::unsupported: joins of topics are not built (they are optional, DDS 1.4, 2.2.2.3.4).
  Status create_multitopic(const std::string& name, const std::string& type_name,
                           const std::string& expression, const std::vector<std::string>& parameters);

  /// Errors: precondition_not_met (samples are on loan).
  Status delete_contained_entities();
  /// Has the readers of the built-in topics: lookup_datareader(builtin_publication_topic).
  std::shared_ptr<Subscriber> builtin_subscriber() const;

  /// From now on this participant does as if the entity were not there: what it writes is not read, and
  /// statuses do not count it. It is not hindered, though: a reader that is ignored can read on what is
  /// published here, and if it is RELIABLE, a KEEP_ALL writer waits for it. A handle is that of the entity,
  /// or of its instance in the built-in topic. Errors: not_found.
  Status ignore_participant(InstanceHandle handle);
  Status ignore_topic(InstanceHandle handle);
  Status ignore_publication(InstanceHandle handle);
  Status ignore_subscription(InstanceHandle handle);

  DomainId domain_id() const { return domain_; }
  const std::string& name() const { return name_; }
  /// LIVELINESS MANUAL_BY_PARTICIPANT of all its writers.
  Status assert_liveliness();
  bool contains_entity(InstanceHandle handle) const;
  Timestamp current_time() const;

  std::vector<InstanceHandle> discovered_participants() const;
  /// Errors: not_found.
  Result<ParticipantBuiltinTopicData> discovered_participant_data(InstanceHandle handle) const;
  std::vector<InstanceHandle> discovered_topics() const;
  Result<TopicBuiltinTopicData> discovered_topic_data(InstanceHandle handle) const;

  // What entities have that are created without policies of their own.
  qos::PublisherQos default_publisher_qos() const;
  Status set_default_publisher_qos(const qos::PublisherQos& qos);
  qos::SubscriberQos default_subscriber_qos() const;
  Status set_default_subscriber_qos(const qos::SubscriberQos& qos);
  qos::TopicQos default_topic_qos() const;
  Status set_default_topic_qos(const qos::TopicQos& qos);

 private:
  friend class DomainParticipantFactory;
  friend class Publisher;
  friend class Subscriber;
  friend class DataReader;
  friend class Topic;
  class Discovery;

  DomainParticipant(std::shared_ptr<detail::Core> core, DomainId domain, std::string name,
                    const qos::DomainParticipantQos& qos);

  bool enables_children() const override { return qos_.entity_factory.autoenable_created_entities; }
  void enable_children() override;
  Status on_enable() override;
  Status apply_qos(const qos::DomainParticipantQos& qos) override;
  Status make_builtin_subscriber();
  void inject(const char* topic, topics::Sample&& sample);
  template <typename Child, typename Qos>
  Result<std::shared_ptr<Child>> create_child(std::vector<std::shared_ptr<Child>>& children, const Qos& qos,
                                              Listener* listener, StatusMask mask);
  void remove(Lock& held, std::shared_ptr<Publisher> publisher);
  void remove(Lock& held, std::shared_ptr<Subscriber> subscriber);
  void remove_all(Lock& held);
  std::shared_ptr<TopicDescription> find_description(const std::string& name) const;
  void check_consistent_topic(const topics::EndpointInfo& endpoint);
  void check_new_topic(Topic& topic) const;
  Status ignore(InstanceHandle handle, std::string_view what);
  bool awaits_history(const DataReader& reader) const;
  bool is_empty() const {
    Lock held = lock();
    return publishers_.empty() && subscribers_.empty() && topics_.empty();
  }
  void shut_down();

  const DomainId domain_;
  const std::string name_;
  std::vector<std::shared_ptr<Publisher>> publishers_;
  std::vector<std::shared_ptr<Subscriber>> subscribers_;
  std::vector<std::shared_ptr<Topic>> topics_;
  std::vector<std::shared_ptr<ContentFilteredTopic>> filtered_topics_;
  std::shared_ptr<Subscriber> builtin_subscriber_;
  Discovery* discovery_ = nullptr;  // the core's
  qos::PublisherQos default_publisher_qos_;
  qos::SubscriberQos default_subscriber_qos_;
  qos::TopicQos default_topic_qos_;
  std::uint64_t next_child_ = 1;
};

struct DomainParticipantOptions {
  /// For people, in `llamada ls`.
  std::string name;
  qos::DomainParticipantQos qos;
  DomainParticipantListener* listener = nullptr;
  StatusMask mask = status::all;
};

/// Makes DomainParticipants (DDS 1.4, 2.2.2.2.2), each on a Transport of its own that `open_transport` gives.
/// The clock must outlive the participants. Any thread.
class DomainParticipantFactory {
 public:
  using OpenTransport = std::function<Result<std::unique_ptr<topics::Transport>>(DomainId domain)>;

  DomainParticipantFactory(OpenTransport open_transport, const Clock& clock);
  ~DomainParticipantFactory();

  /// Errors: inconsistent_policy, and what the transport fails with.
  Result<std::shared_ptr<DomainParticipant>> create_participant(DomainId domain,
                                                                const DomainParticipantOptions& options);
  /// Errors: precondition_not_met (not of this factory; it has entities).
  Status delete_participant(const std::shared_ptr<DomainParticipant>& participant);
  /// One of this domain; nothing: there is none.
  std::shared_ptr<DomainParticipant> lookup_participant(DomainId domain) const;

  qos::DomainParticipantQos default_participant_qos() const;
  Status set_default_participant_qos(const qos::DomainParticipantQos& qos);
  /// ENTITY_FACTORY of the factory itself: whether participants are enabled when they are created.
  qos::EntityFactory qos() const;
  void set_qos(const qos::EntityFactory& qos);

 private:
  const OpenTransport open_transport_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<DomainParticipant>> participants_;
  qos::DomainParticipantQos default_participant_qos_;
  qos::EntityFactory entity_factory_;
};

}  // namespace llamada::dcps
