#pragma once

#include <memory>
#include <string>
#include <vector>

#include "llamada/dcps/data_reader.hpp"
#include "llamada/dcps/entity.hpp"
#include "llamada/dcps/topic.hpp"

namespace llamada::dcps {

/// Makes DataReaders and has the policies that they share (DDS 1.4, 2.2.2.5.2). Made by
/// DomainParticipant::create_subscriber().
class Subscriber final : public ConfiguredEntity<qos::SubscriberQos, SubscriberListener> {
 public:
  ~Subscriber() override;

  /// `topic` is a Topic or a ContentFilteredTopic. Errors: inconsistent_policy, unsupported,
  /// precondition_not_met (the topic is another participant's), closed, out_of_resources.
  Result<std::shared_ptr<DataReader>> create_datareader(const std::shared_ptr<TopicDescription>& topic,
                                                        const qos::DataReaderQos& qos,
                                                        DataReaderListener* listener = nullptr,
                                                        StatusMask mask = status::all);
  /// Errors: precondition_not_met (not of this subscriber; samples are on loan; it has conditions).
  Status delete_datareader(const std::shared_ptr<DataReader>& reader);
  /// The same for a reader that may have conditions, which go with it; who waits for one of them is told.
  Status delete_datareader_and_conditions(const std::shared_ptr<DataReader>& reader);
  /// One that is of this topic; nothing: there is none.
  std::shared_ptr<DataReader> lookup_datareader(const std::string& topic_name) const;
  /// All of them.
  std::vector<std::shared_ptr<DataReader>> datareaders() const;
  /// Those that have samples in these states. With PRESENTATION GROUP and ordered_access within
  /// begin_access(), a reader comes once for each sample, in the order in which the samples are to be read,
  /// one from each (DDS 1.4, 2.2.2.5.2.10).
  Result<std::vector<std::shared_ptr<DataReader>>> datareaders(const DataState& state);
  /// Errors: precondition_not_met (samples are on loan).
  Status delete_contained_entities();

  /// With PRESENTATION GROUP: what its readers have is a consistent whole until end_access(). May be nested.
  Status begin_access();
  /// Errors: precondition_not_met (nothing was begun).
  Status end_access();
  /// Has on_data_available() called of the listeners of all readers that have news.
  Status notify_datareaders();

  qos::DataReaderQos default_datareader_qos() const;
  /// Errors: inconsistent_policy.
  Status set_default_datareader_qos(const qos::DataReaderQos& qos);
  std::shared_ptr<DomainParticipant> participant() const;

 private:
  friend class DomainParticipant;
  friend class DataReader;
  friend class detail::ServedEntities;
  Subscriber(std::shared_ptr<detail::Core> core, Entity* participant, std::uint64_t number,
             const qos::SubscriberQos& qos);

  Status on_enable() override;
  bool enables_children() const override { return qos_.entity_factory.autoenable_created_entities; }
  void enable_children() override;
  /// The participant's listener is not for the built-in topics.
  bool hands_on_statuses() const override { return !builtin_; }
  Status apply_qos(const qos::SubscriberQos& qos) override;
  std::function<void(Listener&)> listener_call(StatusMask status) override;
  Result<std::shared_ptr<DataReader>> make_reader(const std::shared_ptr<TopicDescription>& topic,
                                                  const qos::DataReaderQos& qos, DataReaderListener* listener,
                                                  StatusMask mask);
  static void count_use(TopicDescription& topic, int change);
  Status check_deletable(const std::shared_ptr<DataReader>& reader) const;
  void remove(Lock& held, std::shared_ptr<DataReader> reader);
  void remove_all(Lock& held);
  void settle_groups(Now now);
  bool settle_one_group(Now now);
  std::uint32_t ended_through(std::uint64_t participant, std::uint64_t publisher) const;
  void hide_behind(std::uint64_t order);
  std::vector<std::shared_ptr<DataReader>> readers_in_group_order(const ReadSelector& selector, Now now);
  bool is_group() const { return qos_.presentation.access_scope == qos::PresentationAccessScope::group; }
  bool holds_groups() const { return is_group() && qos_.presentation.coherent_access; }
  bool may_access() const { return !is_group() || access_depth_ > 0; }

  const std::uint64_t number_;
  std::vector<std::shared_ptr<DataReader>> readers_;
  qos::DataReaderQos default_datareader_qos_;
  std::uint32_t access_depth_ = 0;
  std::uint64_t next_order_ = 1;
  bool builtin_ = false;
};

}  // namespace llamada::dcps
