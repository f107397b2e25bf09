#include "spawn.hpp"

#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace llamada::launcher {
namespace {

/// What the child needs, as the kernel takes it, and what it tells of its failure: parent and child share
/// memory until the program is executed.
struct ChildPlan {
  const SpawnRequest* request;
  char* const* arguments;
  char* const* environment;
  volatile int failed_errno = 0;
  const char* volatile failed_step = nullptr;
  volatile int addresses_errno = 0;
};

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

[[noreturn]] void fail(ChildPlan& plan, const char* step) {
  plan.failed_errno = errno;
  plan.failed_step = step;
  _exit(127);
}

/// Puts the standard streams in place. The sources are not 0, 1 or 2, and close themselves on exec.
bool place_streams(const SpawnRequest& request) {
  return dup2(request.standard_input, 0) >= 0 && dup2(request.standard_output, 1) >= 0 &&
         dup2(request.standard_error, 2) >= 0;
}

/// Containers refuse it: then the program runs with randomised addresses.
void fix_addresses(ChildPlan& plan) {
  const int present = personality(0xffffffff);
  if (present < 0 || personality(static_cast<unsigned long>(present) | ADDR_NO_RANDOMIZE) < 0)
    plan.addresses_errno = errno;
}

/// Runs in the child, in the parent's memory: system calls only.
[[noreturn]] void become(ChildPlan& plan) {
  const SpawnRequest& request = *plan.request;
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != request.parent) _exit(127);
  if (request.fixed_addresses) fix_addresses(plan);
  if (request.cpus) sched_setaffinity(0, sizeof *request.cpus, &*request.cpus);
  if (!place_streams(request)) fail(plan, "to give the process its standard streams");
  if (!request.working_directory.empty() && chdir(request.working_directory.c_str()) != 0)
    fail(plan, "to enter its working directory");
  setrlimit(RLIMIT_NOFILE, &request.descriptor_limit);
  sigprocmask(SIG_SETMASK, &request.signal_mask, nullptr);
  execve(request.program.c_str(), plan.arguments, plan.environment);
  fail(plan, "to execute the program");
}

/// In a function of its own, whose frame the child leaves alone.
__attribute__((noinline)) pid_t fork_sharing_memory(ChildPlan& plan) {
  const pid_t pid = vfork();
  if (pid == 0) become(plan);
  return pid;
}

}  // namespace

Result<SpawnedProcess> spawn(const SpawnRequest& request) {
  const std::vector<char*> arguments = pointers_to(request.arguments);
  const std::vector<char*> environment = pointers_to(request.environment);
  ChildPlan plan{&request, arguments.data(), environment.data()};
  const pid_t pid = fork_sharing_memory(plan);
  if (pid < 0) return system_failure("fork");
  if (plan.failed_step == nullptr) return SpawnedProcess{pid, plan.addresses_errno};
  waitpid(pid, nullptr, 0);
  return system_failure(fmt::format("cannot start {}: {}", request.program, plan.failed_step),
                        plan.failed_errno);
}

}  // namespace llamada::launcher
