#include <unistd.h>

#include <cstdlib>

#include "object/info.hpp"
#include "p2p/api_common.hpp"
#include "runtime/arguments.hpp"
#include "runtime/one_node.hpp"
#include "runtime/protection.hpp"
#include "spawn/spawn.hpp"

// MPI 3.1, 10.3: starting processes.
using namespace llamada::mpi;

namespace {

constexpr const char* what_spawns = "a spawned process";

std::string own_directory() {
  char* path = ::getcwd(nullptr, 0);
  std::string directory = path ? path : "/";
  std::free(path);
  return directory;
}

SpawnOrder bad_order(int error_class, std::string text) { return {{}, error_class, std::move(text)}; }

/// The keys that are known (10.3.4): wdir, also as wd, path, host, also as hosts and as Open MPI's add-host.
/// arch, file and soft change nothing.
void read_hints(const Info& info, SpawnCommand& command) {
  auto directory = info.get("wdir");
  if (!directory) directory = info.get("wd");
  if (directory)
    command.working_directory = directory->starts_with('/')
                                    ? std::string(*directory)
                                    : command.working_directory + "/" + std::string(*directory);
  if (const auto path = info.get("path")) command.search_path = *path;
  for (const char* key : {"host", "hosts", "add-host"})
    if (const auto host = info.get(key); host && command.host.empty()) command.host = *host;
}

/// Adds one command to the order; what is wrong with it is in the order then.
void add_command(SpawnOrder& order, const char* program, char** arguments, int process_count, MPI_Info info) {
  if (order.error_class != MPI_SUCCESS) return;
  if (program == nullptr || *program == '\0')
    order = bad_order(MPI_ERR_ARG, "the command is missing or empty");
  else if (process_count < 0)
    order = bad_order(MPI_ERR_ARG, fmt::format("maxprocs is {}, it must not be negative", process_count));
  else if (info != MPI_INFO_NULL && !runtime().infos.find(info))
    order = bad_order(MPI_ERR_INFO, "the info object was freed, or is none");
  if (order.error_class != MPI_SUCCESS) return;
  SpawnCommand& command = order.commands.emplace_back();
  command.process_count = static_cast<std::uint32_t>(process_count);
  command.program = program;
  command.working_directory = own_directory();
  if (info != MPI_INFO_NULL) read_hints(*runtime().infos.find(info), command);
  if (arguments != MPI_ARGV_NULL)
    for (; *arguments != nullptr; ++arguments) command.arguments.emplace_back(*arguments);
}

int check(MPI_Comm comm, int root, const MPI_Comm* new_comm, Communicator*& parents) {
  if (int code = find_intracommunicator(comm, parents)) return code;
  if (int code = check_usable(parents)) return code;
  if (int code = check_pointer(parents, new_comm, "intercommunicator")) return code;
  return check_root(parents, root);
}

int finish(Communicator* parents, llamada::Result<Communicator*> made, const Verdict& verdict,
           MPI_Comm* new_comm, int* error_codes) {
  *new_comm = MPI_COMM_NULL;
  if (error_codes != MPI_ERRCODES_IGNORE)
    for (int i = 0; i < verdict.count; ++i) error_codes[i] = verdict.error_class;
  if (!verdict.good()) return report(parents, verdict.error_class, verdict.text);
  if (!made) return report(parents, made.error());
  *new_comm = (*made)->handle();
  return MPI_SUCCESS;
}

}  // namespace

extern "C" {

LLAMADA_MPI_FUNCTION(Comm_spawn)
int PMPI_Comm_spawn(const char* command, char* arguments[], int process_count_max, MPI_Info info, int root,
                    MPI_Comm comm, MPI_Comm* new_comm, int error_codes[]) {
  LLAMADA_MPI_ENTER(Comm_spawn);
  Communicator* parents = nullptr;
  if (int code = check(comm, root, new_comm, parents)) return code;
  give_up_protection(what_spawns);
  Verdict verdict;
  auto children = spawn(
      *parents, root,
      [&] {
        SpawnOrder order;
        add_command(order, command, arguments, process_count_max, info);
        return order;
      },
      verdict);
  return finish(parents, std::move(children), verdict, new_comm, error_codes);
}

LLAMADA_MPI_FUNCTION(Comm_spawn_multiple)
int PMPI_Comm_spawn_multiple(int count, char* commands[], char** argument_lists[],
                             const int process_counts_max[], const MPI_Info infos[], int root, MPI_Comm comm,
                             MPI_Comm* new_comm, int error_codes[]) {
  LLAMADA_MPI_ENTER(Comm_spawn_multiple);
  Communicator* parents = nullptr;
  if (int code = check(comm, root, new_comm, parents)) return code;
  give_up_protection(what_spawns);
  const auto order_all = [&] {
    if (count <= 0) return bad_order(MPI_ERR_ARG, fmt::format("the count of commands is {}", count));
    if (commands == nullptr || process_counts_max == nullptr || infos == nullptr)
      return bad_order(MPI_ERR_ARG, "a list of commands, counts or infos is a null pointer");
    SpawnOrder order;
    for (int i = 0; i < count; ++i)
      add_command(order, commands[i], argument_lists == MPI_ARGVS_NULL ? MPI_ARGV_NULL : argument_lists[i],
                  process_counts_max[i], infos[i]);
    return order;
  };
  Verdict verdict;
  auto children = spawn(*parents, root, order_all, verdict);
  return finish(parents, std::move(children), verdict, new_comm, error_codes);
}

LLAMADA_MPI_FUNCTION(Comm_get_parent)
int PMPI_Comm_get_parent(MPI_Comm* parent) {
  LLAMADA_MPI_ENTER(Comm_get_parent);
  if (int code = check_pointer(nullptr, parent, "parent")) return code;
  *parent = runtime().spawning.parent;
  return MPI_SUCCESS;
}

}  // extern "C"
