#include "llamada/launcher/guardian.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "llamada/launcher/exit_codes.hpp"
#include "process_tree.hpp"
#include "process_watch.hpp"

namespace llamada::launcher {
namespace {

/// Standard input and output of a process that only watches: nobody must wait for it to close them.
void leave_standard_streams() {
  FileDescriptor nowhere(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!nowhere) return;
  dup2(nowhere.get(), 0);
  dup2(nowhere.get(), 1);
}

[[noreturn]] void execute_llamanetd(const GuardianPlan& plan) {
  setpgid(0, 0);
  fcntl(plan.control.get(), F_SETFD, 0);
  sigprocmask(SIG_SETMASK, &plan.signal_mask, nullptr);
  const std::string descriptor = std::to_string(plan.control.get());
  execl(plan.llamanetd.c_str(), "llamanetd", "--job", "--control-fd", descriptor.c_str(), nullptr);
  say(fmt::format("mpirun: cannot start {}: {}\n", plan.llamanetd, strerror(errno)));
  _exit(exit_launcher);
}

/// Returns once mpirun or llamanetd is dead.
void wait_for_a_death(int mpirun_pidfd, int llamanetd_pidfd) {
  pollfd watched[] = {{mpirun_pidfd, POLLIN, 0}, {llamanetd_pidfd, POLLIN, 0}};
  while (poll(watched, 2, -1) < 0 && errno == EINTR) {
  }
}

/// What to say of the end of llamanetd; nothing if it is as it should be or has been told.
std::string verdict_on_llamanetd(pid_t pid, int wait_status) {
  if (WIFEXITED(wait_status) && (WEXITSTATUS(wait_status) == 0 || WEXITSTATUS(wait_status) == exit_launcher))
    return {};
  return fmt::format("mpirun: llamanetd (pid {}) {}; the job has been ended.\n", pid,
                     describe_end(wait_status));
}

[[noreturn]] void guard(GuardianPlan plan) {
  setpgid(0, 0);
  prctl(PR_SET_NAME, "mpirun-guardian");
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  leave_standard_streams();
  const pid_t llamanetd = fork();
  if (llamanetd == 0) execute_llamanetd(plan);
  plan.control.reset();
  if (llamanetd < 0) _exit(exit_launcher);
  const FileDescriptor llamanetd_pidfd = open_pidfd(llamanetd);
  wait_for_a_death(plan.mpirun_pidfd.get(), llamanetd_pidfd.get());

  // llamanetd sees it too. It is left to do the work, so that if we are killed in the midst of it nobody
  // escapes.
  if (is_dead(plan.mpirun_pidfd.get())) wait_for_children(llamanetd_grace);
  int wait_status = 0;
  const bool llamanetd_ended = waitpid(llamanetd, &wait_status, WNOHANG) == llamanetd;
  kill_all_descendants();
  const bool orphaned =
      llamanetd_ended && WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == exit_llamanetd_orphaned;
  if (orphaned || is_dead(plan.mpirun_pidfd.get())) {
    say(fmt::format("mpirun: the process mpirun (pid {}) was killed; its job has been ended.\n",
                    plan.mpirun_pid));
    _exit(exit_launcher);
  }
  const std::string verdict = verdict_on_llamanetd(llamanetd, wait_status);
  say(verdict);
  _exit(WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0 ? 0 : exit_launcher);
}

}  // namespace

Result<pid_t> fork_guardian(GuardianPlan plan, int closed_in_guardian) {
  const pid_t pid = fork();
  if (pid < 0) return system_failure("fork");
  if (pid == 0) {
    close(closed_in_guardian);
    guard(std::move(plan));
  }
  return pid;
}

}  // namespace llamada::launcher
