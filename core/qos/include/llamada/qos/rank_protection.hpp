#pragma once

#include "llamada/qos/entity_qos.hpp"
#include "llamada/qos/rank_replacement.hpp"

namespace llamada::qos {

struct Profile;

/// Says how a job of ranks prepares for the death of a rank's process while it runs. A rank is a writer and a
/// reader on the topic of its job: all of it follows from RELIABILITY, HISTORY and DURABILITY of both ends.
/// RELIABLE, KEEP_ALL and TRANSIENT_LOCAL at both ends turn on the parts that a replacement needs. TRANSIENT
/// and PERSISTENT also keep the outcomes outside the node and outside the job. Otherwise all is off.
struct RankProtection {
  /// The logs keep everything that ranks have sent. A replacement receives it from there.
  bool keeps_messages = false;
  /// Ranks record nondeterministic outcomes. A replacement repeats them.
  bool records_outcomes = false;
  /// A replacement compares what it sends with what its predecessor sent, and does not send it again.
  bool compares_resends = false;
  /// TRANSIENT: what ranks record is kept by mpirun's host, too, so a job on several nodes outlives one.
  bool outlives_nodes = false;
  /// PERSISTENT: it is kept on a disk, so that mpirun --resume goes on with a job that was killed whole.
  bool outlives_job = false;

  bool operator==(const RankProtection&) const = default;
};

RankProtection rank_protection(const DataWriterQos& writer, const DataReaderQos& reader);
RankProtection rank_protection(const Profile& profile);

/// The kind that rank_replacement has where a profile leaves it out: REBUILD if the policies protect ranks,
/// else ABORT.
RankReplacementKind implied_rank_replacement(const DataWriterQos& writer, const DataReaderQos& reader);

}  // namespace llamada::qos
