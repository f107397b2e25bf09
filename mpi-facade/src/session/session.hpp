#pragma once

#include <mpi.h>

#include <string>
#include <string_view>
#include <vector>

#include "object/session.hpp"

namespace llamada::mpi {

/// "MPI_THREAD_MULTIPLE" and its like, as the key thread_level has them.
std::string_view thread_level_name(int level);
/// -1 for what is no level.
int thread_level_of(std::string_view name);

/// The process sets that there are, in the order of MPI_Session_get_nth_pset.
inline constexpr std::string_view process_sets[] = {"mpi://WORLD", "mpi://SELF"};
/// The slots of a process set, whatever the case of its letters; empty: there is none of this name.
std::vector<int> members_of_set(std::string_view name);

/// As find_communicator().
int find_session(MPI_Session handle, Session*& found);

}  // namespace llamada::mpi
