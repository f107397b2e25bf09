#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "llamada/base/result.hpp"
#include "peer_memory.hpp"

// Another process's memory through the kernel (process_vm_readv, process_vm_writev).

namespace llamada::mpi::rma {

/// Whether this process may reach that one's memory. Errors: unsupported, with what the administrator can do.
Status probe_process(const ProcessCard& card);

/// One piece of another process's memory.
struct RemotePiece {
  std::uint64_t address = 0;
  std::size_t bytes = 0;
};

/// Copies from the pieces, in their order, to `to`, which has as many bytes as they have together; and back.
/// Errors: invalid_argument (an address that the process does not have), closed (the process is dead),
/// system.
Status read_process(pid_t pid, std::span<const RemotePiece> from, std::byte* to);
Status write_process(pid_t pid, const std::byte* from, std::span<const RemotePiece> to);

}  // namespace llamada::mpi::rma
