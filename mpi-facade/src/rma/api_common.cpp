#include "rma/api_common.hpp"

#include "p2p/api_common.hpp"

namespace llamada::mpi::rma {

namespace detail {

int bad_window(MPI_Win win) {
  return report(nullptr, MPI_ERR_WIN,
                win == MPI_WIN_NULL
                    ? "the window is MPI_WIN_NULL"
                    : fmt::format("{:#x} is no window, or one that was freed", static_cast<unsigned>(win)));
}

int bad_member(Window& window, int rank) {
  return report(window, MPI_ERR_RANK, fmt::format("{} is no rank of a window of {}", rank, window.size()));
}

int failed_transfer(Window& window, const Error& error) {
  switch (error.code()) {
    case Errc::invalid_argument:
      return report(window, MPI_ERR_RMA_RANGE, error.text());
    case Errc::closed:
      // A target that is dead ends the job.
      for (int naps = 0; naps < 600; ++naps) engine().world().sleep([] { return false; });
      [[fallthrough]];
    default:
      return report(window, MPI_ERR_OTHER, error.text());
  }
}

/// A null buffer is right without data, and for a type with absolute addresses.
int bad_operand(Window& window, const void* buffer, int count, MPI_Datatype datatype, const Datatype* type) {
  if (count < 0)
    return report(window, MPI_ERR_COUNT, fmt::format("the count is {}, it must not be negative", count));
  if (!type)
    return report(window, MPI_ERR_TYPE,
                  datatype == MPI_DATATYPE_NULL ? "the datatype is MPI_DATATYPE_NULL"
                                                : "the datatype was freed, or is none");
  if (!type->is_committed())
    return report(window, MPI_ERR_TYPE, "the datatype has not been committed: call MPI_Type_commit first");
  if (buffer == MPI_IN_PLACE) return report(window, MPI_ERR_BUFFER, "MPI_IN_PLACE is not allowed here");
  if (count > 0 && type->size() > 0 && type->true_lower_bound() == 0)
    return report(window, MPI_ERR_BUFFER, "the buffer is null, but there is data");
  return MPI_SUCCESS;
}

}  // namespace detail

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
