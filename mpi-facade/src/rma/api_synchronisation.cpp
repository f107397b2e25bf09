#include "rma/api_common.hpp"

// Synchronisation (MPI 3.1, 11.5).

using namespace llamada::mpi;
using namespace llamada::mpi::rma;

namespace {

/// Carries out what is recorded, for one target or for all (rank -1), and then synchronises, whatever has
/// become of it: others wait for this rank.
template <typename Synchronise>
int complete_and(Window& window, int rank, Synchronise&& synchronise) {
  const int code = report_status(window, rank < 0 ? carry_out(window) : carry_out(window, rank));
  const int fault = report_fault(window, synchronise());
  return code != MPI_SUCCESS ? code : fault;
}

}  // namespace

LLAMADA_MPI_FUNCTION(Win_fence)
int PMPI_Win_fence(int assertion, MPI_Win win) {
  LLAMADA_MPI_ENTER(Win_fence);
  Window* window = nullptr;
  if (int code = find_window(win, window)) return code;
  return complete_and(*window, -1, [&] { return fence(*window, assertion); });
}

LLAMADA_MPI_FUNCTION(Win_start)
int PMPI_Win_start(MPI_Group group, int assertion, MPI_Win win) {
  LLAMADA_MPI_ENTER(Win_start);
  Window* window = nullptr;
  if (int code = find_window(win, window)) return code;
  std::vector<int> ranks;
  if (int code = ranks_in(*window, group, ranks)) return code;
  return report_fault(*window, start(*window, std::move(ranks), assertion));
}

LLAMADA_MPI_FUNCTION(Win_complete)
int PMPI_Win_complete(MPI_Win win) {
  LLAMADA_MPI_ENTER(Win_complete);
  Window* window = nullptr;
  if (int code = find_window(win, window)) return code;
  return complete_and(*window, -1, [&] { return complete(*window); });
}

LLAMADA_MPI_FUNCTION(Win_post)
int PMPI_Win_post(MPI_Group group, int assertion, MPI_Win win) {
  LLAMADA_MPI_ENTER(Win_post);
  Window* window = nullptr;
  if (int code = find_window(win, window)) return code;
  std::vector<int> ranks;
  if (int code = ranks_in(*window, group, ranks)) return code;
  return report_fault(*window, post(*window, std::move(ranks), assertion));
}

LLAMADA_MPI_FUNCTION(Win_wait)
int PMPI_Win_wait(MPI_Win win) {
  LLAMADA_MPI_ENTER(Win_wait);
  Window* window = nullptr;
  if (int code = find_window(win, window)) return code;
  return report_fault(*window, rma::wait(*window));
}

LLAMADA_MPI_FUNCTION(Win_test)
int PMPI_Win_test(MPI_Win win, int* flag) {
  LLAMADA_MPI_ENTER(Win_test);
  Window* window = nullptr;
  if (int code = find_window(win, window)) return code;
  if (int code = rma::check_pointer(*window, flag, "flag")) return code;
  bool over = false;
  if (int code = report_fault(*window, test(*window, over))) return code;
  *flag = over;
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Win_lock)
int PMPI_Win_lock(int lock_type, int rank, int assertion, MPI_Win win) {
  LLAMADA_MPI_ENTER(Win_lock);
  Window* window = nullptr;
  if (int code = find_window(win, window)) return code;
  if (lock_type != MPI_LOCK_EXCLUSIVE && lock_type != MPI_LOCK_SHARED)
    return report(*window, MPI_ERR_LOCKTYPE,
                  fmt::format("{} is neither MPI_LOCK_EXCLUSIVE nor MPI_LOCK_SHARED", lock_type));
  if (int code = check_target(*window, rank)) return code;
  if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
  return report_fault(*window, lock(*window, rank, lock_type == MPI_LOCK_EXCLUSIVE, assertion));
}

LLAMADA_MPI_FUNCTION(Win_unlock)
int PMPI_Win_unlock(int rank, MPI_Win win) {
  LLAMADA_MPI_ENTER(Win_unlock);
  Window* window = nullptr;
  if (int code = find_window(win, window)) return code;
  if (int code = check_target(*window, rank)) return code;
  if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
  return complete_and(*window, rank, [&] { return unlock(*window, rank); });
}

LLAMADA_MPI_FUNCTION(Win_lock_all)
int PMPI_Win_lock_all(int assertion, MPI_Win win) {
  LLAMADA_MPI_ENTER(Win_lock_all);
  Window* window = nullptr;
  if (int code = find_window(win, window)) return code;
  return report_fault(*window, lock_all(*window, assertion));
}

LLAMADA_MPI_FUNCTION(Win_unlock_all)
int PMPI_Win_unlock_all(MPI_Win win) {
  LLAMADA_MPI_ENTER(Win_unlock_all);
  Window* window = nullptr;
  if (int code = find_window(win, window)) return code;
  return complete_and(*window, -1, [&] { return unlock_all(*window); });
}

namespace {

/// Local and remote completion are one: what is recorded is carried out.
int flush_target(MPI_Win win, int rank) {
  Window* window = nullptr;
  if (int code = find_window(win, window)) return code;
  if (int code = check_target(*window, rank)) return code;
  if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
  if (!has_open_lock(*window, rank)) return report_fault(*window, flush(*window, rank));
  const int code = report_status(*window, carry_out(*window, rank));
  flush_open(*window);
  return code;
}

int flush_all(MPI_Win win) {
  Window* window = nullptr;
  if (int code = find_window(win, window)) return code;
  return complete_and(*window, -1, [&] { return flush(*window, -1); });
}

}  // namespace

LLAMADA_MPI_FUNCTION(Win_flush)
int PMPI_Win_flush(int rank, MPI_Win win) {
  LLAMADA_MPI_ENTER(Win_flush);
  return flush_target(win, rank);
}

LLAMADA_MPI_FUNCTION(Win_flush_local)
int PMPI_Win_flush_local(int rank, MPI_Win win) {
  LLAMADA_MPI_ENTER(Win_flush_local);
  return flush_target(win, rank);
}

LLAMADA_MPI_FUNCTION(Win_flush_all)
int PMPI_Win_flush_all(MPI_Win win) {
  LLAMADA_MPI_ENTER(Win_flush_all);
  return flush_all(win);
}

LLAMADA_MPI_FUNCTION(Win_flush_local_all)
int PMPI_Win_flush_local_all(MPI_Win win) {
  LLAMADA_MPI_ENTER(Win_flush_local_all);
  return flush_all(win);
}

LLAMADA_MPI_FUNCTION(Win_sync)
int PMPI_Win_sync(MPI_Win win) {
  LLAMADA_MPI_ENTER(Win_sync);
  Window* window = nullptr;
  if (int code = find_window(win, window)) return code;
  sync(*window);
  return MPI_SUCCESS;
}
