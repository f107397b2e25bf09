#include "enter.hpp"

#include <errno.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace llamada::bed {
namespace {

constexpr int exit_not_executable = 126, exit_not_found = 127, exit_signal = 128;

std::atomic<pid_t> child_of_command{0};

void hand_on(int signal) {
  if (const pid_t child = child_of_command) ::kill(child, signal);
}

bool is_own_user_namespace(int descriptor) {
  struct stat own {
  }, other{};
  return ::stat("/proc/self/ns/user", &own) == 0 && ::fstat(descriptor, &other) == 0 &&
         own.st_ino == other.st_ino && own.st_dev == other.st_dev;
}

Status enter(const std::vector<FileDescriptor>& namespaces) {
  for (const FileDescriptor& each : namespaces) {
    if (::ioctl(each.get(), NS_GET_NSTYPE) == CLONE_NEWUSER && is_own_user_namespace(each.get())) continue;
    if (::setns(each.get(), 0) != 0) return system_failure("setns");
  }
  return {};
}

[[noreturn]] void execute(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& each : command) arguments.push_back(const_cast<char*>(each.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  const int code = errno;
  std::fprintf(stderr, "nodes: %s: %s\n", arguments[0], std::strerror(code));
  ::_exit(code == ENOENT ? exit_not_found : exit_not_executable);
}

Result<int> run(const std::vector<std::string>& command) {
  const pid_t own = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return system_failure("fork");
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // In another PID namespace the parent has no number.
    if (const pid_t parent = ::getppid(); parent != 0 && parent != own) ::_exit(1);
    execute(command);
  }
  child_of_command = child;
  struct sigaction action {};
  action.sa_handler = hand_on;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}) ::sigaction(signal, &action, nullptr);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : exit_signal + WTERMSIG(status);
}

}  // namespace

Result<int> run_in_node(const BedName& bed, const std::string& node,
                        const std::vector<std::string>& command) {
  auto entry = ask(bed, "enter " + node);
  if (!entry) return propagate(entry);
  std::error_code ignored;
  const auto folder = std::filesystem::current_path(ignored);
  if (auto entered = enter(entry->descriptors); !entered) return propagate(entered);
  entry->descriptors.clear();
  std::filesystem::current_path(folder, ignored);
  ::setenv(bed_variable, bed.id.c_str(), 1);
  ::setenv("LLAMADA_BED_NODE", node.c_str(), 1);
  return run(command);
}

Result<int> run_beside(const BedName& bed, const std::vector<std::string>& command) {
  ::setenv(bed_variable, bed.id.c_str(), 1);
  return run(command);
}

}  // namespace llamada::bed
