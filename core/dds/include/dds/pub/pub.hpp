#pragma once

#include <new>
#include <optional>

#include "dds/pub/listener.hpp"
#include "dds/topic/instance.hpp"
#include "dds/topic/topic.hpp"
#include "llamada/dcps/publisher.hpp"

namespace dds::pub {

class PublisherListener;

namespace detail {

class PublisherState final : public core::detail::ConfiguredState<llamada::dcps::Publisher> {
 public:
  PublisherState(topic::detail::Participant participant, std::shared_ptr<llamada::dcps::Publisher> native)
      : ConfiguredState(std::move(native)), participant_(std::move(participant)) {}
  ~PublisherState() override { close_silently(); }
  const topic::detail::Participant& participant() const { return participant_; }

 private:
  llamada::Status remove() override;
  topic::detail::Participant participant_;
};

class WriterState final : public core::detail::ConfiguredState<llamada::dcps::DataWriter> {
 public:
  WriterState(std::shared_ptr<PublisherState> publisher, std::shared_ptr<topic::detail::TopicState> topic,
              std::shared_ptr<llamada::dcps::DataWriter> native)
      : ConfiguredState(std::move(native)), publisher_(std::move(publisher)), topic_(std::move(topic)) {}
  ~WriterState() override { close_silently(); }
  const std::shared_ptr<PublisherState>& publisher() const { return publisher_; }
  const std::shared_ptr<topic::detail::TopicState>& topic() const { return topic_; }

 private:
  llamada::Status remove() override;
  std::shared_ptr<PublisherState> publisher_;
  std::shared_ptr<topic::detail::TopicState> topic_;
};

using WriterListening = core::detail::Listening<llamada::dcps::DataWriterListener>;

std::shared_ptr<WriterState> create_writer(const std::shared_ptr<PublisherState>& publisher,
                                           const std::shared_ptr<topic::detail::TopicState>& topic,
                                           const llamada::qos::DataWriterQos& qos, WriterListening listening);

}  // namespace detail

/// Makes DataWriters and has the policies that they share (DDS 1.4, 2.2.2.4.1; ISO C++ PSM, 7.5.12).
class Publisher
    : public core::ConfiguredReference<detail::PublisherState, llamada::dcps::Publisher, qos::PublisherQos> {
 public:
  using ConfiguredReference::ConfiguredReference;

  explicit Publisher(const domain::DomainParticipant& participant)
      : Publisher(participant, participant.default_publisher_qos()) {}
  Publisher(const domain::DomainParticipant& participant, const qos::PublisherQos& qos,
            PublisherListener* listener = nullptr,
            const core::status::StatusMask& mask = core::status::StatusMask::all());

  /// Hears the statuses of its writers that their own listeners' masks do not have. nullptr: none. The
  /// listener must outlive the publisher, or the time for which it is set.
  void listener(PublisherListener* listener, const core::status::StatusMask& mask);
  PublisherListener* listener() const;

  domain::DomainParticipant participant() const { return domain::DomainParticipant(state().participant()); }
  qos::DataWriterQos default_datawriter_qos() const { return {native().default_datawriter_qos()}; }
  Publisher& default_datawriter_qos(const qos::DataWriterQos& qos) {
    core::detail::value_of(native().set_default_datawriter_qos(qos.native()));
    return *this;
  }
  Publisher& operator<<(const qos::PublisherQos& qos) {
    this->qos(qos);
    return *this;
  }
  /// default_datawriter_qos() as a stream.
  Publisher& operator<<(const qos::DataWriterQos& qos) { return default_datawriter_qos(qos); }
  const Publisher& operator>>(qos::DataWriterQos& qos) const {
    qos = default_datawriter_qos();
    return *this;
  }
  using ConfiguredReference::operator>>;
  /// Waits for the readers of all its writers. Throws TimeoutError after `at_most`.
  void wait_for_acknowledgments(const core::Duration& at_most) const {
    core::detail::value_of(native().wait_for_acknowledgments(at_most.to_chrono()));
  }
};

/// All changes while it lives, or until end(), are one coherent set (DDS 1.4, 2.2.2.4.1.10).
class CoherentSet {
 public:
  explicit CoherentSet(const Publisher& publisher) : publisher_(publisher) {
    core::detail::value_of(publisher_.native().begin_coherent_changes());
  }
  CoherentSet(const CoherentSet&) = delete;
  CoherentSet& operator=(const CoherentSet&) = delete;
  ~CoherentSet() {
    if (!ended_ && publisher_.state().is_usable())
      static_cast<void>(publisher_.native().end_coherent_changes().has_value());
  }
  void end() {
    ended_ = true;
    core::detail::value_of(publisher_.native().end_coherent_changes());
  }

