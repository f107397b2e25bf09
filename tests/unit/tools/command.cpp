#include "command.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

extern char** environ;

namespace llamada::test {
namespace {

/// A file without a name for what a program writes.
int open_nameless() {
  char name[] = "/tmp/llamada_command_XXXXXX";
  const int file = ::mkostemp(name, O_CLOEXEC);
  if (file < 0) std::abort();
  ::unlink(name);
  return file;
}

std::string text_in(int file) {
  std::string text(static_cast<std::size_t>(::lseek(file, 0, SEEK_END)), '\0');
  if (::pread(file, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) std::abort();
  ::close(file);
  return text;
}

}  // namespace

Ended run(std::vector<std::string> arguments) {
  std::vector<char*> argv;
  for (std::string& each : arguments) argv.push_back(each.data());
  argv.push_back(nullptr);
  const int out = open_nameless();
  const int err = open_nameless();
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, out, 1);
  ::posix_spawn_file_actions_adddup2(&actions, err, 2);
  pid_t pid = 0;
  const int failed = ::posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) std::abort();
  int status = 0;
  ::waitpid(pid, &status, 0);
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return {code, text_in(out), text_in(err)};
}

}  // namespace llamada::test
