#include "llamada/waits/stack.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

extern char** environ;

namespace llamada::waits {
namespace {

/// Runs a program of PATH; 0, or errno.
int start(std::vector<std::string> command, int output, pid_t& child) {
  std::vector<char*> arguments;
  for (std::string& each : command) arguments.push_back(each.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  const int error = posix_spawnp(&child, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

}  // namespace

Result<pid_t> start_stack_command(std::int32_t pid, int output) {
  const std::string process = std::to_string(pid);
  pid_t child = 0;
  int error = start({"eu-stack", "-p", process}, output, child);
  if (error == ENOENT)
    error =
        start({"gdb", "-nx", "-batch", "-p", process, "-ex", "thread apply all backtrace"}, output, child);
  if (error == 0) return child;
  if (error == ENOENT)
    return failure(Errc::not_found,
                   "neither eu-stack nor gdb is installed: install elfutils or gdb to see the stack");
  return failure(Errc::system, "{}", no_stack);
}

}  // namespace llamada::waits
