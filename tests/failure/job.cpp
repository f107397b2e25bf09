#include "job.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <thread>

namespace llamada::failures {
namespace {

using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

constexpr const char* mark_name = "LLAMADA_TEST_MARK";
/// For the processes of a job after the end of mpirun, on a machine however busy.
constexpr double grace_seconds = 60;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Empty also for what cannot be read: a process's files are gone with it.
std::string contents(const fs::path& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::string text;
  char part[4096];
  ssize_t count;
  while (file >= 0 && (count = read(file, part, sizeof part)) > 0)
    text.append(part, static_cast<std::size_t>(count));
  if (file >= 0) close(file);
  return text;
}

/// A process of a job, found by the mark in its environment.
struct Found {
  pid_t pid = 0;
  std::string name;  ///< the program's file name
  int rank = -1;     ///< -1: not a rank
};

std::optional<std::string> variable(const std::string& environment, std::string_view name) {
  for (std::size_t at = 0; at < environment.size();) {
    const std::size_t end = std::min(environment.find('\0', at), environment.size());
    const std::string_view entry(environment.data() + at, end - at);
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=')
      return std::string(entry.substr(name.size() + 1));
    at = end + 1;
  }
  return std::nullopt;
}

std::vector<Found> processes_of(const std::string& mark) {
  std::vector<Found> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const std::string number = entry.path().filename();
    if (number.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string environment = contents(entry.path() / "environ");
    if (variable(environment, mark_name) != mark) continue;
    const auto rank = variable(environment, "LLAMADA_RANK");
    const std::string command = contents(entry.path() / "cmdline");
    found.push_back({static_cast<pid_t>(std::stol(number)), fs::path(command.c_str()).filename().string(),
                     rank ? std::atoi(rank->c_str()) : -1});
  }
  return found;
}

std::string describe(const Found& process) {
  const fs::path folder = fs::path("/proc") / std::to_string(process.pid);
  std::string text = fmt::format("pid {} {} rank {}\n", process.pid, process.name, process.rank);
  const std::string status = contents(folder / "status");
  const std::size_t state = status.find("State:");
  if (state != std::string::npos)
    text += "  " + status.substr(state, status.find('\n', state) - state) + "\n";
  for (const char* name : {"wchan", "syscall", "stack"})
    text += fmt::format("  {}: {}\n", name, contents(folder / name));
  return text;
}

std::string describe_all(const std::string& mark) {
  std::string text;
  for (const Found& process : processes_of(mark)) text += describe(process);
  return text;
}

/// Kills the victim if it is there.
bool kill_victim(const TimedKill& kill, pid_t mpirun, const std::string& mark, std::vector<pid_t>& killed) {
  if (kill.victim == TimedKill::Victim::mpirun) return ::kill(mpirun, SIGKILL) == 0;
  if (kill.victim == TimedKill::Victim::stopped) {
    for (const pid_t pid : killed) ::kill(pid, kill.signal);
    return !killed.empty();
  }
  bool done = false;
  for (const Found& process : processes_of(mark)) {
    const bool is_it = kill.victim == TimedKill::Victim::rank
                           ? process.rank == kill.rank && process.name != "mpirun"
                           : process.name == "llamanetd";
    if (!is_it || ::kill(process.pid, kill.signal) != 0) continue;
    killed.push_back(process.pid);
    done = true;
  }
  return done;
}

void kill_all(const std::string& mark) {
  for (const Found& process : processes_of(mark)) ::kill(process.pid, SIGKILL);
}

/// Orphans come to us; those that ended are collected here, so that they do not count as left behind.
void reap_orphans(const std::vector<Found>& left) {
  for (const Found& process : left) waitpid(process.pid, nullptr, WNOHANG);
}

/// What of the job still lives after the grace; it is killed.
std::string end_the_rest(const std::string& mark) {
  const Clock::time_point start = Clock::now();
  std::vector<Found> left = processes_of(mark);
  while (!left.empty() && seconds_since(start) < grace_seconds) {
    reap_orphans(left);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    left = processes_of(mark);
  }
  std::string names;
  for (const Found& process : left) {
    names += describe(process);
    ::kill(process.pid, SIGKILL);
  }
  return names;
}

pid_t spawn(const JobOrder& order, const std::string& mark) {
  std::vector<char*> arguments;
  for (const std::string& word : order.command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  std::string own = std::string(mark_name) + "=" + mark;
  // Of a job that ends before its time, files of the program are left there.
  std::string temporary = "TMPDIR=" + order.folder.string();
  std::vector<char*> environment = {own.data(), temporary.data()};
  for (char** entry = environ; *entry; ++entry)
    if (!std::string_view(*entry).starts_with("TMPDIR=")) environment.push_back(*entry);
  environment.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  const std::string out = order.folder / "stdout", err = order.folder / "stderr";
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawn_file_actions_addopen(&files, 2, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  pid_t pid = -1;
  if (posix_spawn(&pid, arguments[0], &files, nullptr, arguments.data(), environment.data()) != 0) pid = -1;
  posix_spawn_file_actions_destroy(&files);
  return pid;
}

int shell_code(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

std::string new_mark() {
  static std::atomic<int> count = 0;
  return fmt::format("{}-{}-{}", getpid(), count++, Clock::now().time_since_epoch().count());
}

/// Waits for mpirun while the clock's kills fall due.
void follow(const JobOrder& order, pid_t pid, const std::string& mark, JobOutcome& outcome) {
  const Clock::time_point start = Clock::now();
  std::vector<TimedKill> due = order.kills;
  const auto time_of = [&order](const TimedKill& kill) {
    return kill.fraction * order.run_seconds + kill.later_seconds;
  };
  std::stable_sort(due.begin(), due.end(),
                   [&](const auto& a, const auto& b) { return time_of(a) < time_of(b); });
  std::size_t next = 0;
  ProgressWatch watch(pid, order.ranks, order.hang_limits);
  std::optional<Clock::time_point> last_kill;
  int status = 0;
  while (waitpid(pid, &status, WNOHANG) == 0) {
    const double now = seconds_since(start);
    if (next < due.size() && now >= time_of(due[next])) {
      if (kill_victim(due[next], pid, mark, outcome.killed)) {
        outcome.kills_done++;
        last_kill = Clock::now();
      }
      next++;
      continue;
    }
    if (const std::string why = outcome.hung ? "" : watch.hung(); !why.empty()) {
      outcome.hung = true;
      outcome.dump = fmt::format("{}\n{}{}", why, watch.description(), describe_all(mark));
    }
    outcome.interrupted = order.interrupted != nullptr && *order.interrupted;
    if (outcome.hung || outcome.interrupted) kill_all(mark);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  outcome.exit_code = shell_code(status);
  outcome.movements = watch.movements();
  outcome.wall_seconds = seconds_since(start);
  if (last_kill) outcome.end_after_kill_seconds = seconds_since(*last_kill);
}

}  // namespace

JobOutcome run_job(const JobOrder& order) {
  JobOutcome outcome;
  const std::string mark = new_mark();
  fs::create_directories(order.folder);
  const pid_t pid = spawn(order, mark);
  if (pid < 0) {
    outcome.errors = "cannot start " + order.command[0];
    return outcome;
  }
  follow(order, pid, mark, outcome);
  outcome.left_behind = end_the_rest(mark);
  outcome.output = contents(order.folder / "stdout");
  outcome.errors = contents(order.folder / "stderr");
  outcome.report = contents(order.folder / "report.json");
  return outcome;
}

}  // namespace llamada::failures
