#pragma once

#include <memory>

#include "threads/call_counter.hpp"
#include "threads/library_lock.hpp"

namespace llamada::mpi {

class SharedWaiting;

/// Who is in which call of MPI: the part of the Runtime that waiting threads and callbacks of the program
/// need.
///
/// Threads: as the Runtime.
struct CallState {
  CallCounter calls;
  /// Null unless MPI_THREAD_MULTIPLE was granted.
  std::unique_ptr<LibraryLock> lock;
  SharedWaiting* waiting = nullptr;  ///< likewise; the Engine's
};

/// The process's; null before MPI_Init, and in tests of parts that have no Runtime.
CallState* call_state_if_any();
/// Called by install_runtime(). The caller keeps ownership.
void install_call_state(CallState* state);

}  // namespace llamada::mpi
