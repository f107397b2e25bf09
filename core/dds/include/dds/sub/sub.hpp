#pragma once

#include <algorithm>
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

/// The topic description of a reader of a built-in topic.
class BuiltinDescription final : public topic::detail::DescriptionState {
 public:
  BuiltinDescription(topic::detail::Participant participant,
                     std::shared_ptr<llamada::dcps::TopicDescription> native)
      : participant_(std::move(participant)), native_(std::move(native)) {}
  const topic::detail::Participant& participant() const override { return participant_; }
  std::shared_ptr<llamada::dcps::TopicDescription> description() const override { return native_; }
  std::shared_ptr<topic::detail::TopicState> topic() override { return nullptr; }

 private:
  topic::detail::Participant participant_;
  std::shared_ptr<llamada::dcps::TopicDescription> native_;
};

using Description = std::shared_ptr<topic::detail::DescriptionState>;

class ReaderState final : public core::detail::ConfiguredState<llamada::dcps::DataReader> {
 public:
  ReaderState(std::shared_ptr<SubscriberState> subscriber, Description description,
              std::shared_ptr<llamada::dcps::DataReader> native)
      : ConfiguredState(std::move(native)),
        subscriber_(std::move(subscriber)),
        description_(std::move(description)) {}
  ~ReaderState() override { close_silently(); }
  const std::shared_ptr<SubscriberState>& subscriber() const { return subscriber_; }
  const Description& description() const { return description_; }

  /// The states that read() and take() return by default: all references to the reader share them.
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
  Description description_;
  std::atomic<std::uint64_t> filter_{packed({})};
};

using ReaderListening = core::detail::Listening<llamada::dcps::DataReaderListener>;

std::shared_ptr<ReaderState> create_reader(const std::shared_ptr<SubscriberState>& subscriber,
                                           Description description, const llamada::qos::DataReaderQos& qos,
                                           ReaderListening listening);

}  // namespace detail

/// Makes DataReaders and has the policies that they share (DDS 1.4, 2.2.2.5.2; ISO C++ PSM, 7.5.13).
class Subscriber : public core::ConfiguredReference<detail::SubscriberState, llamada::dcps::Subscriber,
                                                    qos::SubscriberQos> {
 public:
  using ConfiguredReference::ConfiguredReference;

  explicit Subscriber(const domain::DomainParticipant& participant)
      : Subscriber(participant, participant.default_subscriber_qos()) {}
  Subscriber(const domain::DomainParticipant& participant, const qos::SubscriberQos& qos,
             SubscriberListener* listener = nullptr,
             const core::status::StatusMask& mask = core::status::StatusMask::all());

  /// Hears its own statuses, and those of its readers that their own listeners' masks do not have. nullptr:
  /// none. The listener must outlive the subscriber, or the time for which it is set.
  void listener(SubscriberListener* listener, const core::status::StatusMask& mask);
  SubscriberListener* listener() const;

  domain::DomainParticipant participant() const { return domain::DomainParticipant(state().participant()); }
  qos::DataReaderQos default_datareader_qos() const { return {native().default_datareader_qos()}; }
  Subscriber& default_datareader_qos(const qos::DataReaderQos& qos) {
    core::detail::value_of(native().set_default_datareader_qos(qos.native()));
    return *this;
  }
  Subscriber& operator<<(const qos::SubscriberQos& qos) {
    this->qos(qos);
    return *this;
  }
  /// default_datareader_qos() as a stream.
  Subscriber& operator<<(const qos::DataReaderQos& qos) { return default_datareader_qos(qos); }
  const Subscriber& operator>>(qos::DataReaderQos& qos) const {
    qos = default_datareader_qos();
    return *this;
  }
  using ConfiguredReference::operator>>;
  void notify_datareaders() const { core::detail::value_of(native().notify_datareaders()); }
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
    if (!ended_ && subscriber_.state().is_usable())
      static_cast<void>(subscriber_.native().end_access().has_value());
  }
  void end() {
    ended_ = true;
    core::detail::value_of(subscriber_.native().end_access());
  }

 private:
  Subscriber subscriber_;
  bool ended_ = false;
};

