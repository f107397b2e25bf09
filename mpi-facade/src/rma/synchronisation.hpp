#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "rma/window.hpp"

// How ranks take turns with a window (MPI 3.1, 11.5). Each function gives the error class of a call that does
// not fit what the rank is doing with the window, MPI_SUCCESS else, and reports nothing. Ranks are the
// window's. What completes operations wants them carried out before.

namespace llamada::mpi::rma {

/// What is wrong: a class, and a sentence.
struct Fault {
  int error_class = MPI_SUCCESS;
  std::string text;
  explicit operator bool() const { return error_class != MPI_SUCCESS; }
};

/// Returns when all members have called it.
void meet(Window& window);

Fault fence(Window& window, int assertion);
Fault start(Window& window, std::vector<int> targets, int assertion);
Fault complete(Window& window);
Fault post(Window& window, std::vector<int> origins, int assertion);
Fault wait(Window& window);
/// `flag`: whether all origins have completed; then the exposure is over.
Fault test(Window& window, bool& flag);

Fault lock(Window& window, int rank, bool exclusive, int assertion);
Fault unlock(Window& window, int rank);
Fault lock_all(Window& window, int assertion);
Fault unlock_all(Window& window);
/// For one target, or for all of them (rank -1).
Fault flush(Window& window, int rank);
/// The same when has_open_lock().
void flush_open(Window& window);
void sync(Window& window);

/// Whether an epoch of MPI_Win_lock or MPI_Win_lock_all with this target is open: the usual case, at once.
inline bool has_open_lock(Window& window, int target) {
  const Epochs& epochs = window.epochs();
  return epochs.access == Epochs::Access::lock_all ||
         (epochs.access == Epochs::Access::lock &&
          epochs.locks[static_cast<std::size_t>(target)] != Epochs::Lock::none);
}
/// Whether the rank may communicate with this target now; `passive`: only in an epoch of MPI_Win_lock(_all).
Fault may_access(Window& window, int target, bool passive);
/// Whether no epoch is open that the window's end would cut.
Fault may_free(Window& window);

namespace detail {
Status carry_out_batch(Window& window, int rank);
}
/// Carries out what is recorded for one target, or for all. Errors: those of Batch::carry_out(), the first.
inline Status carry_out(Window& window, int rank) {
  return window.batch(rank).is_empty() ? Status{} : detail::carry_out_batch(window, rank);
}
Status carry_out(Window& window);

/// Holds the lock that makes accumulates on this target atomic.
class AccumulateScope {
 public:
  AccumulateScope(Window& window, int target);
  ~AccumulateScope() { lock_.unlock(); }
  AccumulateScope(const AccumulateScope&) = delete;
  AccumulateScope& operator=(const AccumulateScope&) = delete;

 private:
  AccumulateLock& lock_;
};

}  // namespace llamada::mpi::rma
