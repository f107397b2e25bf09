#include "coll/intercommunicator.hpp"

#include "runtime/arguments.hpp"

// MPI 3.1, 6.6: intercommunicators.
using namespace llamada::mpi;

namespace {

int give(Communicator* parent, llamada::Result<Communicator*> made, MPI_Comm* new_comm) {
  *new_comm = MPI_COMM_NULL;
  if (!made && made.error().code() == llamada::Errc::invalid_argument)
    return report(parent, MPI_ERR_COMM, made.error().text());
  if (!made) return report(parent, made.error());
  if (*made) *new_comm = (*made)->handle();
  return MPI_SUCCESS;
}

}  // namespace

LLAMADA_MPI_FUNCTION(Comm_remote_size)
int PMPI_Comm_remote_size(MPI_Comm comm, int* size) {
  LLAMADA_MPI_ENTER(Comm_remote_size);
  Communicator* communicator = nullptr;
  if (int code = find_intercommunicator(comm, communicator)) return code;
  if (int code = check_pointer(communicator, size, "size")) return code;
  *size = communicator->remote_group()->size();
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Comm_remote_group)
int PMPI_Comm_remote_group(MPI_Comm comm, MPI_Group* group) {
  LLAMADA_MPI_ENTER(Comm_remote_group);
  Communicator* communicator = nullptr;
  if (int code = find_intercommunicator(comm, communicator)) return code;
  if (int code = check_pointer(communicator, group, "group")) return code;
  *group = runtime().groups.insert(communicator->remote_group());
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Intercomm_create)
int PMPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader,
                          int tag, MPI_Comm* new_comm) {
  LLAMADA_MPI_ENTER(Intercomm_create);
  Communicator* local = nullptr;
  if (int code = find_intracommunicator(local_comm, local)) return code;
  if (int code = check_pointer(local, new_comm, "new communicator")) return code;
  if (int code = check_root(local, local_leader)) return code;
  InterBridge bridge{local_leader, nullptr, remote_leader, tag};
  if (local->rank() == local_leader) {
    if (int code = find_communicator(peer_comm, bridge.peer)) return code;
    if (int code = check_send_tag(bridge.peer, tag)) return code;
    if (remote_leader < 0 || remote_leader >= bridge.peer->peers().size())
      return detail::bad_rank(bridge.peer, remote_leader, "remote leader");
    if (bridge.peer->world_rank(remote_leader) == runtime().world_rank)
      return report(bridge.peer, MPI_ERR_RANK, "the remote leader is this process");
  }
  return give(local, create_intercommunicator(*local, bridge), new_comm);
}

LLAMADA_MPI_FUNCTION(Intercomm_merge)
int PMPI_Intercomm_merge(MPI_Comm comm, int high, MPI_Comm* new_comm) {
  LLAMADA_MPI_ENTER(Intercomm_merge);
  Communicator* inter = nullptr;
  if (int code = find_intercommunicator(comm, inter)) return code;
  if (int code = check_pointer(inter, new_comm, "new communicator")) return code;
  return give(inter, merge(*inter, high != 0), new_comm);
}

LLAMADA_MPI_FUNCTION(Comm_create_group)
int PMPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* new_comm) {
  LLAMADA_MPI_ENTER(Comm_create_group);
  Communicator* communicator = nullptr;
  if (int code = find_intracommunicator(comm, communicator)) return code;
  if (int code = check_pointer(nullptr, new_comm, "new communicator")) return code;
  if (int code = check_send_tag(communicator, tag)) return code;
  const Reference<Group> members(runtime().groups.find(group));
  if (!members) return report(communicator, MPI_ERR_GROUP, "the group is no group");
  for (const int member : members->members())
    if (communicator->rank_of(member) == MPI_UNDEFINED)
      return report(
          communicator, MPI_ERR_GROUP,
          fmt::format("rank {} of MPI_COMM_WORLD is in the group, but not in the communicator", member));
  return give(communicator, create_from_group(*communicator, *members, tag), new_comm);
}
