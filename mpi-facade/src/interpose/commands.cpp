#include "interpose/commands.hpp"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "interpose/descriptors.hpp"
#include "interpose/file_calls.hpp"

// Commands that a rank runs by system() and popen(): what they print goes through the rank, which records it
// with the exit status. A replacement prints it again and runs nothing.

extern char** environ;

using namespace llamada::mpi;
using interpose::Arguments;
using interpose::FileCall;
using interpose::FileOutcome;
using interpose::NextFunction;
using interpose::Query;
using replay::Determinants;
using replay::ValueId;

namespace {

constexpr std::size_t piece_bytes = 64 << 10;
constexpr int look_for_end_ms = 20;

/// A piece of what a command printed: to which descriptor, and how much; the bytes follow.
struct PieceHead {
  std::uint32_t descriptor;
  std::uint32_t size_bytes;
};

/// A command that runs, with the pipes from it.
struct Command {
  pid_t process = -1;
  std::array<int, 2> pipes{-1, -1};  ///< its standard output, its standard error
};

/// The read end of a pipe whose write end becomes the `target` of the command.
int add_pipe(posix_spawn_file_actions_t& actions, int target, std::vector<int>& to_close) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return -1;
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  posix_spawn_file_actions_adddup2(&actions, ends[1], target);
  to_close.push_back(ends[1]);
  return ends[0];
}

/// Starts sh -c text. False and errno on failure.
bool start(Command& command, const char* text, sigset_t* mask) {
  static NextFunction<int(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*,
                          char* const*, char* const*)>
      spawn("posix_spawn");
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  std::vector<int> to_close;
  for (int i = 0; i < 2; i++)
    command.pipes[static_cast<std::size_t>(i)] = add_pipe(actions, STDOUT_FILENO + i, to_close);
  sigset_t interrupts;
  sigemptyset(&interrupts);
  sigaddset(&interrupts, SIGINT);
  sigaddset(&interrupts, SIGQUIT);
  posix_spawnattr_setsigdefault(&attributes, &interrupts);
  posix_spawnattr_setsigmask(&attributes, mask);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  char shell[] = "sh", option[] = "-c";
  std::string copy = text;
  char* arguments[] = {shell, option, copy.data(), nullptr};
  const bool has_pipes = command.pipes[0] >= 0 && command.pipes[1] >= 0;
  const int error_number =
      has_pipes ? spawn.get()(&command.process, "/bin/sh", &actions, &attributes, arguments, environ)
                : EMFILE;
  for (const int end : to_close) interpose::real_close(end);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  errno = error_number;
  return error_number == 0;
}

void close_pipes(Command& command) {
  for (int& end : command.pipes) {
    if (end >= 0) interpose::real_close(end);
    end = -1;
  }
}

