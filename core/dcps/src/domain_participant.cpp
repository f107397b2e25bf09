#include "llamada/dcps/domain_participant.hpp"

#include <algorithm>

#include "builtin_types.hpp"
#include "core.hpp"
#include "discovery.hpp"

namespace llamada::dcps {
namespace {

// Samples of entities that are gone stay so long in the built-in topics when nobody takes them.
constexpr std::chrono::minutes builtin_purge_delay{5};

template <typename Child>
bool contains(const std::vector<std::shared_ptr<Child>>& children, const std::shared_ptr<Child>& child) {
  return child && std::find(children.begin(), children.end(), child) != children.end();
}

tl::unexpected<Error> not_of_this_participant(std::string_view what) {
  return failure(Errc::precondition_not_met, "the {} is not of this participant", what);
}

}  // namespace

DomainParticipant::DomainParticipant(std::shared_ptr<detail::Core> core, DomainId domain, std::string name,
                                     const qos::DomainParticipantQos& qos)
    : ConfiguredEntity(std::move(core), nullptr, qos), domain_(domain), name_(std::move(name)) {}

DomainParticipant::~DomainParticipant() { shut_down(); }

Status DomainParticipant::on_enable() {
  auto discovery = std::make_unique<Discovery>(*this);
  discovery_ = discovery.get();
  core().start({.domain = domain_, .name = name_, .user_data = qos_.user_data.value}, std::move(discovery));
  handle_ = participant_handle(core().participant().id());
  enabled_ = true;
  return make_builtin_subscriber();
}

Status DomainParticipant::make_builtin_subscriber() {
  auto subscriber = std::shared_ptr<Subscriber>(new Subscriber(shared_core(), this, next_child_++, {}));
  subscriber->builtin_ = true;
  subscriber->made(nullptr, status::none);
  if (Status status = subscriber->enable_locked(); !status) return status;
  const auto make = [&](const char* name, std::shared_ptr<const types::TypeSupport> type) -> Status {
    auto topic = std::shared_ptr<Topic>(new Topic(shared_core(), this, name, std::move(type), {}));
    topic->made(nullptr, status::none);
    qos::DataReaderQos qos;
    qos.reliability.kind = qos::ReliabilityKind::reliable;
    qos.durability.kind = qos::DurabilityKind::transient_local;
    qos.reader_data_lifecycle = {builtin_purge_delay, builtin_purge_delay};
    auto reader = subscriber->make_reader(topic, qos, nullptr, status::none);
    if (!reader) return propagate(reader);
    return {};
  };
  using types::TypeSupport;
  const std::pair<const char*, std::shared_ptr<const TypeSupport>> builtin_topics[] = {
      {builtin_participant_topic,
       std::make_shared<BuiltinType<ParticipantBuiltinTopicData>>("DDS::ParticipantBuiltinTopicData")},
      {builtin_topic_topic,
       std::make_shared<BuiltinType<TopicBuiltinTopicData>>("DDS::TopicBuiltinTopicData")},
      {builtin_publication_topic,
       std::make_shared<BuiltinType<PublicationBuiltinTopicData>>("DDS::PublicationBuiltinTopicData")},
      {builtin_subscription_topic,
       std::make_shared<BuiltinType<SubscriptionBuiltinTopicData>>("DDS::SubscriptionBuiltinTopicData")}};
  for (const auto& [name, type] : builtin_topics) {
    if (Status status = make(name, type); !status) return status;
  }
  builtin_subscriber_ = std::move(subscriber);
  return {};
}

void DomainParticipant::inject(const char* topic, topics::Sample&& sample) {
  if (!builtin_subscriber_) return;
  for (const auto& reader : builtin_subscriber_->readers_) {
    if (reader->topicdescription()->name() == topic) return reader->inject(std::move(sample));
  }
}

void DomainParticipant::enable_children() {
  for (const auto& topic : topics_) (void)topic->enable_locked();
  for (const auto& publisher : publishers_) (void)publisher->enable_locked();
  for (const auto& subscriber : subscribers_) (void)subscriber->enable_locked();
}

Status DomainParticipant::apply_qos(const qos::DomainParticipantQos& qos) {
  return core().participant().set_user_data(qos.user_data.value);
}

Result<std::shared_ptr<Publisher>> DomainParticipant::create_publisher(const qos::PublisherQos& qos,
                                                                       PublisherListener* listener,
                                                                       StatusMask mask) {
  return create_child(publishers_, qos, listener, mask);
}

Result<std::shared_ptr<Subscriber>> DomainParticipant::create_subscriber(const qos::SubscriberQos& qos,
                                                                         SubscriberListener* listener,
                                                                         StatusMask mask) {
  return create_child(subscribers_, qos, listener, mask);
}

template <typename Child, typename Qos>
Result<std::shared_ptr<Child>> DomainParticipant::create_child(std::vector<std::shared_ptr<Child>>& children,
                                                               const Qos& qos, Listener* listener,
                                                               StatusMask mask) {
  if (Status status = check_creatable(qos); !status) return propagate(status);
  Lock held = lock();
  if (Status status = check_open(); !status) return propagate(status);
  auto child = std::shared_ptr<Child>(new Child(shared_core(), this, next_child_++, qos));
  child->made(listener, mask);
  if (Status status = child->enable_if_wanted(); !status) return propagate(status);
  children.push_back(child);
  return child;
}

Status DomainParticipant::delete_publisher(const std::shared_ptr<Publisher>& publisher) {
  Lock held = lock();
  if (!contains(publishers_, publisher)) return not_of_this_participant("publisher");
  if (!publisher->writers_.empty()) {
    return failure(Errc::precondition_not_met, "the publisher has {} writers; delete them first",
                   publisher->writers_.size());
  }
  remove(held, publisher);
  return {};
}

Status DomainParticipant::delete_subscriber(const std::shared_ptr<Subscriber>& subscriber) {
  Lock held = lock();
  if (!contains(subscribers_, subscriber)) return not_of_this_participant("subscriber");
  if (!subscriber->readers_.empty()) {
    return failure(Errc::precondition_not_met, "the subscriber has {} readers; delete them first",
                   subscriber->readers_.size());
  }
  remove(held, subscriber);
  return {};
}

void DomainParticipant::remove(Lock& held, std::shared_ptr<Publisher> publisher) {
  std::erase(publishers_, publisher);
  while (!publisher->writers_.empty()) publisher->remove(held, publisher->writers_.back());
  publisher->mark_deleted(held);
}

void DomainParticipant::remove(Lock& held, std::shared_ptr<Subscriber> subscriber) {
  std::erase(subscribers_, subscriber);
  subscriber->remove_all(held);
  core().entities().remove(*subscriber);
  subscriber->mark_deleted(held);
}

Result<std::shared_ptr<Topic>> DomainParticipant::create_topic(const std::string& name,
                                                               std::shared_ptr<const types::TypeSupport> type,
                                                               const qos::TopicQos& qos,
                                                               TopicListener* listener, StatusMask mask) {
  if (name.empty() || !type) return failure(Errc::invalid_argument, "a topic needs a name and a type");
  if (Status status = check_creatable(qos); !status) return propagate(status);
  Lock held = lock();
  if (Status status = check_open(); !status) return propagate(status);
  for (const auto& known : topics_) {
    if (known->name() != name) continue;
    if (known->type_name() == type->name() && known->type()->descriptor_hash() == type->descriptor_hash() &&
        known->qos_ == qos && listener == nullptr) {
      ++known->find_count_;
      return known;
    }
    return failure(Errc::already_exists,
                   "topic '{}' is here with type '{}' and policies of its own; find_topic() gives it", name,
                   known->type_name());
  }
  if (find_description(name))
    return failure(Errc::already_exists, "a filtered topic has the name '{}'", name);
  auto topic = std::shared_ptr<Topic>(new Topic(shared_core(), this, name, std::move(type), qos));
  topic->handle_ = {types::hash64(topic->type_name()) | 1, types::hash64(name)};
  topic->made(listener, mask);
  if (Status status = topic->enable_if_wanted(); !status) return propagate(status);
  topics_.push_back(topic);
  return topic;
}

Status DomainParticipant::delete_topic(const std::shared_ptr<Topic>& topic) {
  Lock held = lock();
  if (!contains(topics_, topic)) return not_of_this_participant("topic");
  if (topic->find_count_ > 1) {
    --topic->find_count_;
    return {};
  }
  if (topic->use_count_ > 0) {
    return failure(Errc::precondition_not_met,
                   "topic '{}' is in use by {} writers, readers or filtered topics", topic->name(),
                   topic->use_count_);
  }
  std::erase(topics_, topic);
  topic->mark_deleted(held);
  return {};
}

Result<std::shared_ptr<Topic>> DomainParticipant::find_topic(const std::string& name, Duration at_most) {
  Lock held = lock();
  if (Status status = check_usable(); !status) return propagate(status);
  std::shared_ptr<Topic> found;
  const auto is_there = [&] {
    for (const auto& topic : topics_) {
      if (topic->name() == name) found = topic;
    }
    return found != nullptr;
  };
  auto known = await(held, at_most, is_there);
  if (!known) return propagate(known);
  if (!*known) {
    return failure(Errc::timeout, "this participant has no topic '{}' after {}", name,
                   qos::to_string(at_most));
  }
  ++found->find_count_;
  return found;
}

std::shared_ptr<TopicDescription> DomainParticipant::find_description(const std::string& name) const {
  for (const auto& topic : topics_) {
    if (topic->name() == name) return topic;
  }
  for (const auto& topic : filtered_topics_) {
    if (topic->name() == name) return topic;
  }
  return nullptr;
}

std::shared_ptr<TopicDescription> DomainParticipant::lookup_topicdescription(const std::string& name) const {
  Lock held = lock();
  return find_description(name);
}

Result<std::shared_ptr<ContentFilteredTopic>> DomainParticipant::create_contentfilteredtopic(
    const std::string& name, const std::shared_ptr<Topic>& related, const std::string& expression,
    std::vector<std::string> parameters) {
  if (name.empty() || !related)
    return failure(Errc::invalid_argument, "a filtered topic needs a name and a topic");
  auto filter = sql::Filter::parse(expression, parameters, *related->type());
  if (!filter) return propagate(filter);
  Lock held = lock();
  if (Status status = check_child_of_topic(related.get()); !status) return propagate(status);
  if (find_description(name)) return failure(Errc::already_exists, "this participant has a topic '{}'", name);
  filtered_topics_.push_back(
      std::shared_ptr<ContentFilteredTopic>(new ContentFilteredTopic(name, related, *filter, shared_core())));
  ++related->use_count_;
  return filtered_topics_.back();
}

Status DomainParticipant::delete_contentfilteredtopic(const std::shared_ptr<ContentFilteredTopic>& topic) {
  Lock held = lock();
  if (!contains(filtered_topics_, topic)) return not_of_this_participant("filtered topic");
  if (topic->use_count_ > 0) {
    return failure(Errc::precondition_not_met, "filtered topic '{}' has {} readers", topic->name(),
                   topic->use_count_);
  }
  --topic->related_->use_count_;
  std::erase(filtered_topics_, topic);
  return {};
}

Status DomainParticipant::create_multitopic(const std::string& name, const std::string&, const std::string&,
                                            const std::vector<std::string>&) {
  return failure(Errc::unsupported,
                 "MultiTopic '{}': joins of topics are not built; read the topics and join them", name);
}

Status DomainParticipant::delete_contained_entities() {
  Lock held = lock();
  if (deleted_) return failure(Errc::closed, "the participant was deleted");
  for (const auto& subscriber : subscribers_) {
    for (const auto& reader : subscriber->readers_) {
      if (Status status = reader->check_no_loans(); !status) return status;
    }
  }
  remove_all(held);
  return {};
}

void DomainParticipant::remove_all(Lock& held) {
  while (!publishers_.empty()) remove(held, publishers_.back());
  while (!subscribers_.empty()) remove(held, subscribers_.back());
  filtered_topics_.clear();
  while (!topics_.empty()) {
    const auto topic = topics_.back();
    topics_.pop_back();
    topic->mark_deleted(held);
  }
}

// Leaves the domain; what is on loan keeps its memory.
void DomainParticipant::shut_down() {
  {
    Lock held = lock();
    if (deleted_) return;
    remove_all(held);
    if (builtin_subscriber_) remove(held, builtin_subscriber_);
    builtin_subscriber_.reset();
    mark_deleted(held);
  }
  core().stop();
  Lock held = lock();
  discovery_ = nullptr;
  core().domain().leave();
}

std::shared_ptr<Subscriber> DomainParticipant::builtin_subscriber() const {
  Lock held = lock();
  return builtin_subscriber_;
}

void DomainParticipant::check_consistent_topic(const topics::EndpointInfo& endpoint) {
  for (const auto& topic : topics_)
    if (topic->enabled_) topic->check_consistent(endpoint);
}

void DomainParticipant::check_new_topic(Topic& topic) const {
  for (const auto& [id, endpoint] : discovery_->endpoints())
    if (!core().ignored().has(endpoint)) topic.check_consistent(endpoint);
}

bool DomainParticipant::awaits_history(const DataReader& reader) const {
  const auto& endpoints = discovery_->endpoints();
  return std::any_of(endpoints.begin(), endpoints.end(),
                     [&](const auto& each) { return reader.awaits_history_of(each.second); });
}

Status DomainParticipant::ignore(InstanceHandle handle, std::string_view what) {
  if (handle.is_nil()) return failure(Errc::not_found, "no {} in the domain has this handle", what);
  core().ignored().add(handle);
  core().entities().end_ignored_matches();
  return {};
}

Status DomainParticipant::ignore_participant(InstanceHandle handle) {
  Lock held = lock();
  if (Status status = check_usable(); !status) return status;
  return ignore(discovery_->find_participant(handle), "participant");
}

Status DomainParticipant::ignore_topic(InstanceHandle handle) {
  Lock held = lock();
  if (Status status = check_usable(); !status) return status;
  const InstanceHandle topic = discovery_->find_topic(handle);
  if (!topic.is_nil()) core().ignored().add_topic(discovery_->topics().at(topic).name);
  return ignore(topic, "topic");
}

Status DomainParticipant::ignore_publication(InstanceHandle handle) {
  Lock held = lock();
  if (Status status = check_usable(); !status) return status;
  return ignore(discovery_->find_endpoint(handle, true), "publication");
}

Status DomainParticipant::ignore_subscription(InstanceHandle handle) {
  Lock held = lock();
  if (Status status = check_usable(); !status) return status;
  return ignore(discovery_->find_endpoint(handle, false), "subscription");
}

Status DomainParticipant::assert_liveliness() {
  Lock held = lock();
  if (Status status = check_usable(); !status) return status;
  core().participant().assert_liveliness();
  return {};
}

bool DomainParticipant::contains_entity(InstanceHandle handle) const {
  Lock held = lock();
  const auto is_it = [&](const auto& entity) { return !handle.is_nil() && entity->handle_ == handle; };
  const auto holds = [&](const auto& children) {
    return std::any_of(children.begin(), children.end(), is_it);
  };
  return holds(topics_) || holds(publishers_) || holds(subscribers_) ||
         std::any_of(publishers_.begin(), publishers_.end(),
                     [&](const auto& each) { return holds(each->writers_); }) ||
         std::any_of(subscribers_.begin(), subscribers_.end(),
                     [&](const auto& each) { return holds(each->readers_); });
}

Timestamp DomainParticipant::current_time() const { return core().now().realtime; }

template <typename Known>
std::vector<InstanceHandle> keys_of(const Known& known) {
  std::vector<InstanceHandle> keys;
  keys.reserve(known.size());
  for (const auto& [key, data] : known) keys.push_back(key);
  return keys;
}

std::vector<InstanceHandle> DomainParticipant::discovered_participants() const {
  Lock held = lock();
  return discovery_ == nullptr ? std::vector<InstanceHandle>() : keys_of(discovery_->participants());
}

std::vector<InstanceHandle> DomainParticipant::discovered_topics() const {
  Lock held = lock();
  return discovery_ == nullptr ? std::vector<InstanceHandle>() : keys_of(discovery_->topics());
}

Result<ParticipantBuiltinTopicData> DomainParticipant::discovered_participant_data(
    InstanceHandle handle) const {
  Lock held = lock();
  if (Status status = check_usable(); !status) return propagate(status);
  const InstanceHandle key = discovery_->find_participant(handle);
  if (key.is_nil()) return failure(Errc::not_found, "no participant in the domain has this handle");
  return discovery_->participants().at(key);
}

Result<TopicBuiltinTopicData> DomainParticipant::discovered_topic_data(InstanceHandle handle) const {
  Lock held = lock();
  if (Status status = check_usable(); !status) return propagate(status);
  const InstanceHandle key = discovery_->find_topic(handle);
  if (key.is_nil()) return failure(Errc::not_found, "no topic in the domain has this handle");
  return discovery_->topics().at(key);
}

qos::PublisherQos DomainParticipant::default_publisher_qos() const {
  Lock held = lock();
  return default_publisher_qos_;
}

Status DomainParticipant::set_default_publisher_qos(const qos::PublisherQos& qos) {
  return set_default(default_publisher_qos_, qos);
}

qos::SubscriberQos DomainParticipant::default_subscriber_qos() const {
  Lock held = lock();
  return default_subscriber_qos_;
}

Status DomainParticipant::set_default_subscriber_qos(const qos::SubscriberQos& qos) {
  return set_default(default_subscriber_qos_, qos);
}

qos::TopicQos DomainParticipant::default_topic_qos() const {
  Lock held = lock();
  return default_topic_qos_;
}

Status DomainParticipant::set_default_topic_qos(const qos::TopicQos& qos) {
  return set_default(default_topic_qos_, qos);
}

}  // namespace llamada::dcps
