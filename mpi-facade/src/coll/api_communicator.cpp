#include "coll/collectives.hpp"
#include "coll/comm_create.hpp"
#include "runtime/arguments.hpp"

// Making and freeing communicators (MPI 3.1, 6.4.2 and 6.4.3).

namespace {

using namespace llamada::mpi;

int give(Communicator* parent, llamada::Result<Communicator*> made, MPI_Comm* result) {
  *result = MPI_COMM_NULL;
  if (!made) return report(parent, made.error());
  if (*made != nullptr) *result = (*made)->handle();
  return MPI_SUCCESS;
}

/// A copy with the attributes that the program's callbacks let through. When one of them fails, there is no
/// copy.
int duplicate_for(MPI_Comm comm, Communicator& parent, MPI_Comm* new_comm) {
  auto copy = duplicate(parent);
  if (!copy) return give(&parent, std::move(copy), new_comm);
  if (int code = parent.attributes().copy_to(comm, (*copy)->attributes())) {
    runtime().communicators.erase((*copy)->handle());
    *new_comm = MPI_COMM_NULL;
    return call_error_handler(&parent, code);
  }
  return give(&parent, std::move(copy), new_comm);
}

/// The hints of a communicator (6.4.4): none is known here, so all are ignored.
int check_hints(Communicator* communicator, MPI_Info info) {
  if (info == MPI_INFO_NULL || runtime().infos.find(info)) return MPI_SUCCESS;
  return report(communicator, MPI_ERR_INFO, "the info object was freed, or is none");
}

/// Whether a hint asks for the ranks of a node (MPI 4.0, 7.4.2), the one kind of hardware known here.
bool names_the_node(MPI_Info info) {
  const Info* hints = runtime().infos.find(info);
  const auto type = hints ? hints->get("mpi_hw_resource_type") : std::nullopt;
  return type == "mpi_shared_memory" || type == "node" || type == "machine" || type == "host";
}

int own_node() {
  const World& world = *runtime().world;
  return world.node_of(world.rank());
}

int duplicate_later_for(MPI_Comm comm, MPI_Info info, MPI_Comm* new_comm, MPI_Request* request) {
  Communicator* parent = nullptr;
  if (int code = find_communicator(comm, parent)) return code;
  if (int code = check_pointer(parent, new_comm, "newcomm")) return code;
  if (int code = check_pointer(parent, request, "request")) return code;
  if (int code = check_hints(parent, info)) return code;
  *new_comm = MPI_COMM_NULL;
  return duplicate_later(*parent, new_comm, request);
}

}  // namespace

extern "C" {

LLAMADA_MPI_FUNCTION(Comm_dup)
int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm* newcomm) {
  LLAMADA_MPI_ENTER(Comm_dup);
  Communicator* parent = nullptr;
  if (int code = find_communicator(comm, parent)) return code;
  if (int code = check_pointer(nullptr, newcomm, "newcomm")) return code;
  return duplicate_for(comm, *parent, newcomm);
}

LLAMADA_MPI_FUNCTION(Comm_dup_with_info)
int PMPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm) {
  LLAMADA_MPI_ENTER(Comm_dup_with_info);
  Communicator* parent = nullptr;
  if (int code = find_communicator(comm, parent)) return code;
  if (int code = check_pointer(nullptr, newcomm, "newcomm")) return code;
  if (int code = check_hints(parent, info)) return code;
  return duplicate_for(comm, *parent, newcomm);
}

LLAMADA_MPI_FUNCTION(Comm_idup)
int PMPI_Comm_idup(MPI_Comm comm, MPI_Comm* newcomm, MPI_Request* request) {
  LLAMADA_MPI_ENTER(Comm_idup);
  return duplicate_later_for(comm, MPI_INFO_NULL, newcomm, request);
}

LLAMADA_MPI_FUNCTION(Comm_idup_with_info)
int PMPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm, MPI_Request* request) {
  LLAMADA_MPI_ENTER(Comm_idup_with_info);
  return duplicate_later_for(comm, info, newcomm, request);
}