void write_all(int descriptor, const char* bytes, std::size_t size_bytes) {
  while (size_bytes > 0) {
    const ssize_t count = interpose::real_write(descriptor, bytes, size_bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    bytes += count;
    size_bytes -= static_cast<std::size_t>(count);
  }
}

/// Passes on what a pipe has, and keeps it in `printed`. False at the pipe's end.
bool pass_on(int& from, int descriptor, std::vector<std::byte>& printed) {
  char bytes[piece_bytes];
  for (;;) {
    const ssize_t count = interpose::real_read(from, bytes, sizeof bytes);
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    if (count == 0) {
      interpose::real_close(from);
      from = -1;
      return false;
    }
    const auto size = static_cast<std::size_t>(count);
    const PieceHead head{static_cast<std::uint32_t>(descriptor), static_cast<std::uint32_t>(size)};
    const auto* begin = reinterpret_cast<const std::byte*>(&head);
    printed.insert(printed.end(), begin, begin + sizeof head);
    begin = reinterpret_cast<const std::byte*>(bytes);
    printed.insert(printed.end(), begin, begin + size);
    write_all(descriptor, bytes, size);
  }
}

void print_again(std::span<const std::byte> printed) {
  PieceHead head{};
  while (printed.size() > sizeof head) {
    std::memcpy(&head, printed.data(), sizeof head);
    printed = printed.subspan(sizeof head);
    const std::size_t size = std::min<std::size_t>(head.size_bytes, printed.size());
    write_all(static_cast<int>(head.descriptor), reinterpret_cast<const char*>(printed.data()), size);
    printed = printed.subspan(size);
  }
}

/// What the command left behind still holds a pipe: another process passes on what comes.
void leave_to_another(Command& command, const void* caller) {
  static NextFunction<pid_t()> next("fork");
  interpose::cannot_be_repeated(caller, "what a command leaves running in the background");
  if (next.get()() != 0) return;
  for (const int end : command.pipes)
    if (end >= 0) fcntl(end, F_SETFL, 0);
  std::vector<std::byte> printed;
  for (bool is_open = true; is_open;) {
    pollfd events[2] = {{command.pipes[0], POLLIN, 0}, {command.pipes[1], POLLIN, 0}};
    poll(events, 2, -1);
    is_open = false;
    for (int i = 0; i < 2; i++) {
      int& end = command.pipes[static_cast<std::size_t>(i)];
      if (end < 0) continue;
      fcntl(end, F_SETFL, O_NONBLOCK);
      is_open |= pass_on(end, STDOUT_FILENO + i, printed);
      printed.clear();
    }
  }
  _exit(0);
}

/// Passes on what the command prints until it has ended; gives its status.
int run(Command& command, std::vector<std::byte>& printed, const void* caller) {
  int status = 0;
  for (bool is_over = false; !is_over;) {
    pollfd events[2] = {{command.pipes[0], POLLIN, 0}, {command.pipes[1], POLLIN, 0}};
    const bool has_pipes = command.pipes[0] >= 0 || command.pipes[1] >= 0;
    syscall(SYS_poll, events, 2, look_for_end_ms);
    const pid_t ended = waitpid(command.process, &status, has_pipes ? WNOHANG : 0);
    is_over = ended == command.process || (ended < 0 && errno != EINTR);
    for (int i = 0; i < 2; i++)
      if (command.pipes[static_cast<std::size_t>(i)] >= 0)
        pass_on(command.pipes[static_cast<std::size_t>(i)], STDOUT_FILENO + i, printed);
  }
  if (command.pipes[0] >= 0 || command.pipes[1] >= 0) leave_to_another(command, caller);
  close_pipes(command);
  return status;
}

/// As POSIX has system(): meanwhile SIGINT and SIGQUIT are the command's, and its end is no news.
class Undisturbed {
 public:
  Undisturbed() {
    struct sigaction ignored {};
    ignored.sa_handler = SIG_IGN;
    sigaction(SIGINT, &ignored, &interrupt_);
    sigaction(SIGQUIT, &ignored, &quit_);
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, &mask_);
  }
  ~Undisturbed() {
    sigaction(SIGINT, &interrupt_, nullptr);
    sigaction(SIGQUIT, &quit_, nullptr);
    sigprocmask(SIG_SETMASK, &mask_, nullptr);
  }
  Undisturbed(const Undisturbed&) = delete;
  Undisturbed& operator=(const Undisturbed&) = delete;
  sigset_t* mask() { return &mask_; }

 private:
  struct sigaction interrupt_ {};
  struct sigaction quit_ {};
  sigset_t mask_{};
};

/// The predecessor died before the command was over: nobody can tell how much of it had been done.
[[noreturn]] void interrupted(Determinants& determinants, const char* function) {
  determinants.cannot_be_replaced(
      fmt::format("it died while a command ran that it had started by {}(). The library cannot tell how much "
                  "the command had done, so a replacement can neither run it again nor leave it out",
                  function));
}

/// Tells the record that a command is about to run; gives whether its outcome is recorded.
bool announce(Determinants& determinants, const char* text, const char* function) {
  const std::uint64_t announced =
      static_cast<std::uint64_t>(FileCall::command) << 32 | Arguments().add(text).digest();
  const bool repeated = determinants.replaying();
  if (determinants.read_value(ValueId::file_call, announced) != announced)
    determinants.diverged("it runs another command than its predecessor did");
  if (repeated && !determinants.replaying()) interrupted(determinants, function);
  if (!repeated) determinants.await_stable();
  return repeated;
}

int run_recorded(Determinants& determinants, const char* text, const void* caller) {
  announce(determinants, text, "system");
  Query running{.call = FileCall::command, .digest = Arguments().add(text).digest()};
  running.ask = [&](std::vector<std::byte>& printed) {
    Undisturbed undisturbed;
    Command command;
    if (start(command, text, undisturbed.mask())) return FileOutcome{run(command, printed, caller), 0};
    const int error_number = errno;
    close_pipes(command);
    return FileOutcome{-1, error_number};
  };
  running.take = [](std::span<const std::byte> printed, bool repeated) {
    if (repeated) print_again(printed);
  };
  return static_cast<int>(interpose::query(determinants, running));
}

bool goes_to_followed_files() {
  return interpose::following(STDOUT_FILENO).what != interpose::Following::nothing ||
         interpose::following(STDERR_FILENO).what != interpose::Following::nothing;
}

// popen() for reading.

struct CommandStream {
  Command command;
  bool is_running = false;  ///< false in a replacement that takes everything from the record
};

// Only the rank's thread uses it.
std::unordered_map<FILE*, std::unique_ptr<CommandStream>>& command_streams() {
  static auto* all = new std::unordered_map<FILE*, std::unique_ptr<CommandStream>>;
  return *all;
}

