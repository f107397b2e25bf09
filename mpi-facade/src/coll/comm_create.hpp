#pragma once

#include <vector>

#include "llamada/base/result.hpp"
#include "object/communicator.hpp"

/// New communicators, agreed by their members (MPI 3.1, 6.4.2). Collective over the parent. The result has a
/// handle and inherits the error handler; it is owned by the Runtime's table. Null for a rank that is in no
/// new group.
namespace llamada::mpi {

/// Of these slots, in this order.
Reference<Group> group_of(std::vector<int> world_ranks);

Result<Communicator*> duplicate(Communicator& parent);
/// MPI_Comm_idup: gives a copy with the parent's attributes, and the request that is complete when the copy
/// may be used. What it returns is what the C function does.
int duplicate_later(Communicator& parent, MPI_Comm* copy, MPI_Request* request);
Result<Communicator*> split(Communicator& parent, int color, int key);
Result<Communicator*> create(Communicator& parent, const Group& group);

}  // namespace llamada::mpi
