#pragma once

#include "dds/sub/sample.hpp"
#include "dds/topic/topic.hpp"
#include "llamada/dcps/subscriber.hpp"

namespace dds::sub {

namespace detail {

class SubscriberState final : public core::detail::EntityState {
 public:
  SubscriberState(topic::detail::Participant participant, std::shared_ptr<llamada::dcps::Subscriber> native)
      : EntityState(std::move(native)), participant_(std::move(participant)) {}
  ~SubscriberState() override { close_silently(); }
  const topic::detail::Participant& participant() const { return participant_; }

 private:
  llamada::Status remove() override;
  topic::detail::Participant participant_;
};

/// What a reader is of: a topic, filtered or not.
struct Described {
  std::shared_ptr<topic::detail::TopicState> topic;
  std::shared_ptr<topic::detail::FilteredTopicState> filtered;
};

class ReaderState final : public core::detail::EntityState {
 public:
  ReaderState(std::shared_ptr<SubscriberState> subscriber, Described described,
              std::shared_ptr<llamada::dcps::DataReader> native)
      : EntityState(std::move(native)),
        subscriber_(std::move(subscriber)),
        described_(std::move(described)) {}
  ~ReaderState() override { close_silently(); }
  const std::shared_ptr<SubscriberState>& subscriber() const { return subscriber_; }
  const Described& described() const { return described_; }

  /// The adapter between a typed listener and the untyped one, which lives as long as it is set.
  std::unique_ptr<llamada::dcps::DataReaderListener> listener_adapter;

 private:
  llamada::Status remove() override;
  std::shared_ptr<SubscriberState> subscriber_;
  Described described_;
};

std::shared_ptr<SubscriberState> create_subscriber(const topic::detail::Participant& participant,
                                                   const llamada::qos::SubscriberQos& qos);
std::shared_ptr<ReaderState> create_reader(const std::shared_ptr<SubscriberState>& subscriber,
                                           Described described, const llamada::qos::DataReaderQos& qos,
                                           llamada::dcps::DataReaderListener* listener,
                                           llamada::dcps::StatusMask mask);

}  // namespace detail

/// Makes DataReaders and has the policies that they share (DDS 1.4, 2.2.2.5.2; ISO C++ PSM, 7.5.13).
class Subscriber : public core::ConfiguredReference<detail::SubscriberState, llamada::dcps::Subscriber,
                                                    qos::SubscriberQos> {
 public:
  using ConfiguredReference::ConfiguredReference;

  explicit Subscriber(const domain::DomainParticipant& participant)
      : Subscriber(participant, participant.native().default_subscriber_qos()) {}
  Subscriber(const domain::DomainParticipant& participant, const qos::SubscriberQos& qos)
      : ConfiguredReference(detail::create_subscriber(participant.shared_state(), qos.native())) {}

  domain::DomainParticipant participant() const { return domain::DomainParticipant(state().participant()); }
  qos::DataReaderQos default_datareader_qos() const { return {native().default_datareader_qos()}; }
  void default_datareader_qos(const qos::DataReaderQos& qos) {
    core::detail::value_of(native().set_default_datareader_qos(qos.native()));
  }
  void notify_datareaders() { core::detail::value_of(native().notify_datareaders()); }
};

/// While it lives, or until end(), what the readers of a subscriber with PRESENTATION GROUP have is a
/// consistent whole (DDS 1.4, 2.2.2.5.2.8).
class CoherentAccess {
 public:
  explicit CoherentAccess(const Subscriber& subscriber) : subscriber_(subscriber) {
    core::detail::value_of(subscriber_.native().begin_access());
  }
  CoherentAccess(const CoherentAccess&) = delete;
  CoherentAccess& operator=(const CoherentAccess&) = delete;
  ~CoherentAccess() {
    if (!ended_) static_cast<void>(subscriber_.native().end_access().has_value());
  }
  void end() {
    ended_ = true;
    core::detail::value_of(subscriber_.native().end_access());
  }

