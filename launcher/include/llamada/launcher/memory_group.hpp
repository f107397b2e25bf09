#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace llamada::launcher {

/// The memory control group (cgroup) that a process is in, of version 1 or 2: what it may use, and how many
/// of its processes the kernel has killed because that was used up. Where there is none, nothing is known.
class MemoryGroup {
 public:
  /// This process's own: what it starts is in it, too.
  static MemoryGroup own();
  /// From the text of /proc/PID/cgroup, with the groups below `root` ("/sys/fs/cgroup").
  static MemoryGroup of(const std::string& proc_cgroup, const std::string& root);

  /// Processes killed for want of memory so far.
  std::uint64_t oom_kills() const;
  /// The lowest limit of the group and of those that it is in.
  std::optional<std::uint64_t> limit_bytes() const;
  /// What is left to the group below that limit; caches of files, which the kernel gives up, are not counted.
  std::optional<std::uint64_t> available_bytes() const;

 private:
  std::string root_;    ///< where the groups of memory begin
  std::string folder_;  ///< of the group; empty: none
  bool is_first_version_ = false;
};

}  // namespace llamada::launcher
