#include "llamada/launcher/guardian.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "child_watch.hpp"
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

/// A stopped process has to see that the one above it, which would continue it, is dead.
void continue_when_parent_dies() { prctl(PR_SET_PDEATHSIG, SIGCONT); }

[[noreturn]] void execute_llamanetd(const GuardianPlan& plan) {
  setpgid(0, 0);
  continue_when_parent_dies();
  fcntl(plan.control.get(), F_SETFD, 0);
  fcntl(plan.last_word.descriptor(), F_SETFD, 0);
  for (const FileDescriptor& each : plan.inherited) fcntl(each.get(), F_SETFD, 0);
  setrlimit(RLIMIT_NOFILE, &plan.descriptor_limit);
  sigprocmask(SIG_SETMASK, &plan.signal_mask, nullptr);
  std::vector<std::string> words = plan.arguments;
  words.insert(words.begin(), "llamanetd");
  words.insert(words.end(), {"--control-fd", std::to_string(plan.control.get()), "--last-word-fd",
                             std::to_string(plan.last_word.descriptor())});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(plan.llamanetd.c_str(), arguments.data());
  plan.last_word.say(fmt::format("mpirun: cannot start {}: {}\n", plan.llamanetd, strerror(errno)));
  _exit(exit_launcher);
}

void become_watcher(const char* name) {
  setpgid(0, 0);
  continue_when_parent_dies();
  prctl(PR_SET_NAME, name);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  leave_standard_streams();
}

/// How a watcher's only child ended, if it did before the watcher killed all.
struct ChildsEnd {
  bool by_itself = false;
  int wait_status = 0;
  bool well() const { return by_itself && wait_status == 0; }
};

/// Waits until mpirun or the child is dead, then kills whatever lives below this process. When mpirun is dead
/// the child sees it too, and is left to do the work for so long: if we are killed in the midst of it nobody
/// escapes.
ChildsEnd watch_over(const GuardianPlan& plan, pid_t child, std::chrono::milliseconds grace) {
  ChildsEnd end;
  bool mpirun_dead = false;
  EventLoop loop;
  ChildWatch watch(loop, child, [&end](int status) { end = {true, status}; });
  loop.watch(plan.mpirun_life.get(), POLLIN, [&mpirun_dead](short) { mpirun_dead = true; });
  Status waited;
  while (!end.by_itself && !mpirun_dead && waited) waited = loop.run_once();
  if (mpirun_dead) wait_for_children(grace);
  watch.look();
  kill_all_descendants();
  if (mpirun_dead) plan.last_word.say(mpirun_was_killed(plan.mpirun_pid));
  if (!waited)
    plan.last_word.say(fmt::format("mpirun: {}; the job has been ended.\n", waited.error().text()));
  return end;
}

/// For a keeper without guardian and llamanetd. The guardian's end is the cause and mpirun's to tell; when
/// mpirun was killed with them, the kernel may still be about to close what it had open, and nobody else is
/// left to say it. A living mpirun ends the keeper.
void say_if_mpirun_dies(const GuardianPlan& plan) {
  pollfd life{plan.mpirun_life.get(), POLLIN, 0};
  if (poll(&life, 1, static_cast<int>(2 * llamanetd_grace.count())) > 0)
    plan.last_word.say(mpirun_was_killed(plan.mpirun_pid));
}

/// Below the guardian, above llamanetd.
[[noreturn]] void keep(GuardianPlan plan, pid_t guardian) {
  become_watcher("mpirun-keeper");
  const pid_t llamanetd = fork();
  if (llamanetd == 0) execute_llamanetd(plan);
  plan.control.reset();
  plan.inherited.clear();
  if (llamanetd < 0) _exit(exit_launcher);
  const ChildsEnd end = watch_over(plan, llamanetd, llamanetd_grace);
  if (end.by_itself && !end.well()) {
    if (getppid() == guardian)
      plan.last_word.say(fmt::format("mpirun: llamanetd (pid {}) {}; the job has been ended.\n", llamanetd,
                                     describe_end(end.wait_status)));
    else
      say_if_mpirun_dies(plan);
  }
  _exit(end.well() ? 0 : exit_launcher);
}

[[noreturn]] void guard(GuardianPlan plan) {
  become_watcher("mpirun-guardian");
  const pid_t guardian = getpid();
  const pid_t keeper = fork();
  if (keeper == 0) keep(std::move(plan), guardian);
  plan.control.reset();
  plan.inherited.clear();
  if (keeper < 0) _exit(exit_launcher);
  const ChildsEnd end = watch_over(plan, keeper, 2 * llamanetd_grace);
  if (end.by_itself && WIFSIGNALED(end.wait_status))
    plan.last_word.say(fmt::format("mpirun: its keeper (pid {}) {}; the job has been ended.\n", keeper,
                                   describe_end(end.wait_status)));
  _exit(end.well() ? 0 : exit_launcher);
}

}  // namespace

Result<pid_t> fork_guardian(GuardianPlan plan, std::initializer_list<int> closed_in_guardian) {
  const pid_t pid = fork();
  if (pid < 0) return system_failure("fork");
  if (pid == 0) {
    for (const int descriptor : closed_in_guardian) close(descriptor);
    guard(std::move(plan));
  }
  return pid;
}

}  // namespace llamada::launcher