 private:
  Subscriber subscriber_;
  bool ended_ = false;
};

/// A reader of any type.
class AnyDataReader
    : public core::ConfiguredReference<detail::ReaderState, llamada::dcps::DataReader, qos::DataReaderQos> {
 public:
  using ConfiguredReference::ConfiguredReference;

  dds::sub::Subscriber subscriber() const { return dds::sub::Subscriber(state().subscriber()); }
  const std::string& topic_name() const { return native().topicdescription()->name(); }
  /// Until the history of the TRANSIENT_LOCAL writers that are matched is here. Throws TimeoutError.
  void wait_for_historical_data(const core::Duration& at_most) {
    core::detail::value_of(native().wait_for_historical_data(at_most.to_chrono()));
  }

  core::status::RequestedDeadlineMissedStatus requested_deadline_missed_status() {
    return core::status::RequestedDeadlineMissedStatus(native().requested_deadline_missed_status());
  }
  core::status::RequestedIncompatibleQosStatus requested_incompatible_qos_status() {
    return core::status::RequestedIncompatibleQosStatus(native().requested_incompatible_qos_status());
  }
  core::status::SampleRejectedStatus sample_rejected_status() {
    return core::status::SampleRejectedStatus(native().sample_rejected_status());
  }
  core::status::SampleLostStatus sample_lost_status() {
    return core::status::SampleLostStatus(native().sample_lost_status());
  }
  core::status::LivelinessChangedStatus liveliness_changed_status() {
    return core::status::LivelinessChangedStatus(native().liveliness_changed_status());
  }
  core::status::SubscriptionMatchedStatus subscription_matched_status() {
    return core::status::SubscriptionMatchedStatus(native().subscription_matched_status());
  }
};

/// An expression over the samples of one reader, for selections and QueryConditions: "value > %0 ORDER BY
/// value" (DDS 1.4, Annex B).
class Query {
 public:
  Query(const AnyDataReader& reader, std::string expression, core::StringSeq parameters = {})
      : reader_(reader), expression_(std::move(expression)), parameters_(std::move(parameters)) {}
  const std::string& expression() const { return expression_; }
  const core::StringSeq& parameters() const { return parameters_; }
  void parameters(core::StringSeq parameters) { parameters_ = std::move(parameters); }
  void add_parameter(std::string parameter) { parameters_.push_back(std::move(parameter)); }
  const AnyDataReader& data_reader() const { return reader_; }

 private:
  AnyDataReader reader_;
  std::string expression_;
  core::StringSeq parameters_;
};

template <typename T>
class DataReaderListener;

/// Reads samples of one topic (DDS 1.4, 2.2.2.5.3; ISO C++ PSM, 7.5.13). Any thread.
template <typename T>
class DataReader : public AnyDataReader {
 public:
  using DataType = T;
  using Listener = DataReaderListener<T>;
  using AnyDataReader::AnyDataReader;

  DataReader(const dds::sub::Subscriber& subscriber, const topic::Topic<T>& topic)
      : DataReader(subscriber, topic, subscriber.default_datareader_qos()) {}
  DataReader(const dds::sub::Subscriber& subscriber, const topic::Topic<T>& topic,
             const qos::DataReaderQos& qos, Listener* listener = nullptr,
             const core::status::StatusMask& mask = core::status::StatusMask::all())
      : AnyDataReader(create(subscriber, {topic.shared_state(), nullptr}, qos, listener, mask)) {}
  DataReader(const dds::sub::Subscriber& subscriber, const topic::ContentFilteredTopic<T>& topic)
      : DataReader(subscriber, topic, subscriber.default_datareader_qos()) {}
  DataReader(const dds::sub::Subscriber& subscriber, const topic::ContentFilteredTopic<T>& topic,
             const qos::DataReaderQos& qos, Listener* listener = nullptr,
             const core::status::StatusMask& mask = core::status::StatusMask::all())
      : AnyDataReader(
            create(subscriber, {topic.state().related(), topic.shared_state()}, qos, listener, mask)) {}

  /// What read() and take() give when nothing else is said; at first everything.
  status::DataState default_filter_state() const { return filter_; }
  DataReader& default_filter_state(const status::DataState& state) {
    filter_ = state;
    return *this;
  }

  LoanedSamples<T> read() const { return select().read(); }
  LoanedSamples<T> take() const { return select().take(); }

