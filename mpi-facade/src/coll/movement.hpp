#pragma once

#include <span>

#include "coll/pieces.hpp"

// The collectives that move data without changing it (MPI 3.1, 5.3 to 5.8). Each returns when this member's
// part is done: its data published, its results taken. Errors: invalid_argument when the members' calls do
// not fit each other; the communicator is of no more use then. A span of Data has an element for each member;
// one's own is not looked at, where what a member gives to itself has been copied before.

namespace llamada::mpi::coll {

Status barrier(Channel& channel, Waiter& waiter);
Status broadcast(Channel& channel, Waiter& waiter, const Data& data, int root);
/// `results` at the root only.
Status gather(Channel& channel, Waiter& waiter, const Data& contribution, std::span<const Data> results,
              int root, Kind kind = Kind::gather);
/// `contributions` at the root only.
Status scatter(Channel& channel, Waiter& waiter, std::span<const Data> contributions, const Data& result,
               int root);
Status allgather(Channel& channel, Waiter& waiter, const Data& contribution, std::span<const Data> results,
                 Kind kind = Kind::allgather);
Status alltoall(Channel& channel, Waiter& waiter, std::span<const Data> contributions,
                std::span<const Data> results);

}  // namespace llamada::mpi::coll
