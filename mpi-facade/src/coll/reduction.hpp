#pragma once

#include <span>
#include <vector>

#include "coll/accumulator.hpp"
#include "coll/pieces.hpp"

// The collectives that reduce (MPI 3.1, 5.9 to 5.11). Each element is folded in the order of the ranks, by
// one member or by all, so that the same ranks and count give the same bits whatever comes first, and
// whichever algorithm is chosen. `contribution` and `result` may be the same buffer. Errors: as for those of
// movement.hpp.

namespace llamada::mpi::coll {

struct Reduction {
  const Operation& operation;
  const Datatype& type;
};

/// Contributions of at most so many bytes are folded by everybody who wants the result; larger ones by
/// segments.
inline constexpr std::size_t small_reduction_bytes_max = 8 * 1024;

/// `result` at the root only.
Status reduce(Channel& channel, Waiter& waiter, const Reduction& reduction, const Data& contribution,
              const Data& result, int root);
Status allreduce(Channel& channel, Waiter& waiter, const Reduction& reduction, const Data& contribution,
                 const Data& result);
/// The result's elements are dealt out in order, `counts[member]` to each.
Status reduce_scatter(Channel& channel, Waiter& waiter, const Reduction& reduction, const Data& contribution,
                      const Data& result, std::span<const std::size_t> counts);
Status scan(Channel& channel, Waiter& waiter, const Reduction& reduction, const Data& contribution,
            const Data& result);
Status exscan(Channel& channel, Waiter& waiter, const Reduction& reduction, const Data& contribution,
              const Data& result);

}  // namespace llamada::mpi::coll