 private:
  Publisher publisher_;
  bool ended_ = false;
};

/// Changes may be held back while it lives, or until resume() (DDS 1.4, 2.2.2.4.1.8).
class SuspendedPublication {
 public:
  explicit SuspendedPublication(const Publisher& publisher) : publisher_(publisher) {
    core::detail::value_of(publisher_.native().suspend_publications());
  }
  SuspendedPublication(const SuspendedPublication&) = delete;
  SuspendedPublication& operator=(const SuspendedPublication&) = delete;
  ~SuspendedPublication() {
    if (!resumed_ && publisher_.state().is_usable())
      static_cast<void>(publisher_.native().resume_publications().has_value());
  }
  void resume() {
    resumed_ = true;
    core::detail::value_of(publisher_.native().resume_publications());
  }

 private:
  Publisher publisher_;
  bool resumed_ = false;
};

/// Room for one sample of a plain type in the memory that readers look into: filled in place and given to
/// DataWriter::write(), it is never copied. Dropping it gives the room back. Move-only. Not in the standard.
template <typename T>
class WriterLoan {
 public:
  explicit WriterLoan(llamada::dcps::DataWriter& writer) {
    core::detail::value_of(writer.loan_sample(sizeof(T), loan_));
    value_ = new (loan_.data().data()) T;
  }
  T& data() { return *value_; }
  T& operator*() { return *value_; }
  T* operator->() { return value_; }
  llamada::dcps::WriteLoan& native() { return loan_; }

 private:
  llamada::dcps::WriteLoan loan_;
  T* value_ = nullptr;
};

/// A writer of any type. Any thread.
class AnyDataWriter
    : public core::ConfiguredReference<detail::WriterState, llamada::dcps::DataWriter, qos::DataWriterQos> {
 public:
  using ConfiguredReference::ConfiguredReference;

  dds::pub::Publisher publisher() const { return dds::pub::Publisher(state().publisher()); }
  const std::string& topic_name() const { return native().topic()->name(); }
  dds::topic::TopicDescription<> topic_description() const {
    return dds::topic::TopicDescription<>(dds::topic::AnyTopic(state().topic()));
  }
  /// Returns it as a DataWriter<T>. Throws InvalidDowncastError if it is of another type.
  template <typename T>
  DataWriter<T> get() const {
    topic::detail::check_type<DataWriter<T>>(*native().topic()->type());
    return DataWriter<T>(shared_state());
  }
  /// Waits until all matched RELIABLE readers have all samples. Throws TimeoutError after `at_most`.
  void wait_for_acknowledgments(const core::Duration& at_most) const {
    core::detail::value_of(native().wait_for_acknowledgments(at_most.to_chrono()));
  }
  void assert_liveliness() const { core::detail::value_of(native().assert_liveliness()); }

  core::status::OfferedDeadlineMissedStatus offered_deadline_missed_status() const {
    return core::status::OfferedDeadlineMissedStatus(native().offered_deadline_missed_status());
  }
  core::status::OfferedIncompatibleQosStatus offered_incompatible_qos_status() const {
    return core::status::OfferedIncompatibleQosStatus(native().offered_incompatible_qos_status());
  }
  core::status::LivelinessLostStatus liveliness_lost_status() const {
    return core::status::LivelinessLostStatus(native().liveliness_lost_status());
  }
  core::status::PublicationMatchedStatus publication_matched_status() const {
    return core::status::PublicationMatchedStatus(native().publication_matched_status());
  }
};

/// Writes samples of one topic (DDS 1.4, 2.2.2.4.2; ISO C++ PSM, 7.5.12). A write that finds no room within
/// RELIABILITY's max_blocking_time throws TimeoutError. Any thread.
template <typename T>
class DataWriter : public AnyDataWriter {
 public:
  using DataType = T;
  using Listener = DataWriterListener<T>;
  using AnyDataWriter::AnyDataWriter;