/// A reader of any type. Any thread.
class AnyDataReader
    : public core::ConfiguredReference<detail::ReaderState, llamada::dcps::DataReader, qos::DataReaderQos> {
 public:
  using ConfiguredReference::ConfiguredReference;

  dds::sub::Subscriber subscriber() const { return dds::sub::Subscriber(state().subscriber()); }
  const std::string& topic_name() const { return native().topicdescription()->name(); }
  topic::TopicDescription<> topic_description() const {
    return topic::TopicDescription<>(state().description());
  }
  /// Returns it as a DataReader<T>. Throws InvalidDowncastError if it is of another type.
  template <typename T>
  DataReader<T> get() const {
    topic::detail::check_type<DataReader<T>>(*native().topicdescription()->type());
    return DataReader<T>(shared_state());
  }
  /// Waits until the history of all matched TRANSIENT_LOCAL writers is here. Throws TimeoutError.
  void wait_for_historical_data(const core::Duration& at_most) const {
    core::detail::value_of(native().wait_for_historical_data(at_most.to_chrono()));
  }

  core::status::RequestedDeadlineMissedStatus requested_deadline_missed_status() const {
    return core::status::RequestedDeadlineMissedStatus(native().requested_deadline_missed_status());
  }
  core::status::RequestedIncompatibleQosStatus requested_incompatible_qos_status() const {
    return core::status::RequestedIncompatibleQosStatus(native().requested_incompatible_qos_status());
  }
  core::status::SampleRejectedStatus sample_rejected_status() const {
    return core::status::SampleRejectedStatus(native().sample_rejected_status());
  }
  core::status::SampleLostStatus sample_lost_status() const {
    return core::status::SampleLostStatus(native().sample_lost_status());
  }
  core::status::LivelinessChangedStatus liveliness_changed_status() const {
    return core::status::LivelinessChangedStatus(native().liveliness_changed_status());
  }
  core::status::SubscriptionMatchedStatus subscription_matched_status() const {
    return core::status::SubscriptionMatchedStatus(native().subscription_matched_status());
  }
};

namespace detail {

/// Copies of a Query share this.
struct QueryState {
  AnyDataReader reader;
  core::detail::Expression expression;
};

}  // namespace detail

/// An expression over the samples of one reader, for selections and QueryConditions: "value > %0 ORDER BY
/// value" (DDS 1.4, Annex B). A reference, as the PSM has it (7.5.13): a copy is the same query. One thread
/// at a time.
class Query : public core::Reference<detail::QueryState> {
 public:
  using iterator = core::detail::Expression::iterator;
  using const_iterator = core::detail::Expression::const_iterator;
  using Reference::Reference;

  Query(const AnyDataReader& reader, std::string expression, core::StringSeq parameters = {})
      : Reference(std::make_shared<State>(State{reader, {std::move(expression), std::move(parameters)}})) {}
  template <typename Iterator>
  Query(const AnyDataReader& reader, std::string expression, const Iterator& begin, const Iterator& end)
      : Query(reader, std::move(expression), core::StringSeq(begin, end)) {}

  const AnyDataReader& data_reader() const { return state().reader; }
  const std::string& expression() const { return state().expression.expression(); }
  void expression(std::string expression) { state().expression.expression(std::move(expression)); }
  const core::StringSeq& parameters() const { return state().expression.parameters(); }
  void parameters(core::StringSeq parameters) { state().expression.parameters(std::move(parameters)); }
  template <typename Iterator>
  void parameters(const Iterator& begin, const Iterator& end) {
    state().expression.parameters(begin, end);
  }
  void add_parameter(std::string parameter) { state().expression.add_parameter(std::move(parameter)); }
  std::uint32_t parameters_length() const { return state().expression.parameters_length(); }

  // The parameters, in their order.
  iterator begin() { return state().expression.begin(); }
  iterator end() { return state().expression.end(); }
  const_iterator begin() const { return state().expression.parameters().begin(); }
  const_iterator end() const { return state().expression.parameters().end(); }
};

/// Reads samples of one topic (DDS 1.4, 2.2.2.5.3; ISO C++ PSM, 7.5.13). Any thread.
template <typename T>
class DataReader : public AnyDataReader {
 public:
  using DataType = T;
  using Listener = DataReaderListener<T>;
  using AnyDataReader::AnyDataReader;

