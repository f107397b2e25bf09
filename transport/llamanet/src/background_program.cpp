#include "llamada/llamanet/background_program.hpp"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

namespace llamada::llamanet {
namespace {

std::vector<std::filesystem::path> places() {
  std::vector<std::filesystem::path> found;
  std::error_code ignored;
  Dl_info library{};
  if (::dladdr(reinterpret_cast<const void*>(&find_own_program), &library) != 0 &&
      library.dli_fname != nullptr)
    // Of the program itself it is what the shell called it, and no path if PATH was searched for that.
    if (const auto path = std::filesystem::weakly_canonical(library.dli_fname, ignored); path.is_absolute())
      found.push_back(path.parent_path());
  auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  if (!ignored) found.push_back(program.parent_path());
  return found;
}

// No signal says when the child ends, and no wait() of the program's finds it: programs are started while the
// caller goes about its business.
pid_t fork_unseen() {
  return static_cast<pid_t>(::syscall(SYS_clone, 0, nullptr, nullptr, nullptr, nullptr));
}

/// What the child needs, made before the fork: it must not allocate.
struct Prepared {
  const char* program;
  const char* directory;  ///< null: stays
  std::vector<char*> arguments;
  std::vector<int> descriptors;  ///< the child changes them
};

// Between fork and exec: only what is safe in a child of a process with threads. libc's fork() is not, in a
// child that libc does not know of.
[[noreturn]] void become(Prepared& prepared) {
  ::setsid();
  if (fork_unseen() != 0) ::_exit(0);
  const int count = static_cast<int>(prepared.descriptors.size());
  const int null = ::fcntl(::open("/dev/null", O_RDWR), F_DUPFD, count);
  // First out of the way of the numbers that they are to get.
  for (int& descriptor : prepared.descriptors)
    descriptor = ::fcntl(descriptor < 0 ? null : descriptor, F_DUPFD, count);
  for (int number = 0; number < count; ++number)
    if (::dup2(prepared.descriptors[static_cast<std::size_t>(number)], number) < 0) ::_exit(127);
  ::close_range(static_cast<unsigned>(count), ~0U, 0);
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (prepared.directory == nullptr || ::chdir(prepared.directory) == 0)
    ::execv(prepared.program, prepared.arguments.data());
  ::_exit(127);
}

}  // namespace

std::optional<std::string> find_own_program(const std::string& name) {
  for (auto& place : places())
    for (const char* folder : {"", "../bin", "../../bin"})
      if (const auto candidate = place / folder / name; ::access(candidate.c_str(), X_OK) == 0)
        return candidate.string();
  return std::nullopt;
}

Status start_in_background(const BackgroundProgram& background) {
  Prepared prepared{background.program.c_str(),
                    background.directory.empty() ? nullptr : background.directory.c_str(),
                    {},
                    background.descriptors};
  for (const std::string& argument : background.arguments)
    prepared.arguments.push_back(const_cast<char*>(argument.c_str()));
  prepared.arguments.push_back(nullptr);
  const pid_t child = fork_unseen();
  if (child < 0) return system_failure("fork");
  if (child == 0) become(prepared);
  while (::waitpid(child, nullptr, __WALL) < 0 && errno == EINTR) {
  }
  return {};
}

}  // namespace llamada::llamanet
