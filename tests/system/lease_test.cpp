#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "job_process.hpp"
#include "test.hpp"

// LIVELINESS with a lease for ranks: ranks of whole jobs are stopped and continued, and what mpirun makes of
// it is looked at.

namespace {

using namespace llamada;
using namespace llamada::system_test;
using namespace std::chrono_literals;

constexpr auto lease = 1s;

/// A profile file: RELIABLE, KEEP_ALL, with a lease of a second.
std::string profile(const std::string& kind, bool replaces) {
  const std::string both =
      "<reliability><kind>RELIABLE</kind></reliability><history><kind>KEEP_ALL</kind></history>"
      "<durability><kind>" +
      std::string(replaces ? "TRANSIENT_LOCAL" : "VOLATILE") + "</kind></durability>";
  return "<dds><qos_library name='l'><qos_profile name='p'><datawriter_qos>" + both + "<liveliness><kind>" +
         kind +
         "</kind><lease_duration><sec>1</sec></lease_duration></liveliness></"
         "datawriter_qos><datareader_qos>" +
         both + "</datareader_qos><rank_replacement><kind>" + (replaces ? "REBUILD" : "ABORT") +
         "</kind></rank_replacement></qos_profile></qos_library></dds>";
}

/// Two ranks that exchange messages until they are told to end.
class Pair {
 public:
  explicit Pair(const std::string& kind = "AUTOMATIC", bool replaces = true, const std::string& way = "end")
      : job_(words(kind, replaces, way)) {
    REQUIRE(wait_for([this] { return pid_of_rank(0) > 0 && pid_of_rank(1) > 0; }));
  }

  pid_t pid_of_rank(int rank) const { return pid_said_by_rank(job_.output(), rank); }
  bool says(const std::string& words) const { return job_.errors().find(words) != std::string::npos; }
  void tell_to_end() const { std::ofstream(folder_ / "end"); }
  /// Ends the job: nobody has died.
  void ends_unharmed() {
    tell_to_end();
    CHECK(job_.wait() == 0);
    CAPTURE(job_.errors());
    CHECK(report()["deaths"].empty());
  }
  nlohmann::json report() const {
    return nlohmann::json::parse(std::ifstream(folder_ / "report"), nullptr, false);
  }
  Job& job() { return job_; }

 private:
  std::vector<std::string> words(const std::string& kind, bool replaces, const std::string& way) const {
    const std::string file = folder_ / "profile.xml";
    std::ofstream(file) << profile(kind, replaces);
    return {"-n", "2", "--qos", file, "--report", folder_ / "report", LLAMADA_STOPPED, folder_ / "end", way};
  }

  test::TemporaryFolder folder_;
  Job job_;
};

/// For as long as something must not happen.
void wait_without(const std::function<bool()>& happens, std::chrono::milliseconds length) {
  const auto end = std::chrono::steady_clock::now() + length;
  while (std::chrono::steady_clock::now() < end) {
    REQUIRE_FALSE(happens());
    sleep_for_a_moment();
  }
}

}  // namespace

TEST_CASE("lease: a stopped rank is replaced, and to continue it then does nothing", "[system]") {
  Pair pair;
  const pid_t stopped = pair.pid_of_rank(1);
  kill(stopped, SIGSTOP);
  REQUIRE(wait_for([&] { return pair.says("rank 1 is live again as incarnation 2"); }));
  kill(stopped, SIGCONT);
  pair.tell_to_end();
  CHECK(pair.job().wait() == 0);
  CAPTURE(pair.job().errors());
  CHECK(pair.says("by mpirun: the rank was stopped for 1."));
  CHECK(pair.says("longer than the LIVELINESS lease of 1 s"));
  const auto report = pair.report();
  CHECK(report["liveliness_lost"] == 1);
  CHECK(report["replacements"] == 1);
  CHECK(report["deaths"][0]["detected_after_s"] >= 1.0);
}

TEST_CASE("lease: without replacement a stopped rank ends the job", "[system]") {
  Pair pair("AUTOMATIC", false);
  kill(pair.pid_of_rank(0), SIGSTOP);
  CHECK(pair.job().wait() == 128 + SIGKILL);
  CHECK(pair.says("longer than the LIVELINESS lease of 1 s"));
}

TEST_CASE("lease: a rank that is stopped for less lives, however often", "[system]") {
  Pair pair;
  for (int round = 0; round < 8; ++round) {
    kill(pair.pid_of_rank(round % 2), SIGSTOP);
    std::this_thread::sleep_for(lease / 2);
    kill(pair.pid_of_rank(round % 2), SIGCONT);
    std::this_thread::sleep_for(10ms);
  }
  pair.ends_unharmed();
}

TEST_CASE("lease: of a job that is suspended and resumed as by Ctrl-Z and fg nobody dies", "[system]") {
  Pair pair;
  for (int round = 0; round < 2; ++round) {
    kill(pair.job().pid(), SIGTSTP);
    REQUIRE(wait_for([&] {
      for (const Found& process : pair.job().processes())
        if (process.pid == pair.pid_of_rank(1)) return process.state == 'T';
      return false;
    }));
    wait_without([&] { return pair.says("LIVELINESS"); }, 2500ms);
    kill(pair.job().pid(), SIGCONT);
  }
  pair.ends_unharmed();
}

TEST_CASE("lease: of a job all of whose processes are stopped, as by a batch system, nobody dies",
          "[system]") {
  const bool driver_too = GENERATE(true, false);
  Pair pair;
  std::vector<pid_t> stopped{pair.job().pid()};
  if (driver_too)
    for (const char* name : {"mpirun-guardian", "mpirun-keeper", "llamanetd"})
      stopped.push_back(pair.job().find(name));
  stopped.insert(stopped.end(), {pair.pid_of_rank(0), pair.pid_of_rank(1)});
  for (const pid_t pid : stopped) kill(pid, SIGSTOP);
  wait_without([&] { return pair.says("LIVELINESS"); }, 2500ms);
  for (const pid_t pid : stopped) kill(pid, SIGCONT);
  pair.ends_unharmed();
}

TEST_CASE("lease: a rank with a debugger is left alone, and that is said once", "[system]") {
  Pair pair;
  const pid_t traced = pair.pid_of_rank(1);
  if (ptrace(PTRACE_SEIZE, traced, nullptr, nullptr) != 0) {
    WARN("this system does not let a process attach to another one; the test is left out");
    return pair.ends_unharmed();
  }
  ptrace(PTRACE_INTERRUPT, traced, nullptr, nullptr);
  REQUIRE(wait_for(
      [&] { return pair.says("a debugger (pid " + std::to_string(getpid()) + ") is attached to rank 1"); }));
  wait_without([&] { return pair.says("died"); }, 2500ms);
  waitpid(traced, nullptr, __WALL);
  ptrace(PTRACE_DETACH, traced, nullptr, nullptr);
  pair.ends_unharmed();
}

TEST_CASE("lease: MANUAL_BY_PARTICIPANT finds a rank that sleeps outside MPI, AUTOMATIC does not",
          "[system]") {
  Pair manual("MANUAL_BY_PARTICIPANT", false, "hang"), automatic("AUTOMATIC", false, "hang");
  manual.tell_to_end();
  automatic.tell_to_end();
  CHECK(manual.job().wait() == 128 + SIGKILL);
  CHECK(manual.says("rank 1 of 2 died"));
  CHECK(manual.says("by mpirun: the rank was outside MPI for 1."));
  CHECK_FALSE(automatic.job().ended());
  kill(automatic.job().pid(), SIGTERM);
  CHECK(automatic.job().wait() == 128 + SIGTERM);
}
