#include "llamada/qos/rank_protection.hpp"

#include <algorithm>

#include "llamada/qos/profile.hpp"

namespace llamada::qos {
namespace {

/// A late reader gets everything that was ever written.
template <typename Qos>
bool has_whole_history(const Qos& qos) {
  return qos.reliability.kind == ReliabilityKind::reliable && qos.history.kind == HistoryKind::keep_all &&
         qos.durability.kind >= DurabilityKind::transient_local;
}

}  // namespace

RankProtection rank_protection(const DataWriterQos& writer, const DataReaderQos& reader) {
  const bool survives_process = has_whole_history(writer) && has_whole_history(reader);
  const DurabilityKind durability = std::min(writer.durability.kind, reader.durability.kind);
  return {.keeps_messages = survives_process,
          .records_outcomes = survives_process,
          .compares_resends = survives_process,
          .outlives_nodes = survives_process && durability >= DurabilityKind::transient,
          .outlives_job = survives_process && durability == DurabilityKind::persistent};
}

RankProtection rank_protection(const Profile& profile) {
  return rank_protection(profile.datawriter_qos, profile.datareader_qos);
}

RankReplacementKind implied_rank_replacement(const DataWriterQos& writer, const DataReaderQos& reader) {
  return rank_protection(writer, reader).keeps_messages ? RankReplacementKind::rebuild
                                                        : RankReplacementKind::abort;
}

}  // namespace llamada::qos
