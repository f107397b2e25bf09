#pragma once

#include <string_view>

#include "llamada/base/result.hpp"
#include "object/communicator.hpp"
#include "world/world.hpp"

namespace llamada::mpi {

/// Of what goes through memory that the members share: refused, with the reason, where one of them is on
/// another node than this rank. `what` is in the plural. Errors: unsupported.
inline Status need_one_node(World& world, const Communicator& communicator, std::string_view what) {
  const auto members = communicator.group()->members();
  for (std::size_t rank = 0; rank < members.size(); ++rank)
    if (!world.is_local(members[rank]))
      return failure(Errc::unsupported,
                     "{} work between ranks of one node only, and rank {} of the communicator is on another: "
                     "make a communicator of each node by MPI_Comm_split_type(MPI_COMM_TYPE_SHARED)",
                     what, rank);
  return {};
}

}  // namespace llamada::mpi
