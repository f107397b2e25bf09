#include "node_pause.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "kernel_file.hpp"
#include "process_tree.hpp"

namespace llamada::launcher {
namespace {

/// The keeper, the guardian and the agent above llamanetd, and nothing that does not belong to the job.
std::vector<pid_t> watchers_above(pid_t llamanetd) {
  std::vector<pid_t> watchers;
  std::string name;
  for (const pid_t pid : ancestors_of(llamanetd)) {
    if (!read_kernel_file("/proc/" + std::to_string(pid) + "/comm", name)) break;
    if (!name.starts_with("mpirun-") && !name.starts_with("llamanetd")) break;
    watchers.push_back(pid);
  }
  return watchers;
}

void signal_below(pid_t llamanetd, int number) {
  for (const ProcessEntry& entry : descendants_of(llamanetd))
    if (entry.pid != getpid()) kill(entry.pid, number);
}

}  // namespace

void pause_node(std::chrono::nanoseconds length) {
  const pid_t llamanetd = getpid();
  const std::vector<pid_t> watchers = watchers_above(llamanetd);
  if (fork() != 0) return;
  prctl(PR_SET_NAME, "mpirun-pause");
  kill(llamanetd, SIGSTOP);
  for (const pid_t watcher : watchers) kill(watcher, SIGSTOP);
  // What a process starts while it is looked for is found by the second look.
  signal_below(llamanetd, SIGSTOP);
  signal_below(llamanetd, SIGSTOP);
  std::this_thread::sleep_for(length);
  signal_below(llamanetd, SIGCONT);
  for (auto watcher = watchers.rbegin(); watcher != watchers.rend(); ++watcher) kill(*watcher, SIGCONT);
  kill(llamanetd, SIGCONT);
  _exit(0);
}

}  // namespace llamada::launcher