  /// Which samples: `reader.select().state(DataState::new_data()).max_samples(10).take()`.
  class Selector {
   public:
    explicit Selector(const DataReader& reader) : reader_(reader) {
      options_.state = reader.filter_.native();
    }
    Selector& state(const status::DataState& state) {
      options_.state = state.native();
      return *this;
    }
    Selector& max_samples(std::int32_t count) {
      options_.max_samples = count;
      return *this;
    }
    Selector& instance(const core::InstanceHandle& instance) {
      options_.instance = instance.native();
      options_.next_instance = false;
      return *this;
    }
    /// Of the first instance behind this one that has any.
    Selector& next_instance(const core::InstanceHandle& instance) {
      options_.instance = instance.native();
      options_.next_instance = true;
      return *this;
    }
    Selector& content(const Query& query) {
      query_ = query;
      return *this;
    }
    template <typename ReadCondition>
    requires requires(const ReadCondition& condition) { condition.native_read_condition(); }
    Selector& condition(const ReadCondition& condition) {
      options_.condition = condition.native_read_condition();
      return *this;
    }
    LoanedSamples<T> read() { return get(false); }
    LoanedSamples<T> take() { return get(true); }

   private:
    LoanedSamples<T> get(bool take);
    const DataReader& reader_;
    llamada::dcps::ReadOptions options_;
    std::optional<Query> query_;
  };
  Selector select() const { return Selector(*this); }

  core::InstanceHandle lookup_instance(const T& key) const {
    const auto bytes = core::detail::value_of(llamada::types::serialize(key));
    return core::InstanceHandle(core::detail::value_of(native().lookup_instance(bytes)));
  }
  /// A sample with the instance's key members and defaults else.
  T& key_value(T& sample, const core::InstanceHandle& instance) const {
    const auto bytes = core::detail::value_of(native().key_value(instance.native()));
    return sample = core::detail::value_of(llamada::types::deserialize<T>(bytes));
  }

  /// nullptr: none. The listener must outlive the reader, or the time that it is set.
  void listener(Listener* listener, const core::status::StatusMask& mask);

 private:
  static std::shared_ptr<detail::ReaderState> create(const dds::sub::Subscriber& subscriber,
                                                     detail::Described described,
                                                     const qos::DataReaderQos& qos, Listener* listener,
                                                     const core::status::StatusMask& mask);

  status::DataState filter_;
};

/// Called from the participant's service thread. An exception that leaves one ends the program.
template <typename T>
class DataReaderListener {
 public:
  virtual ~DataReaderListener() = default;
  virtual void on_requested_deadline_missed(DataReader<T>&,
                                            const core::status::RequestedDeadlineMissedStatus&) = 0;
  virtual void on_requested_incompatible_qos(DataReader<T>&,
                                             const core::status::RequestedIncompatibleQosStatus&) = 0;
  virtual void on_sample_rejected(DataReader<T>&, const core::status::SampleRejectedStatus&) = 0;
  virtual void on_liveliness_changed(DataReader<T>&, const core::status::LivelinessChangedStatus&) = 0;
  virtual void on_data_available(DataReader<T>&) = 0;
  virtual void on_subscription_matched(DataReader<T>&, const core::status::SubscriptionMatchedStatus&) = 0;
  virtual void on_sample_lost(DataReader<T>&, const core::status::SampleLostStatus&) = 0;
};

/// The same, with methods that do nothing.
template <typename T>
class NoOpDataReaderListener : public DataReaderListener<T> {
 public:
  void on_requested_deadline_missed(DataReader<T>&,
                                    const core::status::RequestedDeadlineMissedStatus&) override {}
  void on_requested_incompatible_qos(DataReader<T>&,
                                     const core::status::RequestedIncompatibleQosStatus&) override {}
  void on_sample_rejected(DataReader<T>&, const core::status::SampleRejectedStatus&) override {}
  void on_liveliness_changed(DataReader<T>&, const core::status::LivelinessChangedStatus&) override {}
  void on_data_available(DataReader<T>&) override {}
  void on_subscription_matched(DataReader<T>&, const core::status::SubscriptionMatchedStatus&) override {}
  void on_sample_lost(DataReader<T>&, const core::status::SampleLostStatus&) override {}
};

namespace detail {

template <typename T>
class ReaderListenerAdapter final : public llamada::dcps::DataReaderListener {
  using Native = llamada::dcps::DataReader;

 public:
  explicit ReaderListenerAdapter(sub::DataReaderListener<T>& listener) : listener_(listener) {}
  void bind(std::shared_ptr<ReaderState> state) { state_.bind(std::move(state)); }

