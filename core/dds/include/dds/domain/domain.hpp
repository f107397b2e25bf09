#pragma once

#include <mutex>

#include "dds/core/entity.hpp"
#include "llamada/dcps/domain_participant.hpp"

namespace dds::domain {

class DomainParticipantListener;

namespace detail {

class ParticipantState final : public core::detail::ConfiguredState<llamada::dcps::DomainParticipant> {
 public:
  using ConfiguredState::ConfiguredState;
  ~ParticipantState() override { close_silently(); }

  /// The defaults of publishers and subscribers that are made from now on.
  pub::qos::DataWriterQos default_datawriter_qos() const;
  void default_datawriter_qos(const pub::qos::DataWriterQos& qos);
  sub::qos::DataReaderQos default_datareader_qos() const;
  void default_datareader_qos(const sub::qos::DataReaderQos& qos);

 private:
  llamada::Status remove() override;

  mutable std::mutex mutex_;
  pub::qos::DataWriterQos default_datawriter_qos_;
  sub::qos::DataReaderQos default_datareader_qos_;
};

using ParticipantListening = core::detail::Listening<llamada::dcps::DomainParticipantListener>;
ParticipantListening listening(DomainParticipantListener* listener, const core::status::StatusMask& mask);

struct JoinOptions {
  llamada::qos::DomainParticipantQos qos;
  /// The llamanetd to start if none lies beside the program.
  std::string driver_program;
};

/// A participant of the node's domain. Implemented in world/llamanet.cpp, the one file that sees llamaNET.
std::shared_ptr<ParticipantState> join(std::uint32_t domain_id, const JoinOptions& options,
                                       ParticipantListening listening = {});
std::shared_ptr<ParticipantState> find_participant(std::uint32_t domain_id);
llamada::qos::DomainParticipantQos default_participant_qos();
llamada::Status set_default_participant_qos(const llamada::qos::DomainParticipantQos& qos);

// pkg-config cannot quote: LLAMADA_DRIVER_PATH has no quotes. GNU dialects would replace these words in it.
#pragma push_macro("linux")
#pragma push_macro("unix")
#undef linux
#undef unix
#define LLAMADA_QUOTED_TOKENS(...) #__VA_ARGS__
#define LLAMADA_QUOTED(...) LLAMADA_QUOTED_TOKENS(__VA_ARGS__)

/// Where this program was told at its compilation that the driver lies.
inline const char* driver_program() {
#if defined(LLAMADA_DRIVER_PROGRAM)
  return LLAMADA_DRIVER_PROGRAM;
#elif defined(LLAMADA_DRIVER_PATH)
  return LLAMADA_QUOTED(LLAMADA_DRIVER_PATH);
#else
  return "";
#endif
}

#undef LLAMADA_QUOTED
#undef LLAMADA_QUOTED_TOKENS
#pragma pop_macro("unix")
#pragma pop_macro("linux")

}  // namespace detail

/// A program's membership of a domain (DDS 1.4, 2.2.2.2.1; ISO C++ PSM, 7.5.10). Joins the node's driver, or
/// starts one, which ends with its last application. Throws Error if that fails. Any thread.
class DomainParticipant
    : public core::ConfiguredReference<detail::ParticipantState, llamada::dcps::DomainParticipant,
                                       qos::DomainParticipantQos> {
 public:
  using ConfiguredReference::ConfiguredReference;

  explicit DomainParticipant(std::uint32_t domain_id)
      : DomainParticipant(domain_id, default_participant_qos()) {}
  DomainParticipant(std::uint32_t domain_id, const qos::DomainParticipantQos& qos,
                    DomainParticipantListener* listener = nullptr,
                    const core::status::StatusMask& mask = core::status::StatusMask::all())
      : ConfiguredReference(detail::join(domain_id, {qos.native(), detail::driver_program()},
                                         detail::listening(listener, mask))) {}

  /// Hears the statuses of the participant and of all its entities that no nearer listener's mask has.
  /// nullptr: none. The listener must outlive the participant, or the time for which it is set.
  void listener(DomainParticipantListener* listener, const core::status::StatusMask& mask);
  DomainParticipantListener* listener() const;

  std::uint32_t domain_id() const { return native().domain_id(); }
  void assert_liveliness() { core::detail::value_of(native().assert_liveliness()); }
  bool contains_entity(const core::InstanceHandle& handle) const {
    return native().contains_entity(handle.native());
  }
  core::Time current_time() const { return core::Time(native().current_time()); }
  void close_contained_entities() { core::detail::value_of(native().delete_contained_entities()); }

  // The policies of entities that are made from now on without policies of their own. Setters throw
  // InconsistentPolicyError.

  /// The default of all participants of this program.
  static qos::DomainParticipantQos default_participant_qos() { return detail::default_participant_qos(); }
  static void default_participant_qos(const qos::DomainParticipantQos& qos) {
    core::detail::value_of(detail::set_default_participant_qos(qos.native()));
  }
  pub::qos::PublisherQos default_publisher_qos() const { return native().default_publisher_qos(); }
  DomainParticipant& default_publisher_qos(const pub::qos::PublisherQos& qos) {
    core::detail::value_of(native().set_default_publisher_qos(qos.native()));
    return *this;
  }
  sub::qos::SubscriberQos default_subscriber_qos() const { return native().default_subscriber_qos(); }
  DomainParticipant& default_subscriber_qos(const sub::qos::SubscriberQos& qos) {
    core::detail::value_of(native().set_default_subscriber_qos(qos.native()));
    return *this;
  }
  topic::qos::TopicQos default_topic_qos() const { return native().default_topic_qos(); }
  DomainParticipant& default_topic_qos(const topic::qos::TopicQos& qos) {
    core::detail::value_of(native().set_default_topic_qos(qos.native()));
    return *this;
  }
  /// The default_datawriter_qos() of publishers that are made from now on.
  pub::qos::DataWriterQos default_datawriter_qos() const { return state().default_datawriter_qos(); }
  DomainParticipant& default_datawriter_qos(const pub::qos::DataWriterQos& qos) {
    state().default_datawriter_qos(qos);
    return *this;
  }
  /// The default_datareader_qos() of subscribers that are made from now on.
  sub::qos::DataReaderQos default_datareader_qos() const { return state().default_datareader_qos(); }
  DomainParticipant& default_datareader_qos(const sub::qos::DataReaderQos& qos) {
    state().default_datareader_qos(qos);
    return *this;
  }

  DomainParticipant& operator<<(const qos::DomainParticipantQos& qos) {
    this->qos(qos);
    return *this;
  }
};

}  // namespace dds::domain
