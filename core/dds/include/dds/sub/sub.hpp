#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>

#include "dds/sub/listener.hpp"
#include "dds/sub/sample.hpp"
#include "dds/topic/topic.hpp"
#include "llamada/dcps/subscriber.hpp"

namespace dds::sub {

class SubscriberListener;

namespace detail {

class SubscriberState final : public core::detail::ConfiguredState<llamada::dcps::Subscriber> {
 public:
  SubscriberState(topic::detail::Participant participant, std::shared_ptr<llamada::dcps::Subscriber> native)
      : ConfiguredState(std::move(native)), participant_(std::move(participant)) {}
  ~SubscriberState() override { close_silently(); }
  const topic::detail::Participant& participant() const { return participant_; }

 private:
  llamada::Status remove() override;
  topic::detail::Participant participant_;
};

/// What a reader is of: a topic, filtered or not; those of the built-in topics have none here.
struct Described {
  std::shared_ptr<topic::detail::TopicState> topic;
  std::shared_ptr<topic::detail::FilteredTopicState> filtered;
};

class ReaderState final : public core::detail::ConfiguredState<llamada::dcps::DataReader> {
 public:
  ReaderState(std::shared_ptr<SubscriberState> subscriber, Described described,
              std::shared_ptr<llamada::dcps::DataReader> native)
      : ConfiguredState(std::move(native)),
        subscriber_(std::move(subscriber)),
        described_(std::move(described)) {}
  ~ReaderState() override { close_silently(); }
  const std::shared_ptr<SubscriberState>& subscriber() const { return subscriber_; }
  const Described& described() const { return described_; }

  /// What read() and take() give when nothing else is said: all references to the reader share it.
  llamada::dcps::DataState filter() const {
    const std::uint64_t masks = filter_.load(std::memory_order_relaxed);
    return {mask_at(masks, 0), mask_at(masks, 1), mask_at(masks, 2)};
  }
  void filter(const llamada::dcps::DataState& state) {
    filter_.store(packed(state), std::memory_order_relaxed);
  }

 private:
  llamada::Status remove() override;
  // Three masks of 16 bits in one word, so that any thread may set and read them.
  static constexpr std::uint64_t packed(const llamada::dcps::DataState& state) {
    const auto at = [](llamada::dcps::StateMask mask, int index) {
      return static_cast<std::uint64_t>(mask & 0xffff) << 16 * index;
    };
    return at(state.sample, 0) | at(state.view, 1) | at(state.instance, 2);
  }
  static constexpr llamada::dcps::StateMask mask_at(std::uint64_t masks, int index) {
    return static_cast<llamada::dcps::StateMask>(masks >> 16 * index & 0xffff);
  }

