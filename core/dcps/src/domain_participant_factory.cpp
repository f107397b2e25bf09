#include <algorithm>

#include "core.hpp"
#include "llamada/dcps/domain_participant.hpp"

namespace llamada::dcps {

DomainParticipantFactory::DomainParticipantFactory(OpenTransport open_transport, const Clock& clock)
    : open_transport_(std::move(open_transport)), clock_(clock) {}

DomainParticipantFactory::~DomainParticipantFactory() {
  for (const auto& participant : participants_) participant->shut_down();
}

Result<std::shared_ptr<DomainParticipant>> DomainParticipantFactory::create_participant(
    DomainId domain, const DomainParticipantOptions& options) {
  if (Status status = check_creatable(options.qos); !status) return propagate(status);
  auto transport = open_transport_(domain);
  if (!transport) return propagate(transport);
  auto core = std::make_shared<detail::Core>(std::move(*transport), clock_);
  auto participant =
      std::shared_ptr<DomainParticipant>(new DomainParticipant(core, domain, options.name, options.qos));
  participant->made(options.listener, options.mask);
  if (qos().autoenable_created_entities) {
    if (Status status = participant->enable(); !status) return propagate(status);
  }
  std::lock_guard held(mutex_);
  participants_.push_back(participant);
  return participant;
}

Status DomainParticipantFactory::delete_participant(const std::shared_ptr<DomainParticipant>& participant) {
  {
    std::lock_guard held(mutex_);
    const auto found = std::find(participants_.begin(), participants_.end(), participant);
    if (!participant || found == participants_.end()) {
      return failure(Errc::precondition_not_met, "the participant is not of this factory");
    }
    if (!participant->is_empty()) {
      return failure(Errc::precondition_not_met,
                     "the participant has entities; delete_contained_entities() deletes them");
    }
    participants_.erase(found);
  }
  participant->shut_down();
  return {};
}

std::shared_ptr<DomainParticipant> DomainParticipantFactory::lookup_participant(DomainId domain) const {
  std::lock_guard held(mutex_);
  for (const auto& participant : participants_) {
    if (participant->domain_id() == domain) return participant;
  }
  return nullptr;
}

qos::DomainParticipantQos DomainParticipantFactory::default_participant_qos() const {
  std::lock_guard held(mutex_);
  return default_participant_qos_;
}

Status DomainParticipantFactory::set_default_participant_qos(const qos::DomainParticipantQos& qos) {
  if (Status status = check_creatable(qos); !status) return status;
  std::lock_guard held(mutex_);
  default_participant_qos_ = qos;
  return {};
}

qos::EntityFactory DomainParticipantFactory::qos() const {
  std::lock_guard held(mutex_);
  return entity_factory_;
}

void DomainParticipantFactory::set_qos(const qos::EntityFactory& qos) {
  std::lock_guard held(mutex_);
  entity_factory_ = qos;
}

}  // namespace llamada::dcps
