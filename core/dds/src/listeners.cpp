// Listeners of what is not typed: publishers, subscribers and participants.

#include "dds/domain/listener.hpp"

namespace dds {

namespace {

class PublisherAdapter final : public pub::detail::WriterCalls<pub::PublisherListener, pub::AnyDataWriter>,
                               public virtual llamada::dcps::PublisherListener {
 public:
  using WriterCalls::WriterCalls;
};

/// `Heard` is one of a subscriber or a participant.
template <typename Heard>
class SubscriberCalls : public sub::detail::ReaderCalls<Heard, sub::AnyDataReader>,
                        public virtual llamada::dcps::SubscriberListener {
 public:
  using sub::detail::ReaderCalls<Heard, sub::AnyDataReader>::ReaderCalls;

  void on_data_on_readers(llamada::dcps::Subscriber& subscriber) override {
    core::detail::tell<sub::Subscriber>(this->listener(), &Heard::on_data_on_readers, subscriber);
  }
};

using SubscriberAdapter = SubscriberCalls<sub::SubscriberListener>;

class ParticipantAdapter final
    : public topic::detail::TopicCalls<domain::DomainParticipantListener, topic::AnyTopic>,
      public pub::detail::WriterCalls<domain::DomainParticipantListener, pub::AnyDataWriter>,
      public SubscriberCalls<domain::DomainParticipantListener>,
      public virtual llamada::dcps::DomainParticipantListener {
 public:
  explicit ParticipantAdapter(domain::DomainParticipantListener& listener)
      : TopicCalls(listener), WriterCalls(listener), SubscriberCalls(listener) {}
  domain::DomainParticipantListener& listener() const { return TopicCalls::listener(); }
};

}  // namespace

namespace pub {

namespace {

std::shared_ptr<detail::PublisherState> create_publisher(const domain::DomainParticipant& participant,
                                                         const qos::PublisherQos& qos,
                                                         PublisherListener* listener,
                                                         const core::status::StatusMask& mask) {
  auto adapter = core::detail::adapt<PublisherAdapter>(listener);
  auto native = core::detail::value_of(
      participant.native().create_publisher(qos.native(), adapter.get(), mask.native()));
  core::detail::value_of(native->set_default_datawriter_qos(participant.default_datawriter_qos().native()));
  auto state = std::make_shared<detail::PublisherState>(participant.shared_state(), std::move(native));
  state->adopt(std::move(adapter));
  core::detail::make_known(state);
  return state;
}

}  // namespace

Publisher::Publisher(const domain::DomainParticipant& participant, const qos::PublisherQos& qos,
                     PublisherListener* listener, const core::status::StatusMask& mask)
    : ConfiguredReference(create_publisher(participant, qos, listener, mask)) {}

void Publisher::listener(PublisherListener* listener, const core::status::StatusMask& mask) {
  state().listen({core::detail::adapt<PublisherAdapter>(listener), mask.native()});
}

PublisherListener* Publisher::listener() const { return state().heard_by<PublisherAdapter>(); }

}  // namespace pub

namespace sub {

namespace {

std::shared_ptr<detail::SubscriberState> create_subscriber(const domain::DomainParticipant& participant,
                                                           const qos::SubscriberQos& qos,
                                                           SubscriberListener* listener,
                                                           const core::status::StatusMask& mask) {
  auto adapter = core::detail::adapt<SubscriberAdapter>(listener);
  auto native = core::detail::value_of(
      participant.native().create_subscriber(qos.native(), adapter.get(), mask.native()));
  core::detail::value_of(native->set_default_datareader_qos(participant.default_datareader_qos().native()));
  auto state = std::make_shared<detail::SubscriberState>(participant.shared_state(), std::move(native));
  state->adopt(std::move(adapter));
  core::detail::make_known(state);
  return state;
}

}  // namespace

Subscriber::Subscriber(const domain::DomainParticipant& participant, const qos::SubscriberQos& qos,
                       SubscriberListener* listener, const core::status::StatusMask& mask)
    : ConfiguredReference(create_subscriber(participant, qos, listener, mask)) {}

void Subscriber::listener(SubscriberListener* listener, const core::status::StatusMask& mask) {
  state().listen({core::detail::adapt<SubscriberAdapter>(listener), mask.native()});
}

SubscriberListener* Subscriber::listener() const { return state().heard_by<SubscriberAdapter>(); }

}  // namespace sub

namespace domain {

detail::ParticipantListening detail::listening(DomainParticipantListener* listener,
                                               const core::status::StatusMask& mask) {
  return {core::detail::adapt<ParticipantAdapter>(listener), mask.native()};
}

void DomainParticipant::listener(DomainParticipantListener* listener, const core::status::StatusMask& mask) {
  state().listen(detail::listening(listener, mask));
}

DomainParticipantListener* DomainParticipant::listener() const {
  return state().heard_by<ParticipantAdapter>();
}

}  // namespace domain

}  // namespace dds
