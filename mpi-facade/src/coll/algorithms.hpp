#pragma once

#include <cstddef>
#include <cstdint>

#include "llamada/log/log_writer.hpp"

// The limits between the ways of a collective (ways.hpp), measured with bench/collectives
// (docs/lab/collectives.md). A copy by the kernel costs as much as two through a log that the cache
// holds. So it pays off where two cores share the copies of one buffer, where they have nothing else to do
// meanwhile, or where a log would be full.

namespace llamada::mpi::coll {

inline constexpr std::size_t never = SIZE_MAX;

/// The most bytes of a part for the code in small.hpp: what a log takes by one copy.
inline constexpr std::size_t small_bytes_max = log::publish_fast_bytes_max;
/// Whether the parts of an alltoall, for all others and behind a table, are such a record together.
constexpr bool is_small_together(int members, std::size_t part_bytes) {
  const auto count = static_cast<std::size_t>(members);
  return count > 2 && (count + 1) * sizeof(std::uint32_t) + (count - 1) * part_bytes <= small_bytes_max;
}

/// Contributions of at most so many bytes are folded by everybody who wants the result; larger ones by
/// segments.
inline constexpr std::size_t small_reduction_bytes_max = 8 * 1024;
/// With more members, and more bytes of all together, a reduction to one root is folded by all, each a part.
inline constexpr int members_folded_at_root_max = 3;
inline constexpr std::size_t bytes_folded_at_root_max = 256 * 1024;
constexpr bool is_folded_at_root(int members, std::size_t contribution_bytes) {
  return members <= members_folded_at_root_max || contribution_bytes <= small_reduction_bytes_max ||
         contribution_bytes <= bytes_folded_at_root_max / static_cast<std::size_t>(members);
}

// From how many bytes of a part on data go from memory to memory.

/// With more members a broadcast is read out of the root's log by all at once.
constexpr std::size_t direct_bcast_bytes_min(int members) { return members == 2 ? 64 << 10 : never; }
constexpr std::size_t direct_gather_bytes_min(int members) {
  if (members == 2) return 64 << 10;
  return members <= 4 ? 512 << 10 : 128 << 10;
}
constexpr std::size_t direct_scatter_bytes_min(int members) {
  if (members == 2) return 64 << 10;
  return 128 << 10;
}
constexpr std::size_t direct_allgather_bytes_min(int members) { return members == 2 ? 64 << 10 : 512 << 10; }
/// Lent to the only other member: what several others read is in the log once for all.
constexpr std::size_t lent_allgatherv_bytes_min(int members) { return members == 2 ? 64 << 10 : never; }
constexpr std::size_t direct_alltoall_bytes_min(int members) {
  return members == 2 ? std::size_t{64} << 10 : 128 << 10;
}
/// Whether an alltoall lends its parts as an Alltoallv does: then members wait for each other by pairs.
constexpr bool alltoall_lends(int members) { return members == 3 || members == 4; }
constexpr std::size_t direct_reduce_bytes_min(int members) { return members == 2 ? never : 512 << 10; }
/// `bytes` of a part: of one member's part of the result.
constexpr std::size_t direct_reduce_scatter_bytes_min(int members) {
  if (members == 2) return never;
  return members <= 4 ? 128 << 10 : 512 << 10;
}

}  // namespace llamada::mpi::coll
