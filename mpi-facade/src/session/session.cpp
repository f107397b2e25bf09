#include "session/session.hpp"

#include <strings.h>

#include <numeric>

#include "runtime/errors.hpp"
#include "runtime/runtime.hpp"

namespace llamada::mpi {
namespace {

constexpr std::string_view level_names[] = {"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED",
                                            "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE"};
static_assert(MPI_THREAD_SINGLE == 0 && MPI_THREAD_MULTIPLE == std::size(level_names) - 1);

bool same_word(std::string_view a, std::string_view b) {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

std::string_view thread_level_name(int level) { return level_names[level]; }

int thread_level_of(std::string_view name) {
  for (int level = 0; level < static_cast<int>(std::size(level_names)); ++level)
    if (level_names[level] == name) return level;
  return -1;
}

std::vector<int> members_of_set(std::string_view name) {
  const Runtime& self = runtime();
  if (same_word(name, process_sets[1])) return {self.world_rank};
  if (!same_word(name, process_sets[0])) return {};
  const auto members = self.comm_world()->group()->members();
  return {members.begin(), members.end()};
}

int find_session(MPI_Session handle, Session*& found) {
  const Runtime* self = runtime_if_any();
  found = self ? self->sessions.find(handle) : nullptr;
  if (found) return MPI_SUCCESS;
  return report(nullptr, MPI_ERR_SESSION, "the session is MPI_SESSION_NULL, or was finalized");
}

}  // namespace llamada::mpi
