#pragma once

#include <cstddef>
#include <cstdint>

#include "llamada/base/result.hpp"
#include "object/communicator.hpp"
#include "rma/window.hpp"

// Making windows (MPI 3.1, 11.2.1 to 11.2.4).

namespace llamada::mpi::rma {

/// What one rank brings to a window. Checked, but for what only all together can see.
struct WindowRequest {
  int flavor = MPI_WIN_FLAVOR_CREATE;
  void* base = nullptr;  ///< of MPI_Win_create
  std::size_t size_bytes = 0;
  int displacement_unit = 1;
  bool contiguous = true;  ///< of MPI_Win_allocate_shared: without alloc_shared_noncontig
};

/// Collective over `communicator`, an intracommunicator. The window has a handle; the Runtime's table owns
/// it. All members fail together. Errors: invalid_argument (the members' calls do not fit each other),
/// out_of_resources, unsupported (the system does not let processes reach each other's memory).
Result<Window*> make_window(Communicator& communicator, const WindowRequest& request);

/// Of a window that all members have done with, and that goes: its segment is for their next one.
void keep_segment(Window& window);

}  // namespace llamada::mpi::rma
