#pragma once

#include "dds/core/entity.hpp"

// Listeners of writers and publishers (DDS 1.4, 2.2.2.4.3 and 2.2.2.4.4; ISO C++ PSM, 7.5.12). All are called
// from the participant's service thread. An exception that leaves one ends the program.
namespace dds::pub {

class AnyDataWriter;
template <typename T>
class DataWriter;

namespace detail {

/// The statuses that a listener hears of a `Writer`: a DataWriter<T> or an AnyDataWriter.
template <typename Writer>
class WriterMethods {
 public:
  using Subject = Writer;
  virtual ~WriterMethods() = default;
  virtual void on_offered_deadline_missed(Writer&, const core::status::OfferedDeadlineMissedStatus&) = 0;
  virtual void on_offered_incompatible_qos(Writer&, const core::status::OfferedIncompatibleQosStatus&) = 0;
  virtual void on_liveliness_lost(Writer&, const core::status::LivelinessLostStatus&) = 0;
  virtual void on_publication_matched(Writer&, const core::status::PublicationMatchedStatus&) = 0;
};

/// `Base` with methods that do nothing.
template <typename Base>
class NoOpWriterMethods : public virtual Base {
 public:
  void on_offered_deadline_missed(typename Base::Subject&,
                                  const core::status::OfferedDeadlineMissedStatus&) override {}
  void on_offered_incompatible_qos(typename Base::Subject&,
                                   const core::status::OfferedIncompatibleQosStatus&) override {}
  void on_liveliness_lost(typename Base::Subject&, const core::status::LivelinessLostStatus&) override {}
  void on_publication_matched(typename Base::Subject&,
                              const core::status::PublicationMatchedStatus&) override {}
};

}  // namespace detail

template <typename T>
class DataWriterListener : public detail::WriterMethods<DataWriter<T>> {};
template <typename T>
class NoOpDataWriterListener : public detail::NoOpWriterMethods<DataWriterListener<T>> {};

/// Hears of writers of any type.
class AnyDataWriterListener : public detail::WriterMethods<AnyDataWriter> {};
class NoOpAnyDataWriterListener : public detail::NoOpWriterMethods<AnyDataWriterListener> {};

/// Hears of the writers of a publisher.
class PublisherListener : public virtual AnyDataWriterListener {};
class NoOpPublisherListener : public virtual PublisherListener, public virtual NoOpAnyDataWriterListener {};

namespace detail {

/// Tells a listener what the layer below tells of writers, each as a `Subject`.
template <typename Heard, typename Subject>
class WriterCalls : public virtual llamada::dcps::DataWriterListener {
 public:
  explicit WriterCalls(Heard& listener) : listener_(listener) {}
  Heard& listener() const { return listener_; }

  void on_offered_deadline_missed(llamada::dcps::DataWriter& writer,
                                  const llamada::dcps::OfferedDeadlineMissedStatus& status) override {
    core::detail::tell<Subject>(listener_, &Heard::on_offered_deadline_missed, writer,
                                core::status::OfferedDeadlineMissedStatus(status));
  }
  void on_offered_incompatible_qos(llamada::dcps::DataWriter& writer,
                                   const llamada::dcps::OfferedIncompatibleQosStatus& status) override {
    core::detail::tell<Subject>(listener_, &Heard::on_offered_incompatible_qos, writer,
                                core::status::OfferedIncompatibleQosStatus(status));
  }
  void on_liveliness_lost(llamada::dcps::DataWriter& writer,
                          const llamada::dcps::LivelinessLostStatus& status) override {
    core::detail::tell<Subject>(listener_, &Heard::on_liveliness_lost, writer,
                                core::status::LivelinessLostStatus(status));
  }
  void on_publication_matched(llamada::dcps::DataWriter& writer,
                              const llamada::dcps::PublicationMatchedStatus& status) override {
    core::detail::tell<Subject>(listener_, &Heard::on_publication_matched, writer,
                                core::status::PublicationMatchedStatus(status));
  }

 private:
  Heard& listener_;
};

template <typename T>
using WriterAdapter = WriterCalls<pub::DataWriterListener<T>, DataWriter<T>>;

}  // namespace detail

}  // namespace dds::pub
