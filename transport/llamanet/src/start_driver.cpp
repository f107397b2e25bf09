#include "llamada/llamanet/start_driver.hpp"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <optional>
#include <vector>

#include "llamada/base/file_descriptor.hpp"

namespace llamada::llamanet {
namespace {

constexpr int ready_descriptor = 3;

std::vector<std::filesystem::path> places() {
  std::vector<std::filesystem::path> found;
  std::error_code ignored;
  Dl_info library{};
  if (::dladdr(reinterpret_cast<const void*>(&start_driver), &library) != 0 && library.dli_fname != nullptr)
    found.push_back(std::filesystem::weakly_canonical(library.dli_fname, ignored).parent_path());
  auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  if (!ignored) found.push_back(program.parent_path());
  return found;
}

std::optional<std::string> find_llamanetd() {
  for (auto& place : places())
    for (auto* relative : {"llamanetd", "../bin/llamanetd"})
      if (auto candidate = place / relative; ::access(candidate.c_str(), X_OK) == 0)
        return candidate.string();
  return std::nullopt;
}

// No signal says when the child ends, and no wait() of the program's finds it: drivers are started while the
// program goes about its business.
pid_t fork_unseen() {
  return static_cast<pid_t>(::syscall(SYS_clone, 0, nullptr, nullptr, nullptr, nullptr));
}

// Between fork and exec: only what is safe in a child of a process with threads. libc's fork() is not, in a
// child that libc does not know of.
[[noreturn]] void become_driver(const char* program, char* const* arguments, int ready) {
  ::setsid();
  if (fork_unseen() != 0) ::_exit(0);
  int null = ::open("/dev/null", O_RDWR);
  for (int standard = 0; standard <= 2; ++standard) ::dup2(null, standard);
  if (ready == ready_descriptor)
    ::fcntl(ready, F_SETFD, 0);
  else
    ::dup2(ready, ready_descriptor);
  ::close_range(ready_descriptor + 1, ~0U, 0);
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (::chdir("/") == 0) ::execv(program, arguments);
  ::_exit(127);
}

// The driver writes one byte when it listens or found somebody else listening; end of file: it could not
// start.
bool wait_until_ready(int pipe) {
  char byte;
  for (;;) {
    auto got = ::read(pipe, &byte, 1);
    if (got >= 0 || errno != EINTR) return got == 1;
  }
}

}  // namespace

Status start_driver(const std::string& program, const std::string& socket_name,
                    const std::string& elsewhere) {
  auto path = program.empty() ? find_llamanetd() : std::optional(program);
  if (!path && ::access(elsewhere.c_str(), X_OK) == 0) path = elsewhere;
  if (!path)
    return failure(Errc::not_found,
                   "no driver listens at @{}, and no llamanetd to start lies beside this program",
                   socket_name);
  auto name = socket_name.substr(socket_name.rfind('/') + 1);
  std::array<const char*, 7> arguments{path->c_str(),        "--name", name.c_str(), "--ends-with-last",
                                       "--ready-descriptor", "3",      nullptr};
  std::array<int, 2> ends;
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_failure("pipe2");
  FileDescriptor read_end(ends[0]), write_end(ends[1]);
  auto child = fork_unseen();
  if (child < 0) return system_failure("fork");
  if (child == 0) become_driver(path->c_str(), const_cast<char* const*>(arguments.data()), write_end.get());
  write_end.reset();
  while (::waitpid(child, nullptr, __WALL) < 0 && errno == EINTR) {
  }
  if (!wait_until_ready(read_end.get()))
    return failure(Errc::not_found, "the driver {} could not be started", *path);
  return {};
}

}  // namespace llamada::llamanet
