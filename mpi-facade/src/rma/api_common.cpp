#include "rma/api_common.hpp"

namespace llamada::mpi::rma {

int find_window(MPI_Win win, Window*& found) {
  found = runtime().windows.find(win);
  if (found) return MPI_SUCCESS;
  return report(nullptr, MPI_ERR_WIN,
                win == MPI_WIN_NULL
                    ? "the window is MPI_WIN_NULL"
                    : fmt::format("{:#x} is no window, or one that was freed", static_cast<unsigned>(win)));
}

int check_member(Window& window, int rank) {
  if (rank >= 0 && rank < window.size()) return MPI_SUCCESS;
  return report(window, MPI_ERR_RANK, fmt::format("{} is no rank of a window of {}", rank, window.size()));
}

int check_target(Window& window, int rank) {
  return rank == MPI_PROC_NULL ? MPI_SUCCESS : check_member(window, rank);
}

int find_operand(Window& window, const void* buffer, int count, MPI_Datatype datatype, Operand& found) {
  if (count < 0)
    return report(window, MPI_ERR_COUNT, fmt::format("the count is {}, it must not be negative", count));
  Datatype* type = runtime().datatypes.find(datatype);
  if (!type)
    return report(window, MPI_ERR_TYPE,
                  datatype == MPI_DATATYPE_NULL ? "the datatype is MPI_DATATYPE_NULL"
                                                : "the datatype was freed, or is none");
  if (!type->is_committed())
    return report(window, MPI_ERR_TYPE, "the datatype has not been committed: call MPI_Type_commit first");
  const bool missing = buffer == nullptr && count > 0 && type->size() > 0 && type->true_lower_bound() == 0;
  if (missing || buffer == MPI_IN_PLACE)
    return report(window, MPI_ERR_BUFFER,
                  buffer ? "MPI_IN_PLACE is not allowed here" : "the buffer is null, but there is data");
  found = {const_cast<void*>(buffer), static_cast<std::size_t>(count), type};
  return MPI_SUCCESS;
}

int ranks_in(Window& window, MPI_Group group, std::vector<int>& ranks) {
  Group* members = runtime().groups.find(group);
  if (!members) return report(window, MPI_ERR_GROUP, "the group is none, or was freed");
  for (int world_rank : members->members()) {
    const int rank = window.group()->rank_of(world_rank);
    if (rank == MPI_UNDEFINED)
      return report(window, MPI_ERR_GROUP, "a member of the group is no member of the window");
    ranks.push_back(rank);
  }
  return MPI_SUCCESS;
}

}  // namespace llamada::mpi::rma
