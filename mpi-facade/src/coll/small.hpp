#pragma once

#include <cstddef>
#include <span>

#include "coll/algorithms.hpp"
#include "coll/pieces.hpp"
#include "coll/reduction.hpp"

// Blocking collectives of little data, each part in one record of a log and in one piece of memory, within a
// group. They publish and take the records that the machines for any data do (the other members may use
// these), but in few instructions, and store few words on the way: behind a store to a cache line that a
// reader has, all others wait.

namespace llamada::mpi::coll {

Status barrier_small(Channel& channel, Waiter& waiter);
/// From `root` to all. Errors: as for broadcast().
Status broadcast_small(Channel& channel, Waiter& waiter, std::span<std::byte> data, int root);
/// A member's part of a gather or reduction, other than the root's.
Status give_small(Channel& channel, Waiter& waiter, Kind kind, std::span<const std::byte> part, int root);
/// At the root of a gather: one part behind the other, among them its own, which is there.
Status gather_small(Channel& channel, Waiter& waiter, std::byte* parts, std::size_t part_bytes);
/// Of an allgather, or an alltoall of two: gives `part`, and takes the others' parts: one behind the other,
/// among them its own, which is there.
Status exchange_small(Channel& channel, Waiter& waiter, Kind kind, std::span<const std::byte> part,
                      int audience, std::byte* parts);
/// An alltoall of more, as one record for all others, with a table (Content::together). `given` and `taken`:
/// one part behind the other, among them its own, which is there.
Status alltoall_small(Channel& channel, Waiter& waiter, const std::byte* given, std::byte* taken,
                      std::size_t part_bytes);
/// A member's part of a broadcast or scatter, other than the root's.
Status take_small(Channel& channel, Waiter& waiter, Kind kind, std::span<std::byte> part, int root);

/// A reduction of elements that lie one behind the other, by a predefined operation.
struct SmallReduction {
  Reduction reduction;
  std::span<const std::byte> contribution;
  std::size_t first_byte = 0;   ///< of the part that is folded here
  std::span<std::byte> result;  ///< as long as that part; it may lie where the contribution lies
};
/// At the root.
Status reduce_small(Channel& channel, Waiter& waiter, const SmallReduction& what);
/// Of an allreduce, or a reduce_scatter: gives the contribution to all, as a piece with this name, and
/// folds all members'.
Status fold_small(Channel& channel, Waiter& waiter, Kind kind, Piece piece, const SmallReduction& what);

}  // namespace llamada::mpi::coll
