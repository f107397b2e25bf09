#pragma once

#include <cstddef>
#include <iterator>

#include "coll/algorithms.hpp"

// Which machine carries out a collective: one table for each operation, read from the top, of which the first
// row whose condition holds decides. The last row always holds. docs/internals/collectives.md shows the
// tables.

namespace llamada::mpi::coll {

/// How a collective is carried out.
enum class Way {
  nothing,     ///< NothingMoved; for reductions Absence: no member gives or takes a byte
  small,       ///< small.hpp: a record for each part, in few instructions
  together,    ///< small.hpp: one record with the parts for all others
  direct,      ///< DirectRooted, DirectFromAll, DirectReduction: past the logs, if all reach each other
  lent,        ///< Scatter, Alltoall: long parts are lent (loans.hpp), each as its giver decides
  logs,        ///< Barrier, Broadcast, Gather, Scatter, Allgather, Alltoall, ReduceScatter: by the logs
  at_root,     ///< FoldAtRoot: the root folds all contributions
  everywhere,  ///< FoldEverywhere: each member folds all contributions
  segments,    ///< SegmentedReduction: each member folds a segment, and segments are gathered
};

/// What decides. Members that must go the same way agree in it; where lengths are known to pairs alone
/// (Alltoallv and its like), the giver of a part decides for it. `small` and `logs` publish the same records,
/// so members may differ there.
struct Facts {
  int members = 1;  ///< of the group
  bool between_groups = false;
  bool is_blocking = true;  ///< neither nonblocking nor persistent
  /// Whether data may go past the logs: histories are not kept.
  bool may_be_direct = true;
  /// Of one part, which one member gives to one other; of a reduction's contribution.
  std::size_t bytes = 0;
  /// Of a member's share of a scattered reduction's result, on average.
  std::size_t share_bytes = 0;
  /// Whether this process gives and takes no bytes, in a call in which no other process does either if the
  /// calls fit.
  bool is_nothing = false;
  /// Whether given and taken parts are as long as each other and one piece of memory each; for a member that
  /// folds, also whether elements lie one behind the other and the operation is a predefined one.
  bool is_plain = true;
  bool is_root = false;
};

struct Row {
  const char* condition;  ///< in words
  bool (*holds)(const Facts&);
  Way way;
};

/// Reads a table. The rows' conditions become part of the caller's code.
template <const auto& rows, std::size_t index = 0>
constexpr Way choose(const Facts& facts) {
  if constexpr (index + 1 == std::size(rows))
    return rows[index].way;
  else
    return rows[index].holds(facts) ? rows[index].way : choose<rows, index + 1>(facts);
}

// ---- conditions

constexpr bool always(const Facts&) { return true; }
constexpr bool is_nothing(const Facts& facts) { return facts.is_nothing; }
constexpr bool is_small(const Facts& facts) {
  return facts.is_blocking && facts.bytes > 0 && facts.bytes <= small_bytes_max && !facts.between_groups &&
         facts.members > 1 && facts.is_plain;
}
constexpr bool is_nothing_within(const Facts& facts) { return facts.bytes == 0 && !facts.between_groups; }
constexpr bool is_blocking_within(const Facts& facts) { return facts.is_blocking && !facts.between_groups; }
constexpr bool may_lend(const Facts& facts) { return facts.may_be_direct && !facts.between_groups; }
/// Whether a part has at least as many bytes as the limit for so many members.
template <std::size_t (*bytes_min)(int)>
constexpr bool is_direct(const Facts& facts) {
  return may_lend(facts) && facts.members > 1 && facts.bytes >= bytes_min(facts.members);
}
constexpr bool is_little(const Facts& facts) {
  return facts.between_groups || facts.members == 1 || facts.bytes <= small_reduction_bytes_max;
}

// ---- the tables

inline constexpr Row barrier_ways[] = {
    {"blocking, within a group", is_blocking_within, Way::small},
    {"else", always, Way::logs},
};

inline constexpr Row bcast_ways[] = {
    {"a small part", is_small, Way::small},
    {"no bytes", is_nothing, Way::nothing},
    {"two members, a large part", is_direct<direct_bcast_bytes_min>, Way::direct},
    {"else", always, Way::logs},
};

inline constexpr Row gather_ways[] = {
    {"small parts", is_small, Way::small},
    {"no bytes", is_nothing, Way::nothing},
    {"large parts", is_direct<direct_gather_bytes_min>, Way::direct},
    {"else", always, Way::logs},
};

inline constexpr Row gatherv_ways[] = {
    {"a large part, not the root",
     [](const Facts& facts) {
       return !facts.is_root && may_lend(facts) && facts.bytes >= direct_gather_bytes_min(facts.members);
     },
     Way::lent},
    {"else", always, Way::logs},
};

inline constexpr Row scatter_ways[] = {
    // The root of more than two puts the parts for all others into one record (SendingToAll).
    {"small parts; at the root, two members",
     [](const Facts& facts) { return is_small(facts) && (!facts.is_root || facts.members == 2); },
     Way::small},
    {"no bytes", is_nothing, Way::nothing},
    {"large parts", is_direct<direct_scatter_bytes_min>, Way::direct},
    {"else", always, Way::logs},
};

inline constexpr Row scatterv_ways[] = {
    {"parts may be lent", may_lend, Way::lent},
    {"else", always, Way::logs},
};

inline constexpr Row allgather_ways[] = {
    {"small parts", is_small, Way::small},
    {"no bytes", is_nothing, Way::nothing},
    {"large parts", is_direct<direct_allgather_bytes_min>, Way::direct},
    {"else", always, Way::logs},
};

inline constexpr Row allgatherv_ways[] = {
    {"two members, a large part",
     [](const Facts& facts) {
       return may_lend(facts) && facts.bytes >= lent_allgatherv_bytes_min(facts.members);
     },
     Way::lent},
    {"else", always, Way::logs},
};

inline constexpr Row alltoall_ways[] = {
    {"small parts, two members", [](const Facts& facts) { return is_small(facts) && facts.members == 2; },
     Way::small},
    {"parts that are small all together",
     [](const Facts& facts) { return is_small(facts) && is_small_together(facts.members, facts.bytes); },
     Way::together},
    {"no bytes", is_nothing, Way::nothing},
    {"three or four members, parts may be lent",
     [](const Facts& facts) { return may_lend(facts) && alltoall_lends(facts.members); }, Way::lent},
    {"large parts", is_direct<direct_alltoall_bytes_min>, Way::direct},
    {"else", always, Way::logs},
};

inline constexpr Row alltoallv_ways[] = {
    {"parts may be lent", may_lend, Way::lent},
    {"else", always, Way::logs},
};

inline constexpr Row reduce_ways[] = {
    {"a small contribution", is_small, Way::small},
    {"no bytes, within a group", is_nothing_within, Way::nothing},
    {"three members or more, a large contribution", is_direct<direct_reduce_bytes_min>, Way::direct},
    {"little data, few members, or between groups",
     [](const Facts& facts) { return is_little(facts) || is_folded_at_root(facts.members, facts.bytes); },
     Way::at_root},
    {"else", always, Way::segments},
};

inline constexpr Row allreduce_ways[] = {
    {"a small contribution", is_small, Way::small},
    {"no bytes, within a group", is_nothing_within, Way::nothing},
    {"little data, or between groups", is_little, Way::everywhere},
    {"else", always, Way::segments},
};

inline constexpr Row reduce_scatter_ways[] = {
    {"a small contribution", is_small, Way::small},
    {"no bytes", is_nothing, Way::nothing},
    {"three members or more, a large share",
     [](const Facts& facts) {
       return may_lend(facts) && facts.members > 1 &&
              facts.share_bytes >= direct_reduce_scatter_bytes_min(facts.members);
     },
     Way::direct},
    {"else", always, Way::logs},
};

/// Scan and Exscan, which are for members of one group.
inline constexpr Row scan_ways[] = {
    {"no bytes", is_nothing, Way::nothing},
    {"else", always, Way::everywhere},
};

}  // namespace llamada::mpi::coll