  DataWriter(const Publisher& publisher, const dds::topic::Topic<T>& topic)
      : DataWriter(publisher, topic, publisher.default_datawriter_qos()) {}
  DataWriter(const Publisher& publisher, const dds::topic::Topic<T>& topic, const qos::DataWriterQos& qos,
             Listener* listener = nullptr,
             const core::status::StatusMask& mask = core::status::StatusMask::all())
      : AnyDataWriter(create(publisher, topic, qos, listener, mask)) {}

  dds::topic::Topic<T> topic() const { return dds::topic::Topic<T>(state().topic()); }

  void write(const T& sample) { write_bytes(sample, llamada::dcps::handle_nil, std::nullopt); }
  void write(const T& sample, const core::Time& timestamp) {
    write_bytes(sample, llamada::dcps::handle_nil, timestamp.to_chrono());
  }
  void write(const T& sample, const core::InstanceHandle& instance) {
    write_bytes(sample, instance.native(), std::nullopt);
  }
  void write(const T& sample, const core::InstanceHandle& instance, const core::Time& timestamp) {
    write_bytes(sample, instance.native(), timestamp.to_chrono());
  }
  void write(const dds::topic::TopicInstance<T>& instance) { write(instance.sample(), instance.handle()); }
  void write(const dds::topic::TopicInstance<T>& instance, const core::Time& timestamp) {
    write(instance.sample(), instance.handle(), timestamp);
  }
  /// Writes samples or TopicInstances in their order. The first failure throws; those before are written.
  template <typename Iterator>
  void write(const Iterator& begin, const Iterator& end) {
    for (Iterator each = begin; each != end; ++each) write(*each);
  }
  template <typename Iterator>
  void write(const Iterator& begin, const Iterator& end, const core::Time& timestamp) {
    for (Iterator each = begin; each != end; ++each) write(*each, timestamp);
  }
  /// Samples, each with the handle of its instance; the shorter list ends it.
  template <typename Samples, typename Handles>
  void write(const Samples& begin, const Samples& end, const Handles& handles_begin,
             const Handles& handles_end) {
    Handles handle = handles_begin;
    for (Samples each = begin; each != end && handle != handles_end; ++each, ++handle) write(*each, *handle);
  }
  template <typename Samples, typename Handles>
  void write(const Samples& begin, const Samples& end, const Handles& handles_begin,
             const Handles& handles_end, const core::Time& timestamp) {
    Handles handle = handles_begin;
    for (Samples each = begin; each != end && handle != handles_end; ++each, ++handle)
      write(*each, *handle, timestamp);
  }

  // write() as a stream.
  DataWriter& operator<<(const T& sample) {
    write(sample);
    return *this;
  }
  DataWriter& operator<<(const dds::topic::TopicInstance<T>& instance) {
    write(instance);
    return *this;
  }
  DataWriter& operator<<(const std::pair<T, core::Time>& sample) {
    write(sample.first, sample.second);
    return *this;
  }
  DataWriter& operator<<(const std::pair<T, core::InstanceHandle>& sample) {
    write(sample.first, sample.second);
    return *this;
  }
  DataWriter& operator<<(DataWriter& (*manipulator)(DataWriter&)) { return manipulator(*this); }
  DataWriter& operator<<(const qos::DataWriterQos& qos) {
    this->qos(qos);
    return *this;
  }

  /// Room for a sample of a plain type. Throws OutOfResourcesError. write() hands it over.
  WriterLoan<T> loan_sample() {
    static_assert(Representation::is_plain, "only plain types are written in place");
    static_assert(alignof(T) <= (sizeof(T) > 48 ? 64 : 8),
                  "loans are aligned to 64 bytes, of at most 48 to 8");
    return WriterLoan<T>(native());
  }
  void write(WriterLoan<T>&& loan) { core::detail::value_of(native().write(std::move(loan.native()))); }

  // The life of instances (DDS 1.4, 2.2.2.4.2.5 to 2.2.2.4.2.14). Only the key members of
  // a `key` count. A timestamp replaces the time of the call. An instance that is not registered here throws
  // PreconditionNotMetError.

