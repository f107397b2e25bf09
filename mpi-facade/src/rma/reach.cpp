#include "rma/reach.hpp"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include <algorithm>
#include <array>

namespace llamada::mpi::rma {
namespace {

/// Pieces of one system call; the kernel allows IOV_MAX.
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

/// One side of a system call. What follows on each other is one piece: the kernel looks up each remote one.
class Side {
 public:
  void add(void* base, std::size_t bytes) {
    if (count_ > 0 && end() == base)
      pieces_[count_ - 1].iov_len += bytes;
    else
      pieces_[count_++] = {base, bytes};
  }
  const iovec* data() const { return pieces_.data(); }
  std::size_t size() const { return count_; }

 private:
  const void* end() const {
    return static_cast<const std::byte*>(pieces_[count_ - 1].iov_base) + pieces_[count_ - 1].iov_len;
  }

  std::size_t count_ = 0;
  std::array<iovec, pieces_max> pieces_;
};

/// One system call's worth: as many pieces as it takes, none of them twice.
template <typename Call>
Status transfer(std::span<const Piece> pieces, pid_t pid, Call&& call) {
  std::size_t done_of_first = 0;
  while (!pieces.empty()) {
    Side local, remote;
    std::size_t bytes = 0;
    for (const Piece& piece : pieces.first(std::min(pieces.size(), pieces_max))) {
      const std::size_t skipped = bytes == 0 ? done_of_first : 0;
      local.add(piece.here + skipped, piece.bytes - skipped);
      remote.add(reinterpret_cast<void*>(piece.address + skipped), piece.bytes - skipped);
      bytes += piece.bytes - skipped;
    }
    const ssize_t moved = bytes == 0 ? 0 : call(local, remote);
    if (moved < 0 || (moved == 0 && bytes > 0)) return failed_call(pid, pieces[0].address);
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
  const Piece piece{reinterpret_cast<std::byte*>(&found), card.probe_address, sizeof(found)};
  auto read = read_process(static_cast<pid_t>(card.process), {&piece, 1});
  if (read && found == card.probe_value) return {};
  return failure(
      Errc::unsupported,
      "the system does not let a process read another's memory ({}): ask for kernel.yama.ptrace_scope "
      "0 or 1, or in a container for the system calls process_vm_readv and process_vm_writev; windows "
      "of MPI_Win_allocate do without",
      read ? "process_vm_readv gives something else" : read.error().text());
}

Status read_process(pid_t pid, std::span<const Piece> pieces) {
  return transfer(pieces, pid, [pid](const Side& local, const Side& remote) {
    return process_vm_readv(pid, local.data(), local.size(), remote.data(), remote.size(), 0);
  });
}

Status write_process(pid_t pid, std::span<const Piece> pieces) {
  return transfer(pieces, pid, [pid](const Side& local, const Side& remote) {
    return process_vm_writev(pid, local.data(), local.size(), remote.data(), remote.size(), 0);
  });
}

}  // namespace llamada::mpi::rma
