#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>

#include "llamada/base/file_descriptor.hpp"
#include "llamada/base/result.hpp"

namespace llamada::mpi::standby {

/// Why a copy of this process would not be like it; empty: it would. `arena` is memory that others share, and
/// that a copy may share, too. A sentence without a full stop.
std::string obstacle_in_process(std::span<const std::byte> arena);

/// Which of the two processes goes on behind copy_process().
struct Copied {
  bool is_copy = false;
  pid_t original = 0;
  FileDescriptor copy;  ///< in the original: a pidfd
  sigset_t signals{};   ///< blocked before; in the copy all are
};
/// Makes a copy of the process, a child of the same parent in a process group of its own, which dies with
/// that parent. The process must have one thread. No handlers for forks are called. Errors: those of the
/// system; there is no copy then.
Result<Copied> copy_process();

/// In the copy: standard streams that lead nowhere, so that nobody waits for their ends.
void let_go_of_streams();
/// In the copy: takes these, and lets signals come again.
Status go_on_with(std::span<const FileDescriptor> streams, const sigset_t& signals);
/// In a copy that is of no use.
[[noreturn]] void end_copy();
/// Ends another one (a pidfd).
void end_other(const FileDescriptor& copy);

}  // namespace llamada::mpi::standby