  /// `topic` is a Topic<T> or a ContentFilteredTopic<T>.
  DataReader(const dds::sub::Subscriber& subscriber, const topic::TopicDescription<T>& topic)
      : DataReader(subscriber, topic, subscriber.default_datareader_qos()) {}
  DataReader(const dds::sub::Subscriber& subscriber, const topic::TopicDescription<T>& topic,
             const qos::DataReaderQos& qos, Listener* listener = nullptr,
             const core::status::StatusMask& mask = core::status::StatusMask::all())
      : AnyDataReader(detail::create_reader(
            subscriber.shared_state(), topic.shared_state(), qos.native(),
            {core::detail::adapt<detail::ReaderAdapter<T>>(listener), mask.native()})) {}

  topic::TopicDescription<T> topic_description() const {
    return topic::TopicDescription<T>(state().description());
  }
  /// Returns the topic, for a filtered one its related topic. A built-in topic has none: null.
  dds::topic::Topic<T> topic() const { return dds::topic::Topic<T>(state().description()->topic()); }
  /// For polymorphic_cast().
  void check_data_type() const {
    topic::detail::check_type<DataReader>(*native().topicdescription()->type());
  }

  /// The states that read() and take() of all references to this reader return by default; at first all
  /// states.
  status::DataState default_filter_state() const { return status::DataState(this->state().filter()); }
  DataReader& default_filter_state(const status::DataState& state) {
    this->state().filter(state.native());
    return *this;
  }

  LoanedSamples<T> read() const { return get(false, options()); }
  LoanedSamples<T> take() const { return get(true, options()); }
  /// Copies at most `max_count` samples behind `out`, an iterator over Sample<T>; returns their number.
  template <typename Iterator>
  std::uint32_t read(Iterator out, std::uint32_t max_count) const {
    return select().read(out, max_count);
  }
  template <typename Iterator>
  std::uint32_t take(Iterator out, std::uint32_t max_count) const {
    return select().take(out, max_count);
  }
  /// Copies all, mostly for a std::back_insert_iterator; returns their number.
  template <typename Iterator>
  std::uint32_t read(Iterator out) const {
    return select().read(out);
  }
  template <typename Iterator>
  std::uint32_t take(Iterator out) const {
    return select().take(out);
  }

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
    /// Selects samples of the first instance behind this one that has any.
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
    /// As DataReader's. The smaller one of `max_count` and max_samples() counts.
    template <typename Iterator>
    std::uint32_t read(Iterator out, std::uint32_t max_count) {
      return copy(false, out, max_count);
    }
    template <typename Iterator>
    std::uint32_t take(Iterator out, std::uint32_t max_count) {
      return copy(true, out, max_count);
    }
    template <typename Iterator>
    std::uint32_t read(Iterator out) {
      return detail::put(get(false), out, ~std::size_t{0});
    }
    template <typename Iterator>
    std::uint32_t take(Iterator out) {
      return detail::put(get(true), out, ~std::size_t{0});
    }

    /// Decides whether a stream reads (at first) or takes.
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
    template <typename Iterator>
    std::uint32_t copy(bool take, Iterator out, std::uint32_t max_count) {
      Selector limited = *this;
      const bool is_less =
          options_.max_samples < 0 || max_count < static_cast<std::uint32_t>(options_.max_samples);
      if (is_less)
        limited.max_samples(static_cast<std::int32_t>(std::min<std::uint32_t>(max_count, 0x7fffffff)));
      return detail::put(limited.get(take), out, max_count);
    }
    const DataReader& reader_;
    llamada::dcps::ReadOptions options_;
    std::optional<Query> query_;
    bool takes_ = false;
  };
  Selector select() const { return Selector(*this); }

  /// A selection as a stream, with manipulators from sub/manipulators.hpp:
  /// `reader >> take >> max_samples(10) >> samples`.
  template <typename Manipulator>
  requires std::invocable<const Manipulator&, Selector&> Selector
  operator>>(const Manipulator& manipulator) const {
    return select() >> manipulator;
  }
  DataReader& operator<<(const qos::DataReaderQos& qos) {
    this->qos(qos);
    return *this;
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
    return topic::detail::replace(sample, bytes);
  }

  /// nullptr: none. The listener must outlive the reader, or the time that it is set.
  void listener(Listener* listener, const core::status::StatusMask& mask);
  Listener* listener() const;

 private:
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
void DataReader<T>::listener(Listener* listener, const core::status::StatusMask& mask) {
  this->state().listen({core::detail::adapt<detail::ReaderAdapter<T>>(listener), mask.native()});
}

template <typename T>
DataReaderListener<T>* DataReader<T>::listener() const {
  return this->state().template heard_by<detail::ReaderAdapter<T>>();
}

}  // namespace dds::sub
