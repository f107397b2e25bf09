#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace llamada::launcher {

/// One process as /proc/PID/stat shows it.
struct ProcessEntry {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  char state = '?';
};

/// All processes below `ancestor`, zombies too, parents before their children.
std::vector<ProcessEntry> descendants_of(pid_t ancestor);

/// The children of this process's first thread, if the kernel lists them (CONFIG_PROC_CHILDREN).
std::optional<std::vector<pid_t>> own_children();

/// The parent of a process, its parent, and so on.
std::vector<pid_t> ancestors_of(pid_t pid);

/// The value of a variable in the environment that a process was started with; empty if it has none or may
/// not be read.
std::string variable_of(pid_t pid, const std::string& name);

/// Whether this signal would end the process: it has neither a handler for it, nor ignores or blocks it.
/// False of a process that is gone.
bool is_ended_by(pid_t pid, int signal);

/// Waits until the present children of this process are dead, or the time is over. They stay unreaped.
void wait_for_children(std::chrono::milliseconds limit);

/// Kills every descendant of this process with SIGKILL and reaps it, until none is left. The process must be
/// a subreaper, so that orphans come to it. Never sleeps; ends early only if what is left may not be killed.
void kill_all_descendants();

}  // namespace llamada::launcher
