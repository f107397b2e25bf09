#pragma once

#include "llamada/dcps/status.hpp"

namespace llamada::dcps {

class Topic;
class DataWriter;
class DataReader;
class Subscriber;

/// The root of all listeners. Their calls come from the participant's service thread, one at a time, without
/// any lock held: everything may be called from them, deletion included. An exception that leaves one ends
/// the program.
///
/// A status goes to the entity's own listener if that one's mask has it, else to the publisher's or
/// subscriber's, else to the participant's (DDS 1.4, 2.2.4.2.3.1); if none has it, it stays for the
/// StatusCondition.
class Listener {
 public:
  virtual ~Listener() = default;
};

class TopicListener : public virtual Listener {
 public:
  virtual void on_inconsistent_topic(Topic&, const InconsistentTopicStatus&) {}
};

class DataWriterListener : public virtual Listener {
 public:
  virtual void on_offered_deadline_missed(DataWriter&, const OfferedDeadlineMissedStatus&) {}
  virtual void on_offered_incompatible_qos(DataWriter&, const OfferedIncompatibleQosStatus&) {}
  virtual void on_liveliness_lost(DataWriter&, const LivelinessLostStatus&) {}
  virtual void on_publication_matched(DataWriter&, const PublicationMatchedStatus&) {}
};

class PublisherListener : public virtual DataWriterListener {};

class DataReaderListener : public virtual Listener {
 public:
  virtual void on_requested_deadline_missed(DataReader&, const RequestedDeadlineMissedStatus&) {}
  virtual void on_requested_incompatible_qos(DataReader&, const RequestedIncompatibleQosStatus&) {}
  virtual void on_sample_rejected(DataReader&, const SampleRejectedStatus&) {}
  virtual void on_sample_lost(DataReader&, const SampleLostStatus&) {}
  virtual void on_liveliness_changed(DataReader&, const LivelinessChangedStatus&) {}
  virtual void on_subscription_matched(DataReader&, const SubscriptionMatchedStatus&) {}
  virtual void on_data_available(DataReader&) {}
};

class SubscriberListener : public virtual DataReaderListener {
 public:
  /// When a listener hears this, on_data_available() is not called (DDS 1.4, 2.2.4.2.3.2);
  /// Subscriber::notify_datareaders() does it.
  virtual void on_data_on_readers(Subscriber&) {}
};

class DomainParticipantListener : public virtual TopicListener,
                                  public virtual PublisherListener,
                                  public virtual SubscriberListener {};

}  // namespace llamada::dcps
