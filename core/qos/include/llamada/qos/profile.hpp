#pragma once

#include <string>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/qos/entity_qos.hpp"
#include "llamada/qos/policy.hpp"
#include "llamada/qos/rank_replacement.hpp"
#include "llamada/qos/tuning.hpp"

namespace llamada::qos {

/// How a profile names what each rank is (ENTITY_NAME of other vendors). Empty: it does not.
struct EntityNames {
  std::string participant;
  std::string writer;
  std::string reader;

  bool operator==(const EntityNames&) const = default;
};

/// A profile with all inheritance resolved: everything that a person chooses with `--qos`.
struct Profile {
  /// "library::profile"; empty if it comes from no file.
  std::string name;
  DataWriterQos datawriter_qos;
  DataReaderQos datareader_qos;
  RankReplacement rank_replacement;
  UserData user_data;  ///< domainparticipant_qos's: a rank is a participant, too.
  EntityNames entity_names;
  Tuning tuning;

  bool operator==(const Profile&) const = default;
};

/// Errc::invalid_argument as for each entity, whose name stands before the sentence.
/// REBUILD is consistent only with RELIABLE, KEEP_ALL, TRANSIENT_LOCAL and no limits on samples, at both
/// ends; ABORT only with less than that (rank_protection.hpp).
Status check_consistent(const Profile& profile);

/// True if ranks take this policy of this entity ("datawriter_qos"). All others must have their defaults.
bool is_taken_by_ranks(std::string_view entity, PolicyId policy);

/// Errc::unsupported if a policy is legal and no job of ranks enforces it: is_taken_by_ranks() says which
/// are, and check_enforced() of each policy, with which values.
Status check_enforced(const DataWriterQos& qos);
Status check_enforced(const DataReaderQos& qos);
Status check_enforced(const Profile& profile);

/// Checks the further needs of a job of ranks. A rank is one writer and one reader, and no message of MPI may
/// be lost. So both ends must be RELIABLE and KEEP_ALL without limits on samples, match each other and have
/// one DURABILITY. Errc::incompatible, and which policy to change.
Status check_for_ranks(const Profile& profile);

/// Four lines: the name, the writer, the reader and the replacement. The lines of writer and reader have the
/// policies that are enforced for ranks, and those that differ from their defaults.
std::string to_string(const Profile& profile);

}  // namespace llamada::qos
