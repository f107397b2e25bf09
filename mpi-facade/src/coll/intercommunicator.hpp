#pragma once

#include "llamada/base/result.hpp"
#include "object/communicator.hpp"

/// Intercommunicators (MPI 3.1, 6.6): what both groups must agree on, their leaders tell each other by
/// messages that the program's receives cannot see; within each group the collectives of the local
/// communicator do the rest. Both replay like the program's own.
namespace llamada::mpi {

/// Of this `peer` only the local leader need know.
struct InterBridge {
  int local_leader = 0;
  Communicator* peer = nullptr;
  int remote_leader = 0;
  int tag = 0;
};

/// Collective over `local` and the other group. Where ranks may die for good, some members may get an
/// intercommunicator and others an error. Errors: invalid_argument (the groups overlap), peer_lost, revoked,
/// those of the collectives.
Result<Communicator*> create_intercommunicator(Communicator& local, const InterBridge& bridge);
/// What the local leader does when its group cannot take part, so that the other group does not wait.
void refuse_bridge(const InterBridge& bridge, const Status& why);
/// An intracommunicator of both groups: first those that say `high` false; of two that say the same, the one
/// whose first rank in MPI_COMM_WORLD is lower.
Result<Communicator*> merge(Communicator& inter, bool high);
/// An intercommunicator of these groups with a handle, and its local communicator behind it in contexts.
Communicator* add_intercommunicator(const Communicator& parent, std::uint32_t context, Reference<Group> group,
                                    Reference<Group> remote);

/// Of an intercommunicator, as comm_create.hpp has them.
Result<Communicator*> duplicate_inter(Communicator& parent);
Result<Communicator*> split_inter(Communicator& parent, int color, int key);
Result<Communicator*> create_inter(Communicator& parent, const Group& group);

/// MPI_Comm_create_group (6.4.2): collective over `group` alone, whose members agree by messages with `tag`.
Result<Communicator*> create_from_group(Communicator& parent, const Group& group, int tag);

}  // namespace llamada::mpi
