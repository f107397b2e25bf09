#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace llamada::mpi {

/// What became of a copy from or to another process's memory.
enum class Reached {
  done,
  gone,    ///< there is no such process any more
  refused  ///< not allowed here, or there is no such memory: errno says why
};

/// One copy between this process and another of the same user on this machine (process_vm_readv(2)). Other
/// copies of the same bytes at the same time are the caller's to prevent.
///
/// Any thread.
Reached read_memory(int process, std::uint64_t address, std::span<std::byte> to);
Reached write_memory(int process, std::uint64_t address, std::span<const std::byte> from);

/// The process's id, as the kernel knows it.
int own_process();
/// Lets the processes of this user reach this one's memory, where the system leaves that to each process
/// (Yama's ptrace_scope 1). Elsewhere it does nothing.
void permit_reaching();

}  // namespace llamada::mpi
