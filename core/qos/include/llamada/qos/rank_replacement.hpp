#pragma once

#include <string>

#include "llamada/base/result.hpp"
#include "llamada/qos/policy.hpp"

namespace llamada::qos {

/// The fate of a job after the death of a rank, in FT-MPI's words.
enum class RankReplacementKind : std::uint8_t {
  abort,    ///< The job ends.
  blank,    ///< The rank stays empty, and the others go on.
  shrink,   ///< The same, and a duplicate of a communicator has only those that live.
  rebuild,  ///< A replacement reads the rank's past and goes on in its place.
};

/// The fate of a job whose log no longer fits its memory. From then on no rank can be replaced.
enum class OnUnprotected : std::uint8_t { continue_, stop };

std::span<const KindName<RankReplacementKind>> kind_names(RankReplacementKind);
std::span<const KindName<OnUnprotected>> kind_names(OnUnprotected);

/// A rank makes no standbys.
inline constexpr Duration standby_off = duration_infinite;
/// A rank chooses the interval of its standbys from what one costs it.
inline constexpr Duration standby_automatic{0};

/// `rank_replacement`, a policy of our own, of a profile and so of a whole job.
struct RankReplacement {
  static constexpr PolicyId id = PolicyId::rank_replacement;

  RankReplacementKind kind = RankReplacementKind::abort;
  std::uint32_t max_replacements_per_rank = 10;   ///< May be 0.
  std::uint32_t max_replacements_per_job = 100;   ///< May be 0.
  std::uint64_t log_bytes_per_node = 2ULL << 30;  ///< Memory for the logs of a job on one node. Above 0.
  /// This much of it the job's ranks on a node allocate before they run, each an equal share. They allocate
  /// the rest when they need it. At most log_bytes_per_node.
  std::uint64_t log_bytes_at_start = 0;
  OnUnprotected on_unprotected = OnUnprotected::continue_;
  /// A directory of each node, with an absolute path, on whose disk the logs lie: log_bytes_per_node then
  /// bounds the disk used. Empty: the logs lie in memory.
  std::string log_directory;
  /// A rank makes a parked copy of itself (a standby) this often, from which its replacement goes on. Above
  /// 0, or one of the two constants above.
  Duration standby_interval = standby_off;

  bool operator==(const RankReplacement&) const = default;
};

/// Errc::invalid_argument if a field is outside its range.
Status check_consistent(const RankReplacement& policy);

/// True if the other ranks go on without a rank that has died: BLANK, SHRINK.
constexpr bool survivors_go_on(const RankReplacement& policy) {
  return policy.kind == RankReplacementKind::blank || policy.kind == RankReplacementKind::shrink;
}

/// `REBUILD, at most 10 replacements of a rank and 100 of the job, 2 GiB of log per node, on_unprotected
/// CONTINUE`; also `, logs in /scratch` and `, a standby every 30 s` if a profile asks for them.
std::string to_string(const RankReplacement& policy);

/// "off", "auto" or "30 s".
std::string standby_to_string(Duration interval);

/// "2 GiB", "1500 bytes": the largest unit that gives a whole number.
std::string bytes_to_string(std::uint64_t bytes);

}  // namespace llamada::qos
