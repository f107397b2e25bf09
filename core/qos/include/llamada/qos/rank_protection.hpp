#pragma once

#include "llamada/qos/entity_qos.hpp"
#include "llamada/qos/rank_replacement.hpp"

namespace llamada::qos {

struct Profile;

/// Says how a job of ranks prepares for the death of a rank's process while it runs. A rank is a writer and a
/// reader on the topic of its job: all of it follows from RELIABILITY, HISTORY and DURABILITY of
/// both ends. RELIABLE, KEEP_ALL and TRANSIENT_LOCAL at both ends turn all of it on; otherwise all is off.
struct RankProtection {
  /// The logs keep everything that ranks have sent. A replacement receives it from there.
  bool keeps_messages = false;
  /// Ranks record nondeterministic outcomes. A replacement repeats them.
  bool records_outcomes = false;
  /// A replacement compares what it sends with what its predecessor sent, and does not send it again.
  bool compares_resends = false;

  bool operator==(const RankProtection&) const = default;
};

RankProtection rank_protection(const DataWriterQos& writer, const DataReaderQos& reader);
RankProtection rank_protection(const Profile& profile);

/// The kind that rank_replacement has where a profile leaves it out: REBUILD if the policies protect ranks,
/// else ABORT.
RankReplacementKind implied_rank_replacement(const DataWriterQos& writer, const DataReaderQos& reader);

}  // namespace llamada::qos
