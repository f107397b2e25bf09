#include "rank_environment.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cpu_places.hpp"

namespace llamada::launcher {
namespace {

bool is_of(const std::string& entry, std::string_view name) {
  return entry.size() > name.size() && entry[name.size()] == '=' && entry.compare(0, name.size(), name) == 0;
}

/// Large messages are copied between programs' own memory, by the kernel, page by page: of memory in huge
/// pages in a third of the time. glibc's malloc asks for them where this is set; where the system's
/// administrator leaves that to programs (transparent_hugepage "madvise"), it has a consequence.
std::string with_huge_pages(std::string tunables) {
  constexpr std::string_view tunable = "glibc.malloc.hugetlb";
  if (tunables.find(tunable) == std::string::npos)
    tunables += fmt::format("{}{}=1", tunables.empty() ? "" : ":", tunable);
  return tunables;
}

/// How many CPUs all ranks together are bound to; 0: they are not bound.
int bound_cpus(const std::vector<std::string>& places) {
  int count = 0;
  for (const std::string& place : places) {
    const cpu_set_t cpus = cpu_set_of(place);
    count += CPU_COUNT(&cpus);
  }
  return count;
}

/// A rank's place among the ranks of its node.
struct LocalPlace {
  std::uint32_t rank = 0, size = 1;
};

LocalPlace place_of(const control::Start& job, const JobWorld& world, std::uint32_t rank_in_world) {
  if (world.number != 0 && world.nodes.empty()) return {rank_in_world, world.count};
  if (world.number != 0) {
    const auto own = world.nodes.begin() + rank_in_world;
    return {static_cast<std::uint32_t>(std::count(world.nodes.begin(), own, *own)),
            static_cast<std::uint32_t>(std::count(world.nodes.begin(), world.nodes.end(), *own))};
  }
  return {rank_on_node(job, rank_in_world), ranks_on_node_of(job, rank_in_world)};
}

/// What programs that know other MPIs look at.
void set_foreign_names(std::vector<std::string>& environment, std::uint32_t rank, std::uint32_t size,
                       const LocalPlace& local) {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK"})
    set_variable(environment, name, std::to_string(rank));
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "OMPI_UNIVERSE_SIZE", "PMI_SIZE"})
    set_variable(environment, name, std::to_string(size));
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_NODE_RANK", "MPI_LOCALRANKID"})
    set_variable(environment, name, std::to_string(local.rank));
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"})
    set_variable(environment, name, std::to_string(local.size));
}

}  // namespace

void set_variable(std::vector<std::string>& environment, std::string_view name, std::string_view value) {
  const std::string entry = fmt::format("{}={}", name, value);
  for (std::string& present : environment)
    if (is_of(present, name)) {
      present = entry;
      return;
    }
  environment.push_back(entry);
}

std::string variable_in(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& entry : environment)
    if (is_of(entry, name)) return entry.substr(name.size() + 1);
  return {};
}

std::vector<std::string> environment_of_rank(const RankSurroundings& rank) {
  const control::Start& job = rank.job;
  const JobWorld& world = rank.world;
  const std::uint32_t rank_in_world = rank.slot - world.first;
  std::vector<std::string> environment = job.environment;
  if (rank.needs_crash_points) {
    std::string path = job.crash_point_library_directory;
    for (const std::string& entry : job.environment)
      if (is_of(entry, "LD_LIBRARY_PATH")) path += ":" + entry.substr(entry.find('=') + 1);
    set_variable(environment, "LD_LIBRARY_PATH", path);
  }
  // Slots: of mpirun's own world they are the ranks.
  set_variable(environment, "LLAMADA_RANK", std::to_string(rank.slot));
  set_variable(environment, "LLAMADA_SIZE", std::to_string(world.count));
  set_variable(environment, "LLAMADA_TOKEN", std::to_string(rank.token));
  if (world.number != 0) {
    set_variable(environment, "LLAMADA_FIRST", std::to_string(world.first));
    set_variable(environment, "LLAMADA_APPNUM", std::to_string(world.command_number(rank_in_world)));
  }
  if (rank.is_replaceable) set_variable(environment, "LLAMADA_RECORD", "1");
  constexpr const char* tunables = "GLIBC_TUNABLES";
  set_variable(environment, tunables, with_huge_pages(variable_in(job.environment, tunables)));
  // A rank that is bound sees its own CPUs alone.
  if (const int cpus = bound_cpus(rank.cpu_places); cpus > 0)
    set_variable(environment, "LLAMADA_CPUS", std::to_string(cpus));
  set_foreign_names(environment, rank_in_world, world.count, place_of(job, world, rank_in_world));
  return environment;
}

}  // namespace llamada::launcher
