#pragma once

#include "dds/domain/domain.hpp"
#include "dds/topic/builtin.hpp"

// Finding participants, and those of other programs (DDS 1.4, 2.2.2.2.1.27 and 2.2.2.2.1.28; ISO C++ PSM,
// 7.5.10).
namespace dds::domain {

/// A participant of this domain that this program has, or null.
inline DomainParticipant find(std::uint32_t domain_id) {
  return DomainParticipant(detail::find_participant(domain_id));
}

/// The participants that this one has discovered, for discovered_participant_data().
core::InstanceHandleSeq discovered_participants(const DomainParticipant& participant);
/// Throws InvalidArgumentError for a participant that is not known.
topic::ParticipantBuiltinTopicData discovered_participant_data(const DomainParticipant& participant,
                                                               const core::InstanceHandle& other);

/// From now on the participant does as if this other one were not there.
inline void ignore(const DomainParticipant& participant, const core::InstanceHandle& other) {
  core::detail::value_of(participant.native().ignore_participant(other.native()));
}
/// Ignores several.
template <typename Iterator>
void ignore(const DomainParticipant& participant, Iterator begin, Iterator end) {
  for (Iterator each = begin; each != end; ++each) domain::ignore(participant, *each);
}

}  // namespace dds::domain