/// What the command has printed next, at most so much.
FileOutcome read_output(Command& command, std::vector<std::byte>& answer, std::size_t size_bytes) {
  const std::size_t head = answer.size();
  std::vector<std::byte> errors;
  for (;;) {
    pollfd events[2] = {{command.pipes[0], POLLIN, 0}, {command.pipes[1], POLLIN, 0}};
    syscall(SYS_poll, events, 2, -1);
    if (command.pipes[1] >= 0 && events[1].revents) pass_on(command.pipes[1], STDERR_FILENO, errors);
    if (!events[0].revents) continue;
    answer.resize(head + size_bytes);
    const ssize_t count = interpose::real_read(command.pipes[0], answer.data() + head, size_bytes);
    answer.resize(head + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    const FileOutcome outcome = FileOutcome::of(count);
    answer.insert(answer.end(), errors.begin(), errors.end());
    return outcome;
  }
}

ssize_t read_command(void* cookie, char* buffer, size_t size_bytes) {
  auto& stream = *static_cast<CommandStream*>(cookie);
  Determinants* determinants = interpose::determinants_of_caller();
  std::vector<std::byte> answer;
  if (!determinants) {
    const FileOutcome outcome = read_output(stream.command, answer, size_bytes);
    if (outcome.result > 0) std::memcpy(buffer, answer.data(), static_cast<std::size_t>(outcome.result));
    return outcome.give();
  }
  Query reading{.call = FileCall::command_output, .digest = Arguments().number(size_bytes).digest()};
  std::vector<std::byte> taken;
  reading.ask = [&](std::vector<std::byte>& output) {
    if (!stream.is_running) interrupted(*determinants, "popen");
    return read_output(stream.command, output, size_bytes);
  };
  bool is_repeated = false;
  reading.take = [&](std::span<const std::byte> output, bool repeated) {
    taken.assign(output.begin(), output.end());
    is_repeated = repeated;
  };
  const long count = interpose::query(*determinants, reading);
  const auto own = static_cast<std::size_t>(std::max(count, 0L));
  if (own > 0) std::memcpy(buffer, taken.data(), own);
  if (is_repeated) print_again(std::span<const std::byte>(taken).subspan(own));
  return count;
}

FILE* open_command(Determinants& determinants, const char* text) {
  auto stream = std::make_unique<CommandStream>();
  if (!announce(determinants, text, "popen")) {
    sigset_t mask;
    sigprocmask(SIG_BLOCK, nullptr, &mask);
    stream->is_running = start(stream->command, text, &mask);
    if (!stream->is_running) determinants.diverged("a command that popen() was given cannot be started");
  }
  FILE* file = fopencookie(stream.get(), "r", {read_command, nullptr, nullptr, nullptr});
  if (file) command_streams()[file] = std::move(stream);
  return file;
}

int close_command(Determinants* determinants, FILE* file, const void* caller) {
  const std::unique_ptr<CommandStream> stream = std::move(command_streams()[file]);
  command_streams().erase(file);
  fclose(file);
  // Who reads no further closes the pipe: the command may end by SIGPIPE.
  if (stream->command.pipes[0] >= 0) interpose::real_close(stream->command.pipes[0]);
  stream->command.pipes[0] = -1;
  std::vector<std::byte> printed;
  if (!determinants) return run(stream->command, printed, caller);
  Query ending{.call = FileCall::command};
  ending.ask = [&](std::vector<std::byte>& errors) {
    if (!stream->is_running) interrupted(*determinants, "popen");
    return FileOutcome{run(stream->command, errors, caller), 0};
  };
  ending.take = [](std::span<const std::byte> errors, bool repeated) {
    if (repeated) print_again(errors);
  };
  return static_cast<int>(interpose::query(*determinants, ending));
}

}  // namespace

int interpose::descriptor_of_command(FILE* file) {
  if (!opened_determinants()) return -1;
  const auto found = command_streams().find(file);
  return found == command_streams().end() ? -1 : found->second->command.pipes[0];
}

extern "C" {

LLAMADA_INTERPOSED int system(const char* text) {
  static NextFunction<int(const char*)> next("system");
  Determinants* determinants = text ? interpose::recorder_of_change(LLAMADA_CALLER, "system") : nullptr;
  if (!determinants) return next.get()(text);
  if (!goes_to_followed_files()) return run_recorded(*determinants, text, LLAMADA_CALLER);
  interpose::cannot_be_repeated(LLAMADA_CALLER, "a command that prints into a file of the rank (system)");
  return next.get()(text);
}

LLAMADA_INTERPOSED FILE* popen(const char* text, const char* mode) {
  static NextFunction<FILE*(const char*, const char*)> next("popen");
  Determinants* determinants = text ? interpose::recorder_of_change(LLAMADA_CALLER, "popen") : nullptr;
  if (!determinants) return next.get()(text, mode);
  if (mode && mode[0] == 'r' && !goes_to_followed_files()) return open_command(*determinants, text);
  interpose::cannot_be_repeated(LLAMADA_CALLER, "the input of a command (popen for writing)");
  return next.get()(text, mode);
}

LLAMADA_INTERPOSED int pclose(FILE* file) {
  static NextFunction<int(FILE*)> next("pclose");
  if (!interpose::opened_determinants() || !command_streams().contains(file)) return next.get()(file);
  return close_command(interpose::recorder_of(LLAMADA_CALLER), file, LLAMADA_CALLER);
}

}  // extern "C"
