#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "llamada/base/result.hpp"
#include "world/peer_memory.hpp"

// Another process's memory through the kernel (process_vm_readv, process_vm_writev).

namespace llamada::mpi::rma {

/// Whether this process may reach that one's memory. Errors: unsupported, with what the administrator can do.
Status probe_process(const ProcessCard& card);

/// One piece of another process's memory, and where it goes to in this one, or comes from.
struct Piece {
  std::byte* here = nullptr;
  std::uint64_t address = 0;
  std::size_t bytes = 0;
};

/// Copies the pieces, in their order, from that process to this one; and back, where nothing is changed here.
/// Errors: invalid_argument (an address that the process does not have), closed (the process is dead),
/// system.
Status read_process(pid_t pid, std::span<const Piece> pieces);
Status write_process(pid_t pid, std::span<const Piece> pieces);

}  // namespace llamada::mpi::rma