  core::InstanceHandle register_instance(const T& key) { return register_instance(key, std::nullopt); }
  core::InstanceHandle register_instance(const T& key, const core::Time& timestamp) {
    return register_instance(key, timestamp.to_chrono());
  }
  DataWriter& unregister_instance(const core::InstanceHandle& instance) {
    core::detail::value_of(native().unregister_instance(instance.native()));
    return *this;
  }
  DataWriter& unregister_instance(const core::InstanceHandle& instance, const core::Time& timestamp) {
    core::detail::value_of(native().unregister_instance(instance.native(), timestamp.to_chrono()));
    return *this;
  }
  DataWriter& unregister_instance(const T& key) {
    core::detail::value_of(native().unregister_instance(bytes_of(key)));
    return *this;
  }
  DataWriter& unregister_instance(const T& key, const core::Time& timestamp) {
    core::detail::value_of(
        native().unregister_instance(bytes_of(key), llamada::dcps::handle_nil, timestamp.to_chrono()));
    return *this;
  }
  DataWriter& dispose_instance(const core::InstanceHandle& instance) {
    core::detail::value_of(native().dispose(instance.native()));
    return *this;
  }
  DataWriter& dispose_instance(const core::InstanceHandle& instance, const core::Time& timestamp) {
    core::detail::value_of(native().dispose(instance.native(), timestamp.to_chrono()));
    return *this;
  }
  DataWriter& dispose_instance(const T& key) {
    core::detail::value_of(native().dispose(bytes_of(key)));
    return *this;
  }
  DataWriter& dispose_instance(const T& key, const core::Time& timestamp) {
    core::detail::value_of(native().dispose(bytes_of(key), llamada::dcps::handle_nil, timestamp.to_chrono()));
    return *this;
  }
  /// Returns nil if the instance is not registered here.
  core::InstanceHandle lookup_instance(const T& key) const {
    return core::InstanceHandle(core::detail::value_of(native().lookup_instance(bytes_of(key))));
  }
  /// Returns a sample with the instance's key members, and defaults for all others.
  T& key_value(T& sample, const core::InstanceHandle& instance) const {
    const auto bytes = core::detail::value_of(native().key_value(instance.native()));
    return dds::topic::detail::replace(sample, bytes);
  }
  /// Like above, and sets the handle.
  dds::topic::TopicInstance<T>& key_value(dds::topic::TopicInstance<T>& into,
                                          const core::InstanceHandle& instance) const {
    key_value(into.sample(), instance);
    into.handle(instance);
    return into;
  }

  dds::topic::TopicDescription<T> topic_description() const { return topic(); }
  /// For polymorphic_cast().
  void check_data_type() const { dds::topic::detail::check_type<DataWriter>(*native().topic()->type()); }

  /// nullptr: none. The listener must outlive the writer, or the time for which it is set.
  void listener(Listener* listener, const core::status::StatusMask& mask);
  Listener* listener() const;

 private:
  using Representation = dds::topic::detail::Representation<T>;

  static std::shared_ptr<detail::WriterState> create(const Publisher& publisher,
                                                     const dds::topic::Topic<T>& topic,
                                                     const qos::DataWriterQos& qos, Listener* listener,
                                                     const core::status::StatusMask& mask);

  core::InstanceHandle register_instance(const T& key,
                                         const llamada::dcps::DataWriter::OptionalTimestamp& timestamp) {
    return core::InstanceHandle(core::detail::value_of(native().register_instance(bytes_of(key), timestamp)));
  }
  static std::vector<std::byte> bytes_of(const T& sample) {
    return core::detail::value_of(Representation::serialize(sample));
  }
  void write_bytes(const T& sample, llamada::dcps::InstanceHandle instance,
                   const llamada::dcps::DataWriter::OptionalTimestamp& timestamp) {
    if constexpr (Representation::is_plain) {
      core::detail::value_of(native().write(std::as_bytes(std::span(&sample, 1)), instance, timestamp));
    } else {
      core::detail::value_of(native().write(bytes_of(sample), instance, timestamp));
    }
  }
};

template <typename T>
std::shared_ptr<detail::WriterState> DataWriter<T>::create(const Publisher& publisher,
                                                           const dds::topic::Topic<T>& topic,
                                                           const qos::DataWriterQos& qos, Listener* listener,
                                                           const core::status::StatusMask& mask) {
  return detail::create_writer(publisher.shared_state(), topic.shared_state(), qos.native(),
                               {core::detail::adapt<detail::WriterAdapter<T>>(listener), mask.native()});
}

template <typename T>
void DataWriter<T>::listener(Listener* listener, const core::status::StatusMask& mask) {
  this->state().listen({core::detail::adapt<detail::WriterAdapter<T>>(listener), mask.native()});
}

template <typename T>
DataWriterListener<T>* DataWriter<T>::listener() const {
  return this->state().template heard_by<detail::WriterAdapter<T>>();
}

}  // namespace dds::pub