LLAMADA_MPI_FUNCTION(Comm_set_info)
int PMPI_Comm_set_info(MPI_Comm comm, MPI_Info info) {
  LLAMADA_MPI_ENTER(Comm_set_info);
  Communicator* communicator = nullptr;
  if (int code = find_communicator(comm, communicator)) return code;
  if (int code = check_hints(communicator, info)) return code;
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Comm_get_info)
int PMPI_Comm_get_info(MPI_Comm comm, MPI_Info* info) {
  LLAMADA_MPI_ENTER(Comm_get_info);
  Communicator* communicator = nullptr;
  if (int code = find_communicator(comm, communicator)) return code;
  if (int code = check_pointer(communicator, info, "info")) return code;
  *info = runtime().infos.insert(make_counted<Info>());
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Comm_split)
int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* newcomm) {
  LLAMADA_MPI_ENTER(Comm_split);
  Communicator* parent = nullptr;
  if (int code = find_communicator(comm, parent)) return code;
  if (int code = check_pointer(nullptr, newcomm, "newcomm")) return code;
  if (color < 0 && color != MPI_UNDEFINED)
    return report(parent, MPI_ERR_ARG,
                  fmt::format("color {} is neither MPI_UNDEFINED nor at least 0", color));
  return give(parent, split(*parent, color, key), newcomm);
}

LLAMADA_MPI_FUNCTION(Comm_split_type)
int PMPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm* newcomm) {
  LLAMADA_MPI_ENTER(Comm_split_type);
  Communicator* parent = nullptr;
  if (int code = find_communicator(comm, parent)) return code;
  if (int code = check_pointer(nullptr, newcomm, "newcomm")) return code;
  if (int code = check_hints(parent, info)) return code;
  switch (split_type) {
    case MPI_COMM_TYPE_SHARED:
      return give(parent, split(*parent, own_node(), key), newcomm);
    case MPI_COMM_TYPE_HW_GUIDED:
      return give(parent, split(*parent, names_the_node(info) ? own_node() : MPI_UNDEFINED, key), newcomm);
    case MPI_COMM_TYPE_HW_UNGUIDED:  // The node is not divided further.
    case MPI_UNDEFINED:
      return give(parent, split(*parent, MPI_UNDEFINED, key), newcomm);
    default:
      return report(parent, MPI_ERR_ARG, fmt::format("split_type {} is none that MPI names", split_type));
  }
}

LLAMADA_MPI_FUNCTION(Comm_create)
int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm) {
  LLAMADA_MPI_ENTER(Comm_create);
  Communicator* parent = nullptr;
  if (int code = find_communicator(comm, parent)) return code;
  if (int code = check_pointer(nullptr, newcomm, "newcomm")) return code;
  Group* members = runtime().groups.find(group);
  if (members == nullptr) return report(parent, MPI_ERR_GROUP, "the group is no group");
  for (int world_rank : members->members())
    if (parent->group()->rank_of(world_rank) == MPI_UNDEFINED)
      return report(
          parent, MPI_ERR_GROUP,
          fmt::format("rank {} of MPI_COMM_WORLD is in the group, but not in the communicator", world_rank));
  return give(parent, create(*parent, *members), newcomm);
}

LLAMADA_MPI_FUNCTION(Comm_free)
int PMPI_Comm_free(MPI_Comm* comm) {
  LLAMADA_MPI_ENTER(Comm_free);
  if (int code = check_pointer(nullptr, comm, "comm")) return code;
  Communicator* communicator = nullptr;
  if (int code = find_communicator(*comm, communicator)) return code;
  if (*comm == MPI_COMM_WORLD || *comm == MPI_COMM_SELF)
    return report(communicator, MPI_ERR_COMM, "a predefined communicator cannot be freed");
  if (int code = communicator->attributes().remove_all(*comm)) return call_error_handler(communicator, code);
  if (*comm == runtime().spawning.parent) runtime().spawning.parent = MPI_COMM_NULL;
  runtime().collectives->spare_channel(*communicator);
  communicator->set_handle(MPI_COMM_NULL);
  runtime().communicators.erase(*comm);
  *comm = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

}  // extern "C"