  void on_requested_deadline_missed(Native&,
                                    const llamada::dcps::RequestedDeadlineMissedStatus& status) override {
    with([&](auto& reader) {
      listener_.on_requested_deadline_missed(reader, core::status::RequestedDeadlineMissedStatus(status));
    });
  }
  void on_requested_incompatible_qos(Native&,
                                     const llamada::dcps::RequestedIncompatibleQosStatus& status) override {
    with([&](auto& reader) {
      listener_.on_requested_incompatible_qos(reader, core::status::RequestedIncompatibleQosStatus(status));
    });
  }
  void on_sample_rejected(Native&, const llamada::dcps::SampleRejectedStatus& status) override {
    with([&](auto& reader) {
      listener_.on_sample_rejected(reader, core::status::SampleRejectedStatus(status));
    });
  }
  void on_sample_lost(Native&, const llamada::dcps::SampleLostStatus& status) override {
    with([&](auto& reader) { listener_.on_sample_lost(reader, core::status::SampleLostStatus(status)); });
  }
  void on_liveliness_changed(Native&, const llamada::dcps::LivelinessChangedStatus& status) override {
    with([&](auto& reader) {
      listener_.on_liveliness_changed(reader, core::status::LivelinessChangedStatus(status));
    });
  }
  void on_subscription_matched(Native&, const llamada::dcps::SubscriptionMatchedStatus& status) override {
    with([&](auto& reader) {
      listener_.on_subscription_matched(reader, core::status::SubscriptionMatchedStatus(status));
    });
  }
  void on_data_available(Native&) override {
    with([&](auto& reader) { listener_.on_data_available(reader); });
  }

 private:
  template <typename Call>
  void with(Call&& call) {
    auto state = state_.get();
    if (!state) return;
    DataReader<T> reader(std::move(state));
    call(reader);
  }

  core::detail::LateState<ReaderState> state_;
  sub::DataReaderListener<T>& listener_;
};

/// A condition of the reader for one selection.
class TemporaryQuery {
 public:
  TemporaryQuery(llamada::dcps::DataReader& reader, const llamada::dcps::DataState& state,
                 const Query& query);
  TemporaryQuery(const TemporaryQuery&) = delete;
  TemporaryQuery& operator=(const TemporaryQuery&) = delete;
  ~TemporaryQuery();
  const std::shared_ptr<llamada::dcps::ReadCondition>& condition() const { return condition_; }

 private:
  llamada::dcps::DataReader& reader_;
  std::shared_ptr<llamada::dcps::ReadCondition> condition_;
};

}  // namespace detail

template <typename T>
LoanedSamples<T> DataReader<T>::Selector::get(bool take) {
  llamada::dcps::DataReader& native = reader_.native();
  std::optional<detail::TemporaryQuery> temporary;
  llamada::dcps::ReadOptions options = options_;
  if (query_) options.condition = temporary.emplace(native, options_.state, *query_).condition();
  return LoanedSamples<T>(core::detail::value_of(take ? native.take(options) : native.read(options)));
}

template <typename T>
std::shared_ptr<detail::ReaderState> DataReader<T>::create(const dds::sub::Subscriber& subscriber,
                                                           detail::Described described,
                                                           const qos::DataReaderQos& qos, Listener* listener,
                                                           const core::status::StatusMask& mask) {
  std::unique_ptr<detail::ReaderListenerAdapter<T>> adapter;
  if (listener != nullptr) adapter = std::make_unique<detail::ReaderListenerAdapter<T>>(*listener);
  auto state = detail::create_reader(subscriber.shared_state(), std::move(described), qos.native(),
                                     adapter.get(), mask.native());
  if (adapter) adapter->bind(state);
  state->listener_adapter = std::move(adapter);
  return state;
}

template <typename T>
void DataReader<T>::listener(Listener* listener, const core::status::StatusMask& mask) {
  std::unique_ptr<detail::ReaderListenerAdapter<T>> adapter;
  if (listener != nullptr) {
    adapter = std::make_unique<detail::ReaderListenerAdapter<T>>(*listener);
    adapter->bind(this->shared_state());
  }
  this->native().set_listener(adapter.get(), mask.native());
  this->state().listener_adapter = std::move(adapter);
}

}  // namespace dds::sub
