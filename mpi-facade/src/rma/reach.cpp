#include "rma/reach.hpp"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include <algorithm>
#include <array>

namespace llamada::mpi::rma {
namespace {

/// Remote pieces of one system call; the kernel allows IOV_MAX.
constexpr std::size_t pieces_max = 256;

Status failed_call(pid_t pid, std::uint64_t address) {
  switch (errno) {
    case ESRCH:
      return failure(Errc::closed, "process {} is dead", pid);
    case EFAULT:
      return failure(Errc::invalid_argument, "process {} has no such memory at {:#x}", pid, address);
    default:
      return system_failure("reaching another process's memory");
  }
}

/// One system call's worth: as many pieces as it takes, none of them twice.
template <typename Call>
Status transfer(pid_t pid, std::span<const RemotePiece> pieces, std::byte* here, Call&& call) {
  std::array<iovec, pieces_max> remote;
  std::size_t done_of_first = 0;
  while (!pieces.empty()) {
    const auto count = std::min(pieces.size(), pieces_max);
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t skipped = i == 0 ? done_of_first : 0;
      remote[i] = {reinterpret_cast<void*>(pieces[i].address + skipped), pieces[i].bytes - skipped};
      bytes += remote[i].iov_len;
    }
    const iovec local{here, bytes};
    const ssize_t moved = bytes == 0 ? 0 : call(&local, remote.data(), count);
    if (moved < 0 || (moved == 0 && bytes > 0)) return failed_call(pid, pieces[0].address);
    here += moved;
    std::size_t left = static_cast<std::size_t>(moved);
    while (!pieces.empty() && left >= pieces[0].bytes - done_of_first) {
      left -= pieces[0].bytes - done_of_first;
      done_of_first = 0;
      pieces = pieces.subspan(1);
    }
    done_of_first += left;
  }
  return {};
}

}  // namespace

Status probe_process(const ProcessCard& card) {
  std::uint64_t found = 0;
  const RemotePiece piece{card.probe_address, sizeof(found)};
  auto read =
      read_process(static_cast<pid_t>(card.process), {&piece, 1}, reinterpret_cast<std::byte*>(&found));
  if (read && found == card.probe_value) return {};
  return failure(
      Errc::unsupported,
      "the system does not let a process read another's memory ({}): ask for kernel.yama.ptrace_scope "
      "0 or 1, or in a container for the system calls process_vm_readv and process_vm_writev; windows "
      "of MPI_Win_allocate do without",
      read ? "process_vm_readv gives something else" : read.error().text());
}

Status read_process(pid_t pid, std::span<const RemotePiece> from, std::byte* to) {
  return transfer(pid, from, to, [pid](const iovec* local, const iovec* remote, std::size_t count) {
    return process_vm_readv(pid, local, 1, remote, count, 0);
  });
}

Status write_process(pid_t pid, const std::byte* from, std::span<const RemotePiece> to) {
  return transfer(pid, to, const_cast<std::byte*>(from),
                  [pid](const iovec* local, const iovec* remote, std::size_t count) {
                    return process_vm_writev(pid, local, 1, remote, count, 0);
                  });
}

}  // namespace llamada::mpi::rma
