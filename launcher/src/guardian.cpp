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
  fcntl(plan.last_word.descriptor(), F_SETFD, 0);
  sigprocmask(SIG_SETMASK, &plan.signal_mask, nullptr);
  const std::string control = std::to_string(plan.control.get());
  const std::string last_word = std::to_string(plan.last_word.descriptor());
  execl(plan.llamanetd.c_str(), "llamanetd", "--job", "--control-fd", control.c_str(), "--last-word-fd",
        last_word.c_str(), nullptr);
  plan.last_word.say(fmt::format("mpirun: cannot start {}: {}\n", plan.llamanetd, strerror(errno)));
  _exit(exit_launcher);
}

/// Returns once mpirun or llamanetd is dead.
void wait_for_a_death(int mpirun_pidfd, int llamanetd_pidfd) {
  pollfd watched[] = {{mpirun_pidfd, POLLIN, 0}, {llamanetd_pidfd, POLLIN, 0}};
  while (poll(watched, 2, -1) < 0 && errno == EINTR) {
  }
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
  if (is_dead(plan.mpirun_pidfd.get()))
    plan.last_word.say(mpirun_was_killed(plan.mpirun_pid));
  else if (wait_status != 0)
    plan.last_word.say(fmt::format("mpirun: llamanetd (pid {}) {}; the job has been ended.\n", llamanetd,
                                   describe_end(wait_status)));
  _exit(llamanetd_ended && wait_status == 0 ? 0 : exit_launcher);
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
