#pragma once

#include <string>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/qos/entity_qos.hpp"
#include "llamada/qos/policy.hpp"
#include "llamada/qos/rank_replacement.hpp"

namespace llamada::qos {

/// A profile with all inheritance resolved: everything that a person chooses with `--qos`.
struct Profile {
  /// "library::profile"; empty if it comes from no file.
  std::string name;
  DataWriterQos datawriter_qos;
  DataReaderQos datareader_qos;
  RankReplacement rank_replacement;

  bool operator==(const Profile&) const = default;
};

/// Errc::invalid_argument as for each entity, whose name stands before the sentence.
/// REBUILD is consistent only with RELIABLE, KEEP_ALL, TRANSIENT_LOCAL and no limits on samples, at both
/// ends.
Status check_consistent(const Profile& profile);

/// Errc::unsupported if a policy is legal and no job of ranks enforces it: RELIABILITY, DURABILITY up to
/// TRANSIENT_LOCAL, HISTORY, RESOURCE_LIMITS and LIVELINESS are; the others must have their defaults.
Status check_enforced(const DataWriterQos& qos);
Status check_enforced(const DataReaderQos& qos);
Status check_enforced(const Profile& profile);

/// What a job of ranks needs beyond that, for a rank is one writer and one reader and no message of MPI may
/// be lost: RELIABLE and KEEP_ALL without limits on samples at both ends, and ends that match each other.
/// Errc::incompatible, and which policy to change.
Status check_for_ranks(const Profile& profile);

/// Four lines: the name, the writer, the reader and the replacement. Of writer and reader what is enforced
/// for ranks, and what differs from its default.
std::string to_string(const Profile& profile);

}  // namespace llamada::qos
