#include "child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>

#include "command.hpp"

extern char** environ;

namespace llamada::test {
namespace {

constexpr int ready_within_ms = 60'000;

[[noreturn]] void give_up(const char* what, const std::string& program) {
  std::fprintf(stderr, "%s: %s\n", program.c_str(), what);
  std::abort();
}

std::pair<FileDescriptor, FileDescriptor> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

/// The next byte, within the time; nothing when there will be none.
std::optional<char> next_byte(int descriptor) {
  pollfd asked{descriptor, POLLIN, 0};
  char byte = 0;
  if (::poll(&asked, 1, ready_within_ms) <= 0 || ::read(descriptor, &byte, 1) != 1) return std::nullopt;
  return byte;
}

}  // namespace

Child::Child(std::vector<std::string> arguments) : arguments_(std::move(arguments)) {
  std::vector<char*> argv;
  for (std::string& each : arguments_) argv.push_back(each.data());
  argv.push_back(nullptr);
  auto input = make_pipe();
  auto output = make_pipe();
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, input.first.get(), 0);
  ::posix_spawn_file_actions_adddup2(&actions, output.second.get(), 1);
  const int failed = ::posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) give_up("cannot be started", arguments_[0]);
  input_ = std::move(input.second);
  output_ = std::move(output.first);
  output.second.reset();
  if (!says("ready")) give_up("does not get ready", arguments_[0]);
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)),
      input_(std::move(other.input_)),
      output_(std::move(other.output_)),
      said_(std::move(other.said_)),
      arguments_(std::move(other.arguments_)) {}

Child::~Child() {
  if (pid_ == 0) return;
  input_.reset();
  ::kill(pid_, SIGCONT);
  await_end(pid_, arguments_);
}

bool Child::says(const std::string& line) {
  while (auto byte = next_byte(output_.get())) {
    if (*byte != '\n') {
      said_ += *byte;
      continue;
    }
    if (std::exchange(said_, {}) == line) return true;
  }
  return false;
}

void Child::send(int signal) const { ::kill(pid_, signal); }

}  // namespace llamada::test
