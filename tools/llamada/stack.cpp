#include "stack.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "llamada/waits/stack.hpp"

extern char** environ;

namespace llamada::tools {
namespace {

/// Runs it with our standard output, and without standard error; whether it ended well.
bool run(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& each : command) arguments.push_back(const_cast<char*>(each.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int error = posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  return error == 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

Status print_stack(std::int32_t pid) {
  const auto command = waits::stack_command(pid);
  if (command.empty()) return failure(Errc::not_found, "{}", waits::no_stack_command);
  if (run(command)) return {};
  return failure(Errc::permission_denied, "{}", waits::no_stack);
}

}  // namespace llamada::tools
