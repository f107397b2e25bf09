#include "llamada/qos/rank_replacement.hpp"

#include <array>

namespace llamada::qos {

std::span<const KindName<RankReplacementKind>> kind_names(RankReplacementKind) {
  static constexpr std::array<KindName<RankReplacementKind>, 4> names{{
      {RankReplacementKind::abort, "ABORT"},
      {RankReplacementKind::blank, "BLANK"},
      {RankReplacementKind::shrink, "SHRINK"},
      {RankReplacementKind::rebuild, "REBUILD"},
  }};
  return names;
}

std::span<const KindName<OnUnprotected>> kind_names(OnUnprotected) {
  static constexpr std::array<KindName<OnUnprotected>, 2> names{{
      {OnUnprotected::continue_, "CONTINUE"},
      {OnUnprotected::stop, "STOP"},
  }};
  return names;
}

Status check_consistent(const RankReplacement& policy) {
  if (policy.log_bytes_per_node == 0) {
    return failure(Errc::invalid_argument, "rank_replacement: log_bytes_per_node is 0; it must be above 0");
  }
  if (policy.log_bytes_at_start > policy.log_bytes_per_node) {
    return failure(Errc::invalid_argument,
                   "rank_replacement: log_bytes_at_start ({}) is more than log_bytes_per_node ({})",
                   bytes_to_string(policy.log_bytes_at_start), bytes_to_string(policy.log_bytes_per_node));
  }
  if (!policy.log_directory.empty() && !policy.log_directory.starts_with('/')) {
    return failure(
        Errc::invalid_argument,
        "rank_replacement: log_directory is '{}'; it must be an absolute path, which begins with '/'",
        policy.log_directory);
  }
  if (policy.standby_interval < Duration{}) {
    return failure(Errc::invalid_argument,
                   "rank_replacement: standby_interval is {}; it must be auto, off or above 0",
                   to_string(policy.standby_interval));
  }
  return {};
}

std::string to_string(const RankReplacement& policy) {
  if (policy.kind != RankReplacementKind::rebuild) return std::string(to_string(policy.kind));
  std::string text = fmt::format(
      "{}, at most {} replacements of a rank and {} of the job, {} of log per node, on_unprotected {}",
      to_string(policy.kind), policy.max_replacements_per_rank, policy.max_replacements_per_job,
      bytes_to_string(policy.log_bytes_per_node), to_string(policy.on_unprotected));
  if (!policy.log_directory.empty()) text += fmt::format(", logs in {}", policy.log_directory);
  if (policy.standby_interval == standby_automatic)
    text += ", a standby as often as pays (auto)";
  else if (policy.standby_interval != standby_off)
    text += fmt::format(", a standby every {}", to_string(policy.standby_interval));
  return text;
}

std::string standby_to_string(Duration interval) {
  if (interval == standby_off) return "off";
  return interval == standby_automatic ? "auto" : to_string(interval);
}

std::string bytes_to_string(std::uint64_t bytes) {
  if (bytes != 0 && bytes % (1ULL << 30) == 0) return fmt::format("{} GiB", bytes >> 30);
  if (bytes != 0 && bytes % (1ULL << 20) == 0) return fmt::format("{} MiB", bytes >> 20);
  if (bytes != 0 && bytes % (1ULL << 10) == 0) return fmt::format("{} KiB", bytes >> 10);
  return fmt::format("{} bytes", bytes);
}

}  // namespace llamada::qos
