#pragma once

#include <string>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/qos/durability.hpp"
#include "llamada/qos/history.hpp"
#include "llamada/qos/liveliness.hpp"
#include "llamada/qos/policy.hpp"
#include "llamada/qos/rank_replacement.hpp"
#include "llamada/qos/reliability.hpp"
#include "llamada/qos/resource_limits.hpp"

namespace llamada::qos {

/// The policies of a DataWriter (DDS 1.4, 2.2.3), with the standard's defaults.
struct DataWriterQos {
  Reliability reliability{.kind = ReliabilityKind::reliable};
  Durability durability;
  History history;
  ResourceLimits resource_limits;
  Liveliness liveliness;

  bool operator==(const DataWriterQos&) const = default;
};

/// The policies of a DataReader (DDS 1.4, 2.2.3), with the standard's defaults.
struct DataReaderQos {
  Reliability reliability;
  Durability durability;
  History history;
  ResourceLimits resource_limits;
  Liveliness liveliness;

  bool operator==(const DataReaderQos&) const = default;
};

/// A profile with all inheritance resolved: everything that a person chooses with `--qos`.
struct Profile {
  /// "library::profile"; empty if it comes from no file.
  std::string name;
  DataWriterQos datawriter_qos;
  DataReaderQos datareader_qos;
  RankReplacement rank_replacement;

  bool operator==(const Profile&) const = default;
};

/// One policy in which a writer does not satisfy a reader, and why: what OFFERED_INCOMPATIBLE_QOS and
/// REQUESTED_INCOMPATIBLE_QOS report (DDS 1.4, 2.2.4.1).
struct Incompatibility {
  PolicyId policy;
  std::string reason;  ///< "reader requests RELIABLE, writer offers BEST_EFFORT"

  bool operator==(const Incompatibility&) const = default;
};

/// All policies in which they do not fit, in the order of their ids; empty if they match.
std::vector<Incompatibility> incompatibilities(const DataWriterQos& offered, const DataReaderQos& requested);

/// Errc::incompatible with all reasons in one sentence, or success.
Status check_compatible(const DataWriterQos& offered, const DataReaderQos& requested);

/// Errc::invalid_argument if a policy is outside its range or two contradict each other. The sentence names
/// the policy to change; of a profile also the entity.
Status check_consistent(const DataWriterQos& qos);
Status check_consistent(const DataReaderQos& qos);
/// REBUILD is consistent only with RELIABLE, KEEP_ALL, TRANSIENT_LOCAL and no limits on samples, at both
/// ends.
Status check_consistent(const Profile& profile);

/// Errc::unsupported if something is legal that nothing here enforces yet.
Status check_enforced(const DataWriterQos& qos);
Status check_enforced(const DataReaderQos& qos);
Status check_enforced(const Profile& profile);

/// What a job of ranks needs beyond that, for a rank is one writer and one reader and no message of MPI may
/// be lost: RELIABLE and KEEP_ALL without limits on samples at both ends, and ends that match each other.
/// Errc::incompatible, and which policy to change.
Status check_for_ranks(const Profile& profile);

/// "RELIABILITY RELIABLE, max_blocking_time 100 ms; DURABILITY VOLATILE; ...".
std::string to_string(const DataWriterQos& qos);
std::string to_string(const DataReaderQos& qos);
/// Four lines: the name, the writer, the reader and the replacement.
std::string to_string(const Profile& profile);

}  // namespace llamada::qos
