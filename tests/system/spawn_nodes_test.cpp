#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "job_process.hpp"
#include "llamada/base/random.hpp"
#include "test.hpp"

// Worlds that MPI_Comm_spawn has added to jobs on two nodes, which are llamanetds of this machine.

namespace {

using namespace llamada;
using namespace llamada::system_test;
using namespace std::chrono_literals;

/// Ranks 0 and 1 on "localhost", what they spawn on "b", as far as it has two places.
const std::vector<std::string> parents_here{"-n", "2", "--launcher", "fork", "--host", "localhost:2,b:2"};
/// A parent on each node, and what they spawn round both.
const std::vector<std::string> parents_apart{"-n", "2", "--launcher", "fork", "--host", "localhost:1,b:1"};

Job start(std::vector<std::string> options, const std::string& what) {
  options.insert(options.end(), {LLAMADA_SPAWN_PROGRAM, what});
  return Job(std::move(options));
}

void check_that_nothing_is_left(Job& job) {
  std::string left;
  for (const Found& process : job.wait_until_none_is_left(60s))
    left += std::to_string(process.pid) + " " + process.name + "\n";
  CHECK(left == "");
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("spawn on nodes: worlds come one after the other, and talk with their parents", "[system]") {
  for (const auto& places : {parents_here, parents_apart})
    for (const char* profile : {"default", "fault-tolerant"}) {
      CAPTURE(profile, places.back());
      test::TemporaryFolder folder;
      std::vector<std::string> options = places;
      options.insert(options.end(), {"--qos", profile, "--report", folder / "report"});
      Job job = start(options, "spawn 40 times");
      CHECK(job.wait() == 0);
      CAPTURE(job.errors());
      CHECK(job.output() == "all have answered\n");
      const auto json = nlohmann::json::parse(std::ifstream(folder / "report"));
      CHECK(json["spawned_world_count"] == 40);
    }
}

TEST_CASE("spawn on nodes: ranks go to the nodes that have places, and their lines say so", "[system]") {
  auto options = parents_here;
  options.emplace_back("--tag-output");
  Job job = start(options, "child fails");
  CHECK(job.wait() == 3);
  CHECK(contains(job.errors(), "rank 0 of spawned world 1"));
  CHECK(contains(job.output(), "[1:0@b] child of world\n"));
}

TEST_CASE("spawn on nodes: what spawned ranks write goes into files that name their hosts", "[system]") {
  test::TemporaryFolder folder;
  auto options = parents_here;
  options.insert(options.end(), {"-outfile-pattern", folder / "%r.%h"});
  Job job = start(options, "child fails");
  CHECK(job.wait() == 3);
  std::string line;
  std::getline(std::ifstream(folder / "2.b"), line);
  CHECK(line == "child of world");
}

TEST_CASE("spawn on nodes: a spawned rank that dies ends the job, and so does a parent", "[system]") {
  for (const auto& places : {parents_here, parents_apart}) {
    Job child = start(places, "child dies");
    CHECK(child.wait() == 128 + SIGKILL);
    CHECK(contains(child.errors(), "rank 1 of 2 of spawned world 1 died"));
    check_that_nothing_is_left(child);
    Job parent = start(places, "parent dies");
    CHECK(parent.wait() == 128 + SIGKILL);
    CHECK(contains(parent.errors(), " of 2 died"));
    check_that_nothing_is_left(parent);
  }
}

TEST_CASE("spawn on nodes: a job ends with its last world", "[system]") {
  Job job = start(parents_here, "child outlives");
  CHECK(job.wait() == 0);
  CHECK(contains(job.output(), "child has outlived\n"));
}

TEST_CASE("spawn on nodes: a program that is not there, or leaves without MPI, ends the job with a sentence",
          "[system]") {
  Job missing = start(parents_here, "no program");
  CHECK(missing.wait() == 1);
  CHECK(contains(missing.errors(), "there is no program '/no/such/program': No such file or directory"));
  Job other = start(parents_here, "not mpi");
  CHECK(other.wait() == 1);
  CHECK(contains(other.errors(), "without MPI_Init"));
  check_that_nothing_is_left(other);
}

TEST_CASE("spawn on nodes: a host that is none of the job's is named, and nothing starts", "[system]") {
  Job job = start(parents_here, "on no-such-host");
  CHECK(job.wait() == 1);
  CHECK(contains(job.errors(), "cannot be started on the host 'no-such-host': the job runs on "));
  check_that_nothing_is_left(job);
}

TEST_CASE("spawn on nodes: the system's universe has the slots of all hosts", "[system]") {
  const auto universe = [](std::vector<std::string> options) {
    Job job = start(std::move(options), "universe");
    CHECK(job.wait() == 0);
    return job.output();
  };
  const std::vector<std::string> hosts{"-n", "1", "--launcher", "fork", "--host", "localhost:3,b:4"};
  CHECK(universe(hosts) == "universe of 0\n");
  std::vector<std::string> system = hosts;
  system.insert(system.end(), {"-usize", "SYSTEM"});
  CHECK(universe(system) == "universe of 7\n");
  system.back() = "9";
  CHECK(universe(system) == "universe of 9\n");
}

TEST_CASE("spawn on nodes: whichever process is killed in the middle, nothing is left", "[system]") {
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // orphans come to this process, which reaps them
  const std::uint64_t seed = seed_of_this_run();
  CAPTURE(seed);
  Random random(seed);
  for (int round = 0; round < 24; ++round) {
    Job job = start(round % 2 == 0 ? parents_here : parents_apart, "spawn for ever");
    REQUIRE(wait_for([&] { return contains(job.output(), "again"); }));
    std::this_thread::sleep_for(std::chrono::microseconds(random.below(40'000)));
    const std::vector<Found> processes = job.processes();
    REQUIRE_FALSE(processes.empty());
    const Found victim = processes[random.below(processes.size())];
    CAPTURE(round, victim.name);
    if (kill(victim.pid, SIGKILL) != 0) continue;  // it has ended by itself: Job's destructor ends the others
    CHECK(job.wait() != 0);
    CAPTURE(job.errors());
    check_that_nothing_is_left(job);
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
  }
}
