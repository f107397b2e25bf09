#pragma once

#include "dds/core/entity.hpp"

// Listeners of readers and subscribers (DDS 1.4, 2.2.2.5.6 and 2.2.2.5.7; ISO C++ PSM, 7.5.13). All are
// called from the participant's service thread. An exception that leaves one ends the program.
namespace dds::sub {

class Subscriber;
class AnyDataReader;
template <typename T>
class DataReader;

namespace detail {

/// The statuses that a listener hears of a `Reader`: a DataReader<T> or an AnyDataReader.
template <typename Reader>
class ReaderMethods {
 public:
  using Subject = Reader;
  virtual ~ReaderMethods() = default;
  virtual void on_requested_deadline_missed(Reader&, const core::status::RequestedDeadlineMissedStatus&) = 0;
  virtual void on_requested_incompatible_qos(Reader&,
                                             const core::status::RequestedIncompatibleQosStatus&) = 0;
  virtual void on_sample_rejected(Reader&, const core::status::SampleRejectedStatus&) = 0;
  virtual void on_liveliness_changed(Reader&, const core::status::LivelinessChangedStatus&) = 0;
  virtual void on_subscription_matched(Reader&, const core::status::SubscriptionMatchedStatus&) = 0;
  virtual void on_sample_lost(Reader&, const core::status::SampleLostStatus&) = 0;
  virtual void on_data_available(Reader&) = 0;
};

/// `Base` with methods that do nothing.
template <typename Base>
class NoOpReaderMethods : public virtual Base {
 public:
  void on_requested_deadline_missed(typename Base::Subject&,
                                    const core::status::RequestedDeadlineMissedStatus&) override {}
  void on_requested_incompatible_qos(typename Base::Subject&,
                                     const core::status::RequestedIncompatibleQosStatus&) override {}
  void on_sample_rejected(typename Base::Subject&, const core::status::SampleRejectedStatus&) override {}
  void on_liveliness_changed(typename Base::Subject&, const core::status::LivelinessChangedStatus&) override {
  }
  void on_subscription_matched(typename Base::Subject&,
                               const core::status::SubscriptionMatchedStatus&) override {}
  void on_sample_lost(typename Base::Subject&, const core::status::SampleLostStatus&) override {}
  void on_data_available(typename Base::Subject&) override {}
};

}  // namespace detail

template <typename T>
class DataReaderListener : public detail::ReaderMethods<DataReader<T>> {};
template <typename T>
class NoOpDataReaderListener : public detail::NoOpReaderMethods<DataReaderListener<T>> {};

/// Hears of readers of any type.
class AnyDataReaderListener : public detail::ReaderMethods<AnyDataReader> {};
class NoOpAnyDataReaderListener : public detail::NoOpReaderMethods<AnyDataReaderListener> {};

/// Hears of a subscriber and its readers.
class SubscriberListener : public virtual AnyDataReaderListener {
 public:
  /// When a listener hears this, on_data_available() is not called (DDS 1.4, 2.2.4.2.3.2);
  /// Subscriber::notify_datareaders() does it.
  virtual void on_data_on_readers(Subscriber&) = 0;
};
class NoOpSubscriberListener : public virtual SubscriberListener, public virtual NoOpAnyDataReaderListener {
 public:
  void on_data_on_readers(Subscriber&) override {}
};

namespace detail {

/// Tells a listener what the layer below tells of readers, each as a `Subject`.
template <typename Heard, typename Subject>
class ReaderCalls : public virtual llamada::dcps::DataReaderListener {
 public:
  explicit ReaderCalls(Heard& listener) : listener_(listener) {}
  Heard& listener() const { return listener_; }

  void on_requested_deadline_missed(llamada::dcps::DataReader& reader,
                                    const llamada::dcps::RequestedDeadlineMissedStatus& status) override {
    core::detail::tell<Subject>(listener_, &Heard::on_requested_deadline_missed, reader,
                                core::status::RequestedDeadlineMissedStatus(status));
  }
  void on_requested_incompatible_qos(llamada::dcps::DataReader& reader,
                                     const llamada::dcps::RequestedIncompatibleQosStatus& status) override {
    core::detail::tell<Subject>(listener_, &Heard::on_requested_incompatible_qos, reader,
                                core::status::RequestedIncompatibleQosStatus(status));
  }
  void on_sample_rejected(llamada::dcps::DataReader& reader,
                          const llamada::dcps::SampleRejectedStatus& status) override {
    core::detail::tell<Subject>(listener_, &Heard::on_sample_rejected, reader,
                                core::status::SampleRejectedStatus(status));
  }
  void on_liveliness_changed(llamada::dcps::DataReader& reader,
                             const llamada::dcps::LivelinessChangedStatus& status) override {
    core::detail::tell<Subject>(listener_, &Heard::on_liveliness_changed, reader,
                                core::status::LivelinessChangedStatus(status));
  }
  void on_subscription_matched(llamada::dcps::DataReader& reader,
                               const llamada::dcps::SubscriptionMatchedStatus& status) override {
    core::detail::tell<Subject>(listener_, &Heard::on_subscription_matched, reader,
                                core::status::SubscriptionMatchedStatus(status));
  }
  void on_sample_lost(llamada::dcps::DataReader& reader,
                      const llamada::dcps::SampleLostStatus& status) override {
    core::detail::tell<Subject>(listener_, &Heard::on_sample_lost, reader,
                                core::status::SampleLostStatus(status));
  }
  void on_data_available(llamada::dcps::DataReader& reader) override {
    core::detail::tell<Subject>(listener_, &Heard::on_data_available, reader);
  }

 private:
  Heard& listener_;
};

template <typename T>
using ReaderAdapter = ReaderCalls<sub::DataReaderListener<T>, DataReader<T>>;

}  // namespace detail

}  // namespace dds::sub
