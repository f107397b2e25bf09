#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>

#include "job.hpp"
#include "temporary_folder.hpp"
#include "test.hpp"

// The failure runner itself: which runs it calls hung, and what it says when it is interrupted.

namespace {

using namespace llamada::failures;
namespace fs = std::filesystem;

const fs::path build = LLAMADA_BUILD;

JobOutcome run(const std::string& program, std::vector<std::string> arguments, HangLimits limits,
               std::vector<TimedKill> kills = {}) {
  const llamada::test::TemporaryFolder folder;
  JobOrder order;
  order.folder = folder.path();
  order.command = {build / "bin/mpirun",
                   "-n",
                   "2",
                   "--qos",
                   "fault-tolerant",
                   "--report",
                   folder / "report.json",
                   build / "tests/failure" / program};
  order.command.insert(order.command.end(), arguments.begin(), arguments.end());
  order.kills = std::move(kills);
  order.run_seconds = 1;
  order.ranks = 2;
  order.hang_limits = limits;
  return run_job(order);
}

std::string text_of(const fs::path& file) {
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

constexpr const char* endless = "100000000";

}  // namespace

TEST_CASE("hang judge: as long as something is counted, nothing hangs", "[system]") {
  HangJudge judge({10, 100, 1000});
  for (int second = 0; second < 1000; second += 9) {
    judge.see(second, {static_cast<std::uint64_t>(second), 0});
    CHECK(judge.verdict(second).empty());
  }
  CHECK_FALSE(judge.verdict(1001).empty());
}

TEST_CASE("hang judge: calls alone are movement, but not for ever", "[system]") {
  HangJudge judge({10, 100, 1000});
  for (std::uint64_t second = 1; second <= 100; ++second) {
    judge.see(static_cast<double>(second), {7, second});
    CHECK(judge.verdict(static_cast<double>(second)).empty());
  }
  judge.see(102, {7, 102});
  CHECK_FALSE(judge.verdict(102).empty());
}

TEST_CASE("hang judge: what stands still hangs, also when nothing was ever seen", "[system]") {
  HangJudge judge({10, 100, 1000});
  CHECK(judge.verdict(10).empty());
  CHECK_FALSE(judge.verdict(10.1).empty());
  judge.see(11, {1, 1});
  judge.see(20, {1, 1});
  CHECK(judge.verdict(21).empty());
  CHECK_FALSE(judge.verdict(21.1).empty());
}

TEST_CASE("failure runner: ranks that wait for each other are found", "[system]") {
  const JobOutcome outcome = run("deadlock", {"-s", "20", "-p", "1000"}, {3, 300, 3600});
  CAPTURE(outcome.dump, outcome.errors);
  CHECK(outcome.hung);
  CHECK(outcome.movements > 0);
  CHECK(outcome.dump.find("nothing has moved") != std::string::npos);
  CHECK(outcome.dump.find("in MPI_Wait (call ") != std::string::npos);
  CHECK(outcome.left_behind.empty());
}

TEST_CASE("failure runner: ranks that test for ever are found", "[system]") {
  const JobOutcome outcome = run("deadlock", {"-s", "20", "-p", "1000", "-k", "test"}, {300, 3, 3600});
  CAPTURE(outcome.dump, outcome.errors);
  CHECK(outcome.hung);
  CHECK(outcome.movements > 1);
  CHECK(outcome.dump.find("nothing has come of them") != std::string::npos);
}

TEST_CASE("failure runner: a rank that is stopped is found", "[system]") {
  const JobOutcome outcome = run("ring", {"-s", endless, "-p", "1000"}, {5, 300, 3600},
                                 {{TimedKill::Victim::rank, 1, 3.0, SIGSTOP}});
  CAPTURE(outcome.dump, outcome.errors);
  CHECK(outcome.kills_done == 1);
  CHECK(outcome.hung);
  CHECK(outcome.movements > 0);
  CHECK(outcome.wall_seconds > 5);
  CHECK(outcome.dump.find("State:\tT") != std::string::npos);
  CHECK(outcome.left_behind.empty());
}

TEST_CASE("failure runner: interrupted, it prints the tables of what was run", "[system]") {
  const llamada::test::TemporaryFolder folder;
  const std::string program = build / "tests/run_failures", log = folder / "log", output = folder / "output";
  const pid_t runner = fork();
  REQUIRE(runner >= 0);
  if (runner == 0) {
    const int file = open(log.c_str(), O_WRONLY | O_CREAT, 0600);
    dup2(file, 1);
    execl(program.c_str(), program.c_str(), "--runs", "100000", "--row", "16", "--output", output.c_str(),
          nullptr);
    _exit(127);
  }
  int status = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  while (text_of(log).find("run 0 row 16") == std::string::npos && waitpid(runner, &status, WNOHANG) == 0 &&
         std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  kill(runner, SIGINT);
  REQUIRE(waitpid(runner, &status, 0) == runner);
  const std::string text = text_of(log);
  CAPTURE(text);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 128 + SIGINT);
  CHECK(text.find("interrupted") != std::string::npos);
  CHECK(text.find("| 16 | deterministic fault | ") != std::string::npos);
  CHECK(text.find(" passed, ") != std::string::npos);
}
