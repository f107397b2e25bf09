#include "command.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

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
  struct stat status = {};
  if (::fstat(file, &status) != 0) std::abort();
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  if (::pread(file, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) std::abort();
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

Running::Running(std::vector<std::string> arguments)
    : arguments_(std::move(arguments)), out_(open_nameless()), err_(open_nameless()) {
  std::vector<char*> argv;
  for (std::string& each : arguments_) argv.push_back(each.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, out_, 1);
  ::posix_spawn_file_actions_adddup2(&actions, err_, 2);
  const int failed = ::posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) std::abort();
}

Running::~Running() {
  if (pid_ != 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::close(out_);
  ::close(err_);
}

void Running::send(int signal) const { ::kill(pid_, signal); }

std::string Running::err() const { return text_in(err_); }

Ended Running::end() {
  const int status = await_end(pid_, arguments_);
  pid_ = 0;
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return {code, text_in(out_), text_in(err_)};
}

Ended run(std::vector<std::string> arguments) { return Running(std::move(arguments)).end(); }

}  // namespace llamada::test
