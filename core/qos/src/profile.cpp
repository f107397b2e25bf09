#include "llamada/qos/profile.hpp"

#include <initializer_list>

#include "llamada/qos/rank_protection.hpp"

namespace llamada::qos {
namespace {

/// The policies that to_string() always shows.
bool is_always_shown(PolicyId policy) {
  return policy == PolicyId::reliability || policy == PolicyId::durability || policy == PolicyId::history ||
         policy == PolicyId::resource_limits || policy == PolicyId::liveliness;
}

template <typename Policy>
Status check_default(const Policy& policy) {
  if (policy == Policy{}) return {};
  return failure(Errc::unsupported, "{}: {} is not enforced for ranks; only the default is accepted: {}",
                 to_string(Policy::id), to_string(policy), to_string(Policy{}));
}

template <typename Qos>
Status check_enforced_entity(std::string_view entity, const Qos& qos) {
  Status status;
  each_policy(qos, [&](PolicyId id, const auto& policy) {
    if (!status) return;
    if (!is_taken_by_ranks(entity, id)) {
      status = check_default(policy);
    } else if constexpr (requires { check_enforced(policy); }) {
      status = check_enforced(policy);
    }
  });
  return status;
}

/// `code` with the sentence "who needs what: set the policy, which is ... now".
Status must_set(Errc code, std::string_view who, std::string_view policy, std::string_view needed,
                const std::string& now) {
  return failure(code, "{} needs {}: set {}, which is {}", who, needed, policy, now);
}

/// That no sample is lost for want of a policy.
template <typename Qos>
Status check_lossless(Errc code, std::string_view who, const Qos& qos) {
  if (qos.reliability.kind != ReliabilityKind::reliable) {
    return must_set(code, who, "reliability", "RELIABLE", std::string(to_string(qos.reliability.kind)));
  }
  if (qos.history.kind != HistoryKind::keep_all) {
    return must_set(code, who, "history", "KEEP_ALL", std::string(to_string(qos.history.kind)));
  }
  return {};
}

template <typename Qos>
Status check_rebuild(const Qos& qos) {
  constexpr std::string_view who = "rank_replacement REBUILD";
  if (auto status = check_lossless(Errc::invalid_argument, who, qos); !status) return status;
  // A history with a limit has lost what a replacement needs.
  if (qos.resource_limits != ResourceLimits{}) {
    return must_set(Errc::invalid_argument, who, "resource_limits", "LENGTH_UNLIMITED throughout",
                    to_string(qos.resource_limits));
  }
  if (qos.durability.kind == DurabilityKind::volatile_) {
    return must_set(Errc::invalid_argument, who, "durability", "TRANSIENT_LOCAL", to_string(qos.durability));
  }
  return {};
}

/// ABORT, BLANK and SHRINK replace no rank, so nothing may be kept for a replacement.
Status check_replaces_none(const Profile& profile) {
  if (!rank_protection(profile).keeps_messages) return {};
  const std::string_view kind = to_string(profile.rank_replacement.kind);
  return failure(
      Errc::invalid_argument,
      "rank_replacement {} and DURABILITY {} disagree: {} replaces no rank, and {} keeps all "
      "messages for a replacement; set durability to VOLATILE, or leave out rank_replacement's kind",
      kind, to_string(profile.datawriter_qos.durability), kind, to_string(profile.datawriter_qos.durability));
}

/// Only what is kept for a replacement lies in log_directory.
Status check_log_directory(const Profile& profile) {
  const RankReplacement& policy = profile.rank_replacement;
  if (policy.log_directory.empty() || policy.kind == RankReplacementKind::rebuild) return {};
  return failure(
      Errc::invalid_argument,
      "rank_replacement: log_directory is '{}', and the profile keeps no logs (rank_replacement {}, "
      "DURABILITY {}); leave out log_directory, or make it a profile that replaces ranks (RELIABLE, "
      "KEEP_ALL and TRANSIENT_LOCAL at both ends)",
      policy.log_directory, to_string(policy.kind), to_string(profile.datawriter_qos.durability));
}

/// A standby is made for a replacement.
Status check_standby_interval(const Profile& profile) {
  const RankReplacement& policy = profile.rank_replacement;
  if (policy.standby_interval == standby_off || policy.kind == RankReplacementKind::rebuild) return {};
  return failure(
      Errc::invalid_argument,
      "rank_replacement: standby_interval is {}, and the profile replaces no rank "
      "(rank_replacement {}, DURABILITY {}); leave out standby_interval, or make it a profile that "
      "replaces ranks (RELIABLE, KEEP_ALL and TRANSIENT_LOCAL at both ends)",
      standby_to_string(policy.standby_interval), to_string(policy.kind),
      to_string(profile.datawriter_qos.durability));
}

/// A writer that keeps its history for a reader that asks for none of it: a replacement would get nothing.
Status check_same_durability(const Profile& profile) {
  const Durability& writer = profile.datawriter_qos.durability;
  const Durability& reader = profile.datareader_qos.durability;
  if (writer == reader || writer.kind < reader.kind) return {};
  return failure(Errc::incompatible,
                 "datawriter_qos and datareader_qos disagree in a job of ranks: DURABILITY {} keeps messages "
                 "for a replacement, and DURABILITY {} does not ask for them; set both to one kind",
                 to_string(writer), to_string(reader));
}

Status within(std::string_view where, Status status) {
  if (status) return status;
  return tl::unexpected<Error>(status.error().within(where));
}

/// The first failure among checks of a profile's parts, with the part's name before it.
struct Part {
  std::string_view name;
  Status status;
};
Status first_failure(std::initializer_list<Part> parts) {
  for (const Part& part : parts) {
    if (!part.status) return part.name.empty() ? part.status : within(part.name, part.status);
  }
  return {};
}

/// What matters to ranks: the policies that are enforced for them, and what differs from its default.
template <typename Qos>
std::string for_ranks_to_string(const Qos& qos) {
  std::string text =
      fmt::format("RELIABILITY {}; DURABILITY {}; HISTORY {}; RESOURCE_LIMITS {}; LIVELINESS {}",
                  to_string(qos.reliability), to_string(qos.durability), to_string(qos.history),
                  to_string(qos.resource_limits), to_string(qos.liveliness));
  each_policy(qos, [&text]<typename Policy>(PolicyId id, const Policy& policy) {
    if (!is_always_shown(id) && policy != Policy{})
      text += fmt::format("; {} {}", to_string(id), to_string(policy));
  });
  return text;
}

}  // namespace

Status check_consistent(const Profile& profile) {
  auto status = first_failure({{"datawriter_qos", check_consistent(profile.datawriter_qos)},
                               {"datareader_qos", check_consistent(profile.datareader_qos)},
                               {"domainparticipant_qos", check_consistent(profile.user_data)},
                               {{}, check_consistent(profile.tuning)}});
  if (!status) return status;
  if (status = check_consistent(profile.rank_replacement); !status) return status;
  if (status = check_log_directory(profile); !status) return status;
  if (status = check_standby_interval(profile); !status) return status;
  if (profile.rank_replacement.kind != RankReplacementKind::rebuild) return check_replaces_none(profile);
  return first_failure({{"datawriter_qos", check_rebuild(profile.datawriter_qos)},
                        {"datareader_qos", check_rebuild(profile.datareader_qos)}});
}

bool is_taken_by_ranks(std::string_view entity, PolicyId policy) {
  const bool is_writer = entity == "datawriter_qos";
  const bool is_end = is_writer || entity == "datareader_qos";
  switch (policy) {
    case PolicyId::reliability:
    case PolicyId::durability:
    case PolicyId::history:
    case PolicyId::liveliness:
    case PolicyId::deadline:
      return is_end;
    case PolicyId::resource_limits:
    case PolicyId::send_window:
      return is_writer;
    case PolicyId::user_data:
      return is_end || entity == "domainparticipant_qos";
    default:
      return false;
  }
}

Status check_enforced(const DataWriterQos& qos) { return check_enforced_entity("datawriter_qos", qos); }
Status check_enforced(const DataReaderQos& qos) { return check_enforced_entity("datareader_qos", qos); }

Status check_enforced(const Profile& profile) {
  return first_failure({{"datawriter_qos", check_enforced(profile.datawriter_qos)},
                        {"datareader_qos", check_enforced(profile.datareader_qos)}});
}

Status check_for_ranks(const Profile& profile) {
  constexpr std::string_view who = "a job of ranks";
  return first_failure({{"datawriter_qos", check_lossless(Errc::incompatible, who, profile.datawriter_qos)},
                        {"datareader_qos", check_lossless(Errc::incompatible, who, profile.datareader_qos)},
                        {"datareader_qos and datawriter_qos of one profile must match in a job of ranks",
                         check_compatible(profile.datawriter_qos, profile.datareader_qos)},
                        {{}, check_same_durability(profile)}});
}

std::string to_string(const Profile& profile) {
  return fmt::format("profile {}\nDataWriter: {}\nDataReader: {}\nrank_replacement: {}\n",
                     profile.name.empty() ? "(without a name)" : profile.name,
                     for_ranks_to_string(profile.datawriter_qos), for_ranks_to_string(profile.datareader_qos),
                     to_string(profile.rank_replacement));
}

}  // namespace llamada::qos
