#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "leases.hpp"

namespace llamada::launcher {

/// Where the kernel tells of processes; tests have folders of their own.
struct KernelFiles {
  std::string processes = "/proc";
  std::string control_groups = "/sys/fs/cgroup";
};

/// What /proc and the control groups say of a process now: all of a LifeSign but what concerns MPI. Nothing
/// if there is no such process, or it is dead and not reaped.
///
/// Its state is that of its first thread, but runnable as soon as any thread is. `progress` sums up the
/// processor time of its threads in nanoseconds, their switches and clock ticks, as far as this kernel tells
/// of each.
std::optional<LifeSign> life_sign_of(pid_t pid, const KernelFiles& files = {});

/// Whether the process is stopped. False for a process that is not there.
bool is_stopped(pid_t pid, const KernelFiles& files = {});

}  // namespace llamada::launcher
