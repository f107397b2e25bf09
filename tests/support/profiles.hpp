#pragma once

#include "llamada/qos/profile.hpp"

/// What qos-profiles/fault-tolerant.xml says, without its name.
inline llamada::qos::Profile fault_tolerant() {
  using namespace llamada::qos;
  Profile profile;
  profile.datawriter_qos.reliability.kind = ReliabilityKind::reliable;
  profile.datawriter_qos.durability.kind = DurabilityKind::transient_local;
  profile.datawriter_qos.history.kind = HistoryKind::keep_all;
  profile.datareader_qos.reliability.kind = ReliabilityKind::reliable;
  profile.datareader_qos.durability.kind = DurabilityKind::transient_local;
  profile.datareader_qos.history.kind = HistoryKind::keep_all;
  profile.rank_replacement.kind = RankReplacementKind::rebuild;
  return profile;
}
