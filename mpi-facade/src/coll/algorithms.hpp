#pragma once

#include <cstddef>
#include <cstdint>

// From how many bytes on a collective within a group goes from memory to memory (direct.hpp) instead of
// through the logs. What decides is known to all members alike: the bytes of one part (of what one member
// gives to one other; of a reduction, the contribution), the number of members, and whether the job keeps
// histories. Where lengths are known to pairs alone (Alltoallv and its like), who gives a part decides for
// it. Measured with bench/collectives (docs/performance/collectives.md): a copy by the kernel costs as much
// as two through a log that the cache holds, so it pays off where two cores share the copies of one buffer,
// where they have nothing else to do meanwhile, or where a log would be full.

namespace llamada::mpi::coll {

inline constexpr std::size_t never = SIZE_MAX;

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
/// Whether it lends its parts as an Alltoallv does: then members wait for each other by pairs.
constexpr bool alltoall_lends(int members) { return members == 3 || members == 4; }
constexpr std::size_t direct_reduce_bytes_min(int members) { return members == 2 ? never : 512 << 10; }
/// Of one member's part of the result.
constexpr std::size_t direct_reduce_scatter_bytes_min(int members) {
  if (members == 2) return never;
  return members <= 4 ? 128 << 10 : 512 << 10;
}

/// What was touched last is in the cache: so each second call begins at the end, unless all that the members
/// of a collective touch together is far more than caches hold.
constexpr bool goes_to_and_fro(std::size_t own_bytes, int members) {
  return own_bytes <= (std::size_t{8} << 20) / static_cast<std::size_t>(members);
}

}  // namespace llamada::mpi::coll
