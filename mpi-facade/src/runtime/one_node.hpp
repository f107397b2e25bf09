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

/// Of what a rank's death would leave in a state that nobody can go on from: refused, with the reason, where
/// the others go on without ranks that die. `what` is in the plural. Errors: unsupported.
inline Status need_no_survivors(World& world, std::string_view what) {
  if (!world.survivors_go_on()) return {};
  return failure(
      Errc::unsupported,
      "{} are not built yet for jobs that go on without ranks that die (rank_replacement {}): start the "
      "job with another profile, such as --qos default",
      what, to_string(world.profile().rank_replacement.kind));
}

}  // namespace llamada::mpi
