#pragma once

#include <cstddef>
#include <span>

#include "coll/pieces.hpp"

// Blocking collectives of little data, each part in one cell of a log and in one piece of memory, within a
// group. They publish and take the records that the machines for any data do (the other members may use
// these), but store few words on the way: behind a store to a cache line that a reader has, all others wait.

namespace llamada::mpi::coll {

/// From `root` to all. Errors: as for broadcast().
Status broadcast_small(Channel& channel, Waiter& waiter, std::span<std::byte> data, int root);
/// A member's part of a gather, other than the root's.
Status give_small(Channel& channel, Waiter& waiter, Kind kind, std::span<const std::byte> part, int root);
/// At the root of a gather: one part behind the other, among them its own, which is there.
Status gather_small(Channel& channel, Waiter& waiter, std::byte* parts, std::size_t part_bytes);
/// Of an allgather, or an alltoall of two: gives `part`, and takes the others' parts: one behind the other,
/// among them its own, which is there.
Status exchange_small(Channel& channel, Waiter& waiter, Kind kind, std::span<const std::byte> part,
                      int audience, std::byte* parts);
/// A member's part of a broadcast or scatter, other than the root's.
Status take_small(Channel& channel, Waiter& waiter, Kind kind, std::span<std::byte> part, int root);

}  // namespace llamada::mpi::coll
