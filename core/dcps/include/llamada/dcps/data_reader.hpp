#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "llamada/dcps/builtin_topics.hpp"
#include "llamada/dcps/condition.hpp"
#include "llamada/dcps/entity.hpp"
#include "llamada/dcps/loaned_samples.hpp"
#include "llamada/dcps/time.hpp"
#include "llamada/dcps/topic.hpp"
#include "llamada/topics/participant.hpp"

namespace llamada::dcps {

class Subscriber;
class ReaderCache;
struct CacheWriter;
struct ReadSelector;

/// Which samples a read or a take is to give: the one structure for the twelve operations of
/// DDS 1.4, 2.2.2.5.3.8 to 2.2.2.5.3.19.
struct ReadOptions {
  DataState state;
  std::int32_t max_samples = qos::length_unlimited;
  /// Only of this instance (read_instance); none: of all. handle_nil names no instance: invalid_argument.
  std::optional<InstanceHandle> instance;
  /// Of the first instance behind `instance` that has any (read_next_instance); none or handle_nil: from the
  /// beginning.
  bool next_instance = false;
  /// Those of a condition of this reader (read_w_condition); its states replace `state`.
  std::shared_ptr<ReadCondition> condition;

  /// Whether no sample is left out for its instance or by a condition, and they can be meant.
  bool selects_all() const {
    return !condition && !instance && (max_samples >= 0 || max_samples == qos::length_unlimited);
  }
  /// Whether only `state` leaves out anything.
  bool takes_all() const {
    return !condition && !next_instance && !instance && max_samples == qos::length_unlimited;
  }
};

/// Reads samples of one topic (DDS 1.4, 2.2.2.5.3). Made by Subscriber::create_datareader().
///
/// All operations but the getters fail with not_enabled and closed, too.
class DataReader final : public ConfiguredEntity<qos::DataReaderQos, DataReaderListener>,
                         private topics::ReaderEvents {
 public:
  ~DataReader() override;

  /// May be empty. Errors: precondition_not_met (PRESENTATION GROUP outside of begin_access(); a condition of
  /// another reader), not_found (an instance that is not known).
  Result<LoanedSamples> read(const ReadOptions& options = {}) { return read_or_take(options, false); }
  /// The same; the samples are removed from the reader.
  Result<LoanedSamples> take(const ReadOptions& options = {}) { return read_or_take(options, true); }
  /// The same, in place of what `into` has, which is given back before.
  Status read(const ReadOptions& options, LoanedSamples& into) { return read_or_take(options, false, into); }
  Status take(const ReadOptions& options, LoanedSamples& into) { return read_or_take(options, true, into); }

  Result<std::shared_ptr<ReadCondition>> create_readcondition(const DataState& state);
  /// Errors: parse_error, invalid_argument (a field that the type has not, parameters that are missing).
  Result<std::shared_ptr<QueryCondition>> create_querycondition(const DataState& state,
                                                                const std::string& expression,
                                                                std::vector<std::string> parameters);
  /// Errors: precondition_not_met (not of this reader).
  Status delete_readcondition(const std::shared_ptr<ReadCondition>& condition);
  /// All conditions. Errors: precondition_not_met (samples are on loan).
  Status delete_contained_entities();

  /// handle_nil if the reader does not know it. Errors: parse_error.
  Result<InstanceHandle> lookup_instance(std::span<const std::byte> sample) const;
  /// A sample with that key and defaults else. Errors: not_found.
  Result<std::vector<std::byte>> key_value(InstanceHandle instance) const;

  /// Until the history is here: that of all writers that match, and, with DURABILITY TRANSIENT or PERSISTENT,
  /// of the persistence service. Errors: timeout, closed (it was deleted meanwhile, and the history is not
  /// here).
  Status wait_for_historical_data(Duration at_most);

  RequestedDeadlineMissedStatus requested_deadline_missed_status() {
    return read_status(deadline_missed_, status::requested_deadline_missed);
  }
  RequestedIncompatibleQosStatus requested_incompatible_qos_status() {
    return read_status(incompatible_qos_, status::requested_incompatible_qos);
  }
  SampleRejectedStatus sample_rejected_status() { return read_status(rejected_, status::sample_rejected); }
  SampleLostStatus sample_lost_status() { return read_status(lost_, status::sample_lost); }
  LivelinessChangedStatus liveliness_changed_status() {
    return read_status(liveliness_changed_, status::liveliness_changed);
  }
  SubscriptionMatchedStatus subscription_matched_status() {
    return read_status(matched_, status::subscription_matched);
  }

  std::vector<InstanceHandle> matched_publications() const;
  /// Errors: not_found (not matched).
  Result<PublicationBuiltinTopicData> matched_publication_data(InstanceHandle publication) const;

  const std::shared_ptr<TopicDescription>& topicdescription() const { return topic_; }
  std::shared_ptr<Subscriber> subscriber() const;
  /// Samples that are on loan.
  std::size_t loan_count() const;

 private:
  friend class Subscriber;
  friend class DomainParticipant;
  friend class LoanedSamples;
  friend class ReadCondition;
  friend class QueryCondition;
  friend class ContentFilteredTopic;
  friend class detail::ServedEntities;

  DataReader(std::shared_ptr<detail::Core> core, Subscriber& subscriber,
             std::shared_ptr<TopicDescription> topic, const qos::DataReaderQos& qos);

  Status on_enable() override;
  Status apply_qos(const qos::DataReaderQos& qos) override;
  std::function<void(Listener&)> listener_call(StatusMask status) override;
  bool on_sample(const topics::EndpointId& writer, topics::Sample&& sample) override;
  void on_matched(const topics::EndpointInfo& writer) override;
  void on_qos_changed(const topics::EndpointInfo& writer) override;
  void on_unmatched(const topics::EndpointId& writer, bool died) override;
  void on_liveliness_changed(const topics::EndpointId& writer, bool alive) override;
  void on_incompatible(const topics::EndpointInfo& writer,
                       const std::vector<qos::Incompatibility>& why) override;
  void on_samples_lost(const topics::EndpointId& writer, std::uint64_t count) override;
  void on_known_sample(const topics::EndpointId& writer, const topics::SampleHeader& header) override;

  struct MatchedWriter {
    topics::EndpointInfo info;
    bool alive = true;
  };

  Subscriber& subscriber_entity() const;
  DomainParticipant& participant_entity() const;
  bool awaits_history_of(const topics::EndpointInfo& writer) const;
  void make_cache();
  void forget_cache();
  void leave(Lock& held);
  Status check_no_loans() const;
  Result<LoanedSamples> read_or_take(const ReadOptions& options, bool take);
  Status read_or_take(const ReadOptions& options, bool take, LoanedSamples& loaned);
  Result<ReadSelector> selector_of(const ReadOptions& options) const;
  Status check_instance(InstanceHandle instance) const;
  ReadSelector selector_of(const ReadCondition& condition) const;
  bool has_samples(const ReadCondition& condition);
  void give_back(std::vector<LoanedSamples::Sample>&& loans);
  void report_news();
  void report_data();
  void report_room();
  void count_liveliness(InstanceHandle writer, std::int32_t alive, std::int32_t not_alive);
  CacheWriter cache_writer(const topics::EndpointInfo& writer) const;
  void ignore_writers();
  void forget_writers();
  void set_filter();
  void on_topic_changed(const Topic& topic);
  Status update_endpoint_qos(const qos::DataReaderQos& reader, const qos::SubscriberQos& subscriber);
  void advance(Now now);
  std::chrono::nanoseconds next_wakeup() const;
  MatchedWriter* find_writer(const topics::EndpointId& writer);
  /// For the readers of built-in topics, which have no endpoint.
  void inject(topics::Sample&& sample);

  const std::shared_ptr<TopicDescription> topic_;
  std::unique_ptr<ReaderCache> cache_;
  std::unique_ptr<topics::ReaderEndpoint> endpoint_;
  std::vector<MatchedWriter> writers_;
  std::vector<std::shared_ptr<ReadCondition>> conditions_;
  RequestedDeadlineMissedStatus deadline_missed_;
  RequestedIncompatibleQosStatus incompatible_qos_;
  SampleRejectedStatus rejected_;
  SampleLostStatus lost_;
  LivelinessChangedStatus liveliness_changed_;
  SubscriptionMatchedStatus matched_;
  std::uint64_t arrival_count_ = 0;
  std::shared_ptr<DataReader> self_;          // once deleted, while samples are on loan
  std::vector<LoanedSamples::Sample> spare_;  // room of loans that were given back
  bool refused_ = false;
};

}  // namespace llamada::dcps
