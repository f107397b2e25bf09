#include "llamada/launcher/node_agent.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

#include "child_watch.hpp"
#include "kernel_file.hpp"
#include "llamada/launcher/exit_codes.hpp"
#include "llamada/launcher/guardian.hpp"
#include "node_handshake.hpp"
#include "process_tree.hpp"
#include "process_watch.hpp"

namespace llamada::launcher {
namespace {

/// How long the guardian may take to end what is below it before we do.
constexpr std::chrono::milliseconds guardian_grace{3 * llamanetd_grace};

/// How long llamanetd may take to handle signals before that is looked at again.
constexpr std::chrono::milliseconds until_llamanetd_is_up{50};

int fail(const std::string& why) {
  say(fmt::format("mpirun: llamanetd on another node: {}.\n", why));
  return exit_launcher;
}

/// The bytes of the secret, which whoever has started us writes to standard input.
Status read_secret(NodeSecret& secret) {
  for (std::size_t done = 0; done < secret.size();) {
    const ssize_t count = read(STDIN_FILENO, secret.data() + done, secret.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0)
      return failure(Errc::closed, "standard input ended before the secret of the job had arrived");
    done += static_cast<std::size_t>(count);
  }
  return {};
}

/// A pipe with the secret in it.
Result<FileDescriptor> hand_on(const NodeSecret& secret) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return system_failure("pipe");
  FileDescriptor read_end(ends[0]);
  const FileDescriptor write_end(ends[1]);
  if (write(ends[1], secret.data(), secret.size()) != static_cast<ssize_t>(secret.size()))
    return system_failure("write");
  return read_end;
}

/// The coordinator says why a job ends. What is said here would be a second sentence.
Result<LastWord> no_last_word() {
  auto word = LastWord::make();
  if (!word) return propagate(word);
  char taken[8];
  (void)!read(word->descriptor(), taken, sizeof taken);
  return word;
}

std::optional<pid_t> child_of(pid_t parent, const std::vector<ProcessEntry>& processes) {
  for (const ProcessEntry& each : processes)
    if (each.parent == parent) return each.pid;
  return std::nullopt;
}

/// llamanetd below the guardian and the keeper, once it handles this signal; before, it would die of it.
std::optional<pid_t> llamanetd_with_handler(pid_t guardian, int signal) {
  const auto processes = descendants_of(guardian);
  const auto keeper = child_of(guardian, processes);
  const auto llamanetd = keeper ? child_of(*keeper, processes) : std::nullopt;
  std::string name;
  if (!llamanetd || !read_kernel_file("/proc/" + std::to_string(*llamanetd) + "/comm", name)) return {};
  return name == "llamanetd\n" && !is_ended_by(*llamanetd, signal) ? llamanetd : std::nullopt;
}

/// SIGTERM is for the node: its llamanetd asks the coordinator to move the ranks away.
void hand_on_termination(EventLoop& loop, pid_t guardian) {
  if (const auto llamanetd = llamanetd_with_handler(guardian, SIGTERM))
    kill(*llamanetd, SIGTERM);
  else
    loop.after(until_llamanetd_is_up, [&loop, guardian] { hand_on_termination(loop, guardian); });
}

/// Until standard input ends, or the guardian does.
void watch(pid_t guardian, FileDescriptor own_life) {
  EventLoop loop;
  bool is_over = false;
  loop.on_signal(SIGTERM, [&loop, guardian] { hand_on_termination(loop, guardian); });
  const ChildWatch child(loop, guardian, [&is_over](int) { is_over = true; });
  loop.watch(STDIN_FILENO, POLLIN, [&is_over](short) {
    char ignored[256];
    const ssize_t count = read(STDIN_FILENO, ignored, sizeof ignored);
    is_over = is_over || count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN);
  });
  while (!is_over && loop.run_once()) {
  }
  own_life.reset();
  wait_for_children(guardian_grace);
  kill_all_descendants();
}

}  // namespace

int run_node_agent(const std::string& llamanetd, const std::vector<std::string>& arguments) {
  sigset_t all, original;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &original);
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  NodeSecret secret;
  if (auto status = read_secret(secret); !status) return fail(status.error().text());
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
    return fail(system_failure("PR_SET_CHILD_SUBREAPER").value().text());
  auto handed_on = hand_on(secret);
  auto last_word = no_last_word();
  int life[2];
  if (!handed_on || !last_word || pipe2(life, O_CLOEXEC) != 0) return fail("it has no descriptors left");
  FileDescriptor own_life(life[1]);
  GuardianPlan plan{
      getpid(), FileDescriptor(life[0]), std::move(*handed_on), llamanetd, last_word->copy(), limit, original,
      arguments};
  auto guardian = fork_guardian(std::move(plan), {own_life.get()});
  if (!guardian) return fail(guardian.error().text());
  watch(*guardian, std::move(own_life));
  return 0;
}

}  // namespace llamada::launcher
