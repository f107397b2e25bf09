#include "stack_reader.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "llamada/waits/stack.hpp"

extern char** environ;

namespace llamada::launcher {
namespace {

/// Runs it with standard output to `output`, and without standard error; 0 if it cannot be run.
pid_t run(const std::vector<std::string>& command, int output) {
  std::vector<char*> arguments;
  for (const std::string& each : command) arguments.push_back(const_cast<char*>(each.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  // The supervisor has all signals blocked.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t child = 0;
  if (posix_spawn(&child, arguments[0], &actions, &attributes, arguments.data(), environ) != 0) child = 0;
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return child;
}

}  // namespace

void StackReader::read(pid_t process, Read read) {
  const auto command = waits::stack_command(process);
  if (command.empty()) return read(std::string(waits::no_stack_command) + "\n");
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return read(std::string(waits::no_stack) + "\n");
  FileDescriptor in(ends[0]);
  const FileDescriptor out(ends[1]);
  const pid_t child = run(command, out.get());
  if (child == 0) return read(std::string(waits::no_stack) + "\n");
  const std::uint64_t number = ++last_;
  loop_.watch(in.get(), POLLIN, [this, number](short) { take(number); });
  const auto timer = loop_.after(time_max, [this, number] { end(number, false); });
  readings_[number] = {std::move(in), child, {}, timer, std::move(read)};
}

void StackReader::take(std::uint64_t number) {
  Reading& reading = readings_.at(number);
  char part[4096];
  const ssize_t count = ::read(reading.pipe.get(), part, sizeof part);
  if (count <= 0) return end(number, true);
  reading.text.append(part, static_cast<std::size_t>(count));
  if (reading.text.size() > text_bytes_max) end(number, false);
}

/// A command that is not over, because it takes too long or says too much, is killed.
void StackReader::end(std::uint64_t number, bool is_over) {
  auto found = readings_.find(number);
  if (found == readings_.end()) return;
  Reading reading = std::move(found->second);
  readings_.erase(found);
  loop_.forget(reading.pipe.get());
  loop_.cancel(reading.timer);
  if (!is_over) kill(reading.command, SIGKILL);
  reading.read(reading.text.empty() ? std::string(waits::no_stack) + "\n" : std::move(reading.text));
}

}  // namespace llamada::launcher
