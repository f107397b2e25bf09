#include <signal.h>
#include <sys/wait.h>

#include <fstream>
#include <memory>
#include <thread>
#include <vector>

#include "job_process.hpp"
#include "test.hpp"

// Each process of a job is stopped (SIGSTOP), then the job has a reason to end: it ends all the same, with
// the exit code of that reason, and nothing is left.

namespace {

using namespace llamada;
using namespace llamada::system_test;

enum class Process { mpirun, guardian, keeper, llamanetd, all_three, rank_0 };
enum class Reason { end, sigterm, sigint, timeout, abort, death };

constexpr Process processes[] = {Process::mpirun,    Process::guardian,  Process::keeper,
                                 Process::llamanetd, Process::all_three, Process::rank_0};
constexpr Reason reasons[] = {Reason::end,     Reason::sigterm, Reason::sigint,
                              Reason::timeout, Reason::abort,   Reason::death};

constexpr const char* timeout_s = "3";

std::string name_of(Process process) {
  constexpr const char* names[] = {
      "mpirun", "mpirun-guardian", "mpirun-keeper", "llamanetd", "guardian, keeper, llamanetd", "rank 0"};
  return names[static_cast<int>(process)];
}

std::string name_of(Reason reason) {
  constexpr const char* names[] = {"normal end", "SIGTERM", "SIGINT", "--timeout", "MPI_Abort", "a death"};
  return names[static_cast<int>(reason)];
}

int code_of(Reason reason) {
  constexpr int codes[] = {0, 128 + SIGTERM, 128 + SIGINT, 124, 3, 0};
  return codes[static_cast<int>(reason)];
}

/// mpirun and ranks may be stopped on purpose, so they stay so: a stopped mpirun ends nothing, and ranks that
/// wait for a stopped one do not end.
bool waits_for_stopped(Process process, Reason reason) {
  return process == Process::mpirun ||
         (process == Process::rank_0 && (reason == Reason::end || reason == Reason::death));
}

std::string names_of(const std::vector<Found>& found) {
  std::string names;
  for (const Found& process : found) names += process.name + " ";
  return names;
}

/// One field of the table.
class Case {
 public:
  Case(Process process, Reason reason)
      : process_(process), reason_(reason), job_(words(reason, folder_ / "end")) {}

  /// Whether both ranks have said who they are. On a very slow machine the time limit may come before.
  bool is_up() { return (pid_of_rank(0) > 0 && pid_of_rank(1) > 0) || job_.ended(); }

  void stop() {
    stopped_ = find(process_);
    std::erase_if(stopped_, [](pid_t pid) { return pid <= 0; });
    for (const pid_t pid : stopped_) kill(pid, SIGSTOP);
  }

  void give_reason() {
    if (reason_ == Reason::sigterm) kill(job_.pid(), SIGTERM);
    if (reason_ == Reason::sigint) kill(job_.pid(), SIGINT);
    if (reason_ == Reason::death) kill(pid_of_rank(1), SIGKILL);
    if (reason_ == Reason::end || reason_ == Reason::abort || reason_ == Reason::death)
      std::ofstream(folder_ / "end");
  }

  void go_on() {
    if (waits_for_stopped(process_, reason_))
      for (const pid_t pid : stopped_) kill(pid, SIGCONT);
  }

  void check() {
    CAPTURE(name_of(process_), name_of(reason_));
    CHECK(job_.wait() == code_of(reason_));
    CAPTURE(job_.errors());
    CHECK(names_of(job_.wait_until_none_is_left(std::chrono::seconds(30))) == "");
    if (reason_ == Reason::death) CHECK(job_.errors().find("replaced as incarnation 2") != std::string::npos);
  }

 private:
  static std::vector<std::string> words(Reason reason, const std::string& file) {
    std::vector<std::string> words{"-n", "2"};
    if (reason == Reason::death) words.insert(words.end(), {"--qos", "fault-tolerant"});
    if (reason == Reason::timeout) words.insert(words.end(), {"--timeout", timeout_s});
    words.insert(words.end(), {LLAMADA_STOPPED, file, reason == Reason::abort ? "abort" : "end"});
    return words;
  }

  pid_t pid_of_rank(int rank) const { return pid_said_by_rank(job_.output(), rank); }

  std::vector<pid_t> find(Process process) const {
    switch (process) {
      case Process::mpirun:
        return {job_.pid()};
      case Process::rank_0:
        return {pid_of_rank(0)};
      case Process::all_three:
        return {job_.find("mpirun-guardian"), job_.find("mpirun-keeper"), job_.find("llamanetd")};
      default:
        return {job_.find(name_of(process))};
    }
  }

  Process process_;
  Reason reason_;
  test::TemporaryFolder folder_;
  Job job_;
  std::vector<pid_t> stopped_;
};

/// So that what was done to processes has had its effect. A longer pause would find the same.
void pause_briefly() { std::this_thread::sleep_for(std::chrono::milliseconds(300)); }

}  // namespace

TEST_CASE("launcher: whatever process of a job is stopped, the job ends, with the exit code of its reason",
          "[system]") {
  adopt_orphans();
  for (const Process process : processes) {
    std::vector<std::unique_ptr<Case>> cases;
    for (const Reason reason : reasons) cases.push_back(std::make_unique<Case>(process, reason));
    for (const auto& one : cases) REQUIRE(wait_for([&] { return one->is_up(); }));
    for (const auto& one : cases) one->stop();
    pause_briefly();
    for (const auto& one : cases) one->give_reason();
    pause_briefly();
    for (const auto& one : cases) one->go_on();
    for (const auto& one : cases) one->check();
  }
}

TEST_CASE(
    "launcher: whoever of guardian, keeper and llamanetd is stopped when mpirun is killed, nothing is left",
    "[system]") {
  adopt_orphans();
  std::vector<std::unique_ptr<Job>> jobs;
  const char* const watchers[] = {"mpirun-guardian", "mpirun-keeper", "llamanetd"};
  for (unsigned bits = 1; bits < 8; ++bits)
    jobs.push_back(std::make_unique<Job>(
        std::vector<std::string>{"-n", "2", "sh", "-c", "trap '' TERM INT HUP; sleep 1000 & echo up; wait"}));
  for (const auto& job : jobs) REQUIRE(wait_for([&] { return job->output() == "up\nup\n"; }));
  for (unsigned bits = 1; bits < 8; ++bits) {
    CAPTURE(bits);
    Job& job = *jobs[bits - 1];
    for (unsigned i = 0; i < 3; ++i)
      if ((bits >> i & 1) != 0) {
        const pid_t pid = job.find(watchers[i]);
        REQUIRE(pid > 0);
        kill(pid, SIGSTOP);
      }
    kill(job.pid(), SIGKILL);
    CHECK(job.wait() == 128 + SIGKILL);
    CHECK(names_of(job.wait_until_none_is_left(std::chrono::seconds(30))) == "");
  }
  while (waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}
