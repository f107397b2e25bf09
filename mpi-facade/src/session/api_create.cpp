#include <string_view>

#include "coll/intercommunicator.hpp"
#include "object/error_handler_table.hpp"
#include "p2p/engine.hpp"
#include "runtime/arguments.hpp"

// MPI 4.0, 7.4.2 and 7.6.2: communicators of groups, without a parent.
using namespace llamada::mpi;

namespace {

/// Contexts in which the members of groups find each other. All such calls share them, and are told apart by
/// their tags.
constexpr std::uint32_t group_context = 0x3fd00000u;
constexpr std::uint32_t leaders_context = 0x3fd00001u;

/// The tag of those that are told apart by a string (FNV-1a).
int tag_of(std::string_view text) {
  std::uint32_t hash = 2166136261u;
  for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 16777619u;
  return static_cast<int>(hash & 0x3fffffffu);
}

Reference<Communicator> make_way(std::uint32_t context, Reference<Group> group,
                                 const Reference<ErrorHandler>& handler) {
  runtime().engine->meet(group->members());
  return make_counted<Communicator>(context, std::move(group), handler);
}

/// What both functions have in common.
struct Wish {
  Reference<Group> group;
  Reference<ErrorHandler> handler;
  int tag = 0;
};

int check(MPI_Group group, const char* text, MPI_Info info, MPI_Errhandler handler, const MPI_Comm* new_comm,
          Wish& wish) {
  wish.group = Reference<Group>(runtime().groups.find(group));
  auto found = find_error_handler(handler, ErrorHandler::For::communicators);
  if (!wish.group) return report(nullptr, MPI_ERR_GROUP, "the group is no group");
  if (!found) return report(nullptr, MPI_ERR_ARG, found.error().text());
  wish.handler = std::move(*found);
  if (int code = check_pointer(nullptr, text, "string tag")) return code;
  if (int code = check_pointer(nullptr, new_comm, "new communicator")) return code;
  if (info != MPI_INFO_NULL && !runtime().infos.find(info))
    return report(nullptr, MPI_ERR_INFO, "the info object was freed, or is none");
  if (wish.group->size() > 0 && wish.group->rank() == MPI_UNDEFINED)
    return report(nullptr, MPI_ERR_GROUP, "this process is not in the group");
  wish.tag = tag_of(text);
  return MPI_SUCCESS;
}

llamada::Result<Communicator*> create(const Wish& wish) {
  if (wish.group->size() == 0) return nullptr;
  const auto way = make_way(group_context, wish.group, wish.handler);
  return create_from_group(*way, *wish.group, wish.tag);
}

int give(llamada::Result<Communicator*> made, MPI_Comm* new_comm) {
  if (!made) return report(nullptr, made.error());
  if (*made) *new_comm = (*made)->handle();
  return MPI_SUCCESS;
}

llamada::Result<Communicator*> connect(Communicator& local, int local_leader, const Group& remote,
                                       int remote_leader, const Wish& wish) {
  InterBridge bridge{local_leader, nullptr, 1, wish.tag};
  Reference<Communicator> way;
  if (local.rank() == local_leader) {
    std::vector<int> leaders{runtime().world_rank, remote.world_rank(remote_leader)};
    way = make_way(leaders_context, make_counted<Group>(std::move(leaders), runtime().world_rank),
                   wish.handler);
    bridge.peer = way.get();
  }
  return create_intercommunicator(local, bridge);
}

}  // namespace

extern "C" {

LLAMADA_MPI_FUNCTION(Comm_create_from_group)
int PMPI_Comm_create_from_group(MPI_Group group, const char* string_tag, MPI_Info info,
                                MPI_Errhandler handler, MPI_Comm* new_comm) {
  LLAMADA_MPI_ENTER(Comm_create_from_group);
  Wish wish;
  if (int code = check(group, string_tag, info, handler, new_comm, wish)) return code;
  *new_comm = MPI_COMM_NULL;
  return give(create(wish), new_comm);
}

LLAMADA_MPI_FUNCTION(Intercomm_create_from_groups)
int PMPI_Intercomm_create_from_groups(MPI_Group local_group, int local_leader, MPI_Group remote_group,
                                      int remote_leader, const char* string_tag, MPI_Info info,
                                      MPI_Errhandler handler, MPI_Comm* new_comm) {
  LLAMADA_MPI_ENTER(Intercomm_create_from_groups);
  Wish wish;
  if (int code = check(local_group, string_tag, info, handler, new_comm, wish)) return code;
  *new_comm = MPI_COMM_NULL;
  if (local_leader < 0 || local_leader >= wish.group->size())
    return report(nullptr, MPI_ERR_RANK,
                  fmt::format("the local leader {} is not in its group", local_leader));
  const Reference<Group> remote(runtime().groups.find(remote_group));
  if (wish.group->rank() == local_leader) {
    // It counts at the local leader alone.
    if (!remote) return report(nullptr, MPI_ERR_GROUP, "the remote group is no group");
    if (remote_leader < 0 || remote_leader >= remote->size())
      return report(nullptr, MPI_ERR_RANK,
                    fmt::format("the remote leader {} is not in its group", remote_leader));
  }
  auto local = create(wish);
  if (!local) return report(nullptr, local.error());
  auto made = connect(**local, local_leader, *remote, remote_leader, wish);
  runtime().communicators.erase((*local)->handle());
  return give(std::move(made), new_comm);
}

}  // extern "C"
