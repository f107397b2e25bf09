#include "command.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
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

constexpr int ends_within_ms = 90'000;

bool has_ended_within(pid_t pid, int milliseconds) {
  const int process = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (process < 0) return true;  // Without it waitpid() waits as long as it takes.
  pollfd asked{process, POLLIN, 0};
  const bool has_ended = ::poll(&asked, 1, milliseconds) != 0;
  ::close(process);
  return has_ended;
}

/// Where in the system its threads are.
void say_where_it_is(pid_t pid, const std::vector<std::string>& arguments) {
  for (const std::string& each : arguments) std::fprintf(stderr, "%s ", each.c_str());
  std::fprintf(stderr, "(pid %d) does not end\n", static_cast<int>(pid));
  std::error_code unknown;
  const std::string process = "/proc/" + std::to_string(pid);
  for (const auto& thread : std::filesystem::directory_iterator(process + "/task", unknown)) {
    std::string name, place, call;
    std::getline(std::ifstream(thread.path() / "comm"), name);
    std::getline(std::ifstream(thread.path() / "wchan"), place);
    std::getline(std::ifstream(thread.path() / "syscall"), call);
    std::fprintf(stderr, "  thread %s is in %s, system call %s\n", name.c_str(), place.c_str(), call.c_str());
  }
}

}  // namespace

int await_end(pid_t pid, const std::vector<std::string>& arguments) {
  if (!has_ended_within(pid, ends_within_ms)) {
    say_where_it_is(pid, arguments);
    ::kill(pid, SIGABRT);
    if (!has_ended_within(pid, ends_within_ms)) ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    std::abort();
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return status;
}

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
  const int status = await_end(pid, arguments);
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return {code, text_in(out), text_in(err)};
}

}  // namespace llamada::test