  std::shared_ptr<SubscriberState> subscriber_;
  Described described_;
  std::atomic<std::uint64_t> filter_{packed({})};
};

using ReaderListening = core::detail::Listening<llamada::dcps::DataReaderListener>;

std::shared_ptr<ReaderState> create_reader(const std::shared_ptr<SubscriberState>& subscriber,
                                           Described described, const llamada::qos::DataReaderQos& qos,
                                           ReaderListening listening);

}  // namespace detail

/// Makes DataReaders and has the policies that they share (DDS 1.4, 2.2.2.5.2; ISO C++ PSM, 7.5.13).
class Subscriber : public core::ConfiguredReference<detail::SubscriberState, llamada::dcps::Subscriber,
                                                    qos::SubscriberQos> {
 public:
  using ConfiguredReference::ConfiguredReference;

  explicit Subscriber(const domain::DomainParticipant& participant)
      : Subscriber(participant, participant.native().default_subscriber_qos()) {}
  Subscriber(const domain::DomainParticipant& participant, const qos::SubscriberQos& qos,
             SubscriberListener* listener = nullptr,
             const core::status::StatusMask& mask = core::status::StatusMask::all());

  /// Of itself, and of its readers what their own listeners' masks have not. nullptr: none. The listener must
  /// outlive the subscriber, or the time that it is set.
  void listener(SubscriberListener* listener, const core::status::StatusMask& mask);
  SubscriberListener* listener() const;

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
  /// As what it is. Throws InvalidDowncastError if it is of another type.
  template <typename T>
  DataReader<T> get() const {
    topic::detail::check_type<DataReader<T>>(*native().topicdescription()->type());
    return DataReader<T>(shared_state());
  }
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
  status::DataState default_filter_state() const { return status::DataState(this->state().filter()); }
  DataReader& default_filter_state(const status::DataState& state) {
    this->state().filter(state.native());
    return *this;
  }

  LoanedSamples<T> read() const { return get(false, options()); }
  LoanedSamples<T> take() const { return get(true, options()); }

  /// Which samples: `reader.select().state(DataState::new_data()).max_samples(10).take()`.
  class Selector {
   public:
    explicit Selector(const DataReader& reader) : reader_(reader) {
      options_.state = reader.state().filter();
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

    /// What a stream does in the end; at first it reads.
    Selector& mode(bool takes) {
      takes_ = takes;
      return *this;
    }
    template <typename Manipulator>
    requires std::invocable<const Manipulator&, Selector&> Selector& operator>>(
        const Manipulator& manipulator) {
      manipulator(*this);
      return *this;
    }
    Selector& operator>>(LoanedSamples<T>& samples) {
      samples = get(takes_);
      return *this;
    }

   private:
    LoanedSamples<T> get(bool take);
    const DataReader& reader_;
    llamada::dcps::ReadOptions options_;
    std::optional<Query> query_;
    bool takes_ = false;
  };
  Selector select() const { return Selector(*this); }

  /// The same as a stream: `reader >> take >> max_samples(10) >> samples`, with what is in
  /// sub/manipulators.hpp.
  template <typename Manipulator>
  requires std::invocable<const Manipulator&, Selector&> Selector
  operator>>(const Manipulator& manipulator) const {
    return select() >> manipulator;
  }
  const DataReader& operator>>(LoanedSamples<T>& samples) const {
    samples = read();
    return *this;
  }
  using AnyDataReader::operator>>;

  core::InstanceHandle lookup_instance(const T& key) const {
    const auto bytes = core::detail::value_of(topic::detail::Representation<T>::serialize(key));
    return core::InstanceHandle(core::detail::value_of(native().lookup_instance(bytes)));
  }
  /// A sample with the instance's key members and defaults else.
  T& key_value(T& sample, const core::InstanceHandle& instance) const {
    const auto bytes = core::detail::value_of(native().key_value(instance.native()));
    return sample = core::detail::value_of(topic::detail::Representation<T>::deserialize(bytes));
  }

  /// nullptr: none. The listener must outlive the reader, or the time that it is set.
  void listener(Listener* listener, const core::status::StatusMask& mask);
  Listener* listener() const;

 private:
  static std::shared_ptr<detail::ReaderState> create(const dds::sub::Subscriber& subscriber,
                                                     detail::Described described,
                                                     const qos::DataReaderQos& qos, Listener* listener,
                                                     const core::status::StatusMask& mask);

  LoanedSamples<T> get(bool take, const llamada::dcps::ReadOptions& options) const {
    llamada::dcps::LoanedSamples samples;
    core::detail::value_of(take ? native().take(options, samples) : native().read(options, samples));
    return LoanedSamples<T>(std::move(samples));
  }
  llamada::dcps::ReadOptions options() const {
    llamada::dcps::ReadOptions options;
    options.state = this->state().filter();
    return options;
  }
};

namespace detail {

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
  return reader_.get(take, options);
}

template <typename T>
std::shared_ptr<detail::ReaderState> DataReader<T>::create(const dds::sub::Subscriber& subscriber,
                                                           detail::Described described,
                                                           const qos::DataReaderQos& qos, Listener* listener,
                                                           const core::status::StatusMask& mask) {
  return detail::create_reader(subscriber.shared_state(), std::move(described), qos.native(),
                               {core::detail::adapt<detail::ReaderAdapter<T>>(listener), mask.native()});
}

template <typename T>
void DataReader<T>::listener(Listener* listener, const core::status::StatusMask& mask) {
  this->state().listen({core::detail::adapt<detail::ReaderAdapter<T>>(listener), mask.native()});
}

template <typename T>
DataReaderListener<T>* DataReader<T>::listener() const {
  return this->state().template heard_by<detail::ReaderAdapter<T>>();
}

}  // namespace dds::sub
