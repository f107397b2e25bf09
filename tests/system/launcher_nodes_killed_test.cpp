#include <signal.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "job_process.hpp"
#include "llamada/base/random.hpp"
#include "node_agent_script.hpp"
#include "test.hpp"

// Any process of a job on several nodes is killed, at any moment: the job ends everywhere, and nothing is
// left.

namespace {

using namespace llamada;
using namespace llamada::system_test;
using namespace std::chrono_literals;

/// The processes of a job on the nodes "localhost" (0) and "b" (1), by their parts.
enum class Part {
  mpirun,
  guardian,
  keeper,
  driver,
  agent,
  node_process,
  node_guardian,
  node_keeper,
  node_driver,
  rank
};
constexpr Part parts[] = {Part::mpirun,      Part::guardian,     Part::keeper,        Part::driver,
                          Part::agent,       Part::node_process, Part::node_guardian, Part::node_keeper,
                          Part::node_driver, Part::rank};
constexpr const char* names[] = {
    "mpirun",           "guardian",      "keeper",      "llamanetd",      "agent",
    "llamanetd --node", "guardian of b", "keeper of b", "llamanetd of b", "rank 1"};

/// The first process of this name whose command line has, or has not, each of these words.
pid_t find(const Job& job, const std::string& name, const std::vector<std::string>& words,
           const std::vector<std::string>& others = {}) {
  for (const Found& process : job.processes()) {
    if (process.name != name) continue;
    const std::string line = command_line(process.pid);
    const auto has = [&line](const std::string& word) { return line.find(word) != std::string::npos; };
    if (std::all_of(words.begin(), words.end(), has) && std::none_of(others.begin(), others.end(), has))
      return process.pid;
  }
  return 0;
}

pid_t find(const Job& job, Part part) {
  switch (part) {
    case Part::mpirun:
      return job.pid();
    case Part::guardian:
      return find(job, "mpirun-guardian", {}, {"--node"});
    case Part::keeper:
      return find(job, "mpirun-keeper", {}, {"--node"});
    case Part::driver:
      return find(job, "llamanetd", {"--job "});
    case Part::agent:
      return find(job, "setsid", {"--node 1"});
    case Part::node_process:
      return find(job, "llamanetd", {"--node 1"}, {"--drive-node"});
    case Part::node_guardian:
      return find(job, "mpirun-guardian", {"--node 1"});
    case Part::node_keeper:
      return find(job, "mpirun-keeper", {"--node 1"});
    case Part::node_driver:
      return find(job, "llamanetd", {"--node 1", "--drive-node"});
    case Part::rank:
      return find(job, "sh", {"rank-of-the-test"});
  }
  return 0;
}

std::vector<std::string> stubborn_job(const NodeAgentScript& agent) {
  return {
      "-n",
      "3",
      "-H",
      "localhost:2,b",
      "--launcher-exec",
      agent.path(),
      "sh",
      "-c",
      "trap '' TERM INT HUP; sleep 1000 & setsid sleep 1000 & (sleep 1000 & exec sleep 1000) & echo up; wait",
      "rank-of-the-test"};
}

bool is_up(const Job& job) { return job.output() == "up\nup\nup\n"; }

}  // namespace

TEST_CASE("nodes: whatever process of a running job is killed, the job ends everywhere", "[system]") {
  adopt_orphans();
  const NodeAgentScript agent;
  for (const Part part : parts) {
    CAPTURE(names[static_cast<int>(part)]);
    Job job(stubborn_job(agent));
    REQUIRE(wait_for([&] { return is_up(job); }));
    const pid_t victim = find(job, part);
    REQUIRE(victim > 0);
    REQUIRE(kill(victim, SIGKILL) == 0);
    const int code = job.wait();
    CAPTURE(job.errors());
    const bool is_death = part == Part::mpirun || part == Part::rank;
    CHECK(code == (is_death ? 128 + SIGKILL : 125));
    CHECK(names_left(job) == "");
    CHECK(lines_of_mpirun(job.errors()).size() == 1);
    const bool is_of_node = part >= Part::agent && part != Part::rank;
    if (is_of_node) CHECK(job.errors().find("the node 'b' is lost: ") != std::string::npos);
    reap_orphans();
  }
}

TEST_CASE("nodes: a kill at any moment leaves nothing on any node", "[system]") {
  adopt_orphans();
  const std::uint64_t seed = seed_of_this_run();
  CAPTURE(seed);
  Random random(seed);
  const NodeAgentScript agent;
  constexpr int rounds = 40, rounds_max = 300;
  int rounds_with_a_kill = 0;
  for (int round = 0; round < rounds_max && rounds_with_a_kill < rounds; ++round) {
    const Part part = parts[random.below(std::size(parts))];
    const auto delay = std::chrono::microseconds(random.below(random.chance(1, 2) ? 40'000 : 250'000));
    CAPTURE(round, names[static_cast<int>(part)], delay.count());
    Job job(stubborn_job(agent));
    std::this_thread::sleep_for(delay);
    const pid_t victim = find(job, part);
    if (victim <= 0 || kill(victim, SIGKILL) != 0) continue;  // not there yet: Job's destructor ends it
    ++rounds_with_a_kill;
    const int code = job.wait();
    CAPTURE(job.errors());
    CHECK(code != 0);
    CHECK(names_left(job) == "");
    if (part != Part::mpirun) CHECK(lines_of_mpirun(job.errors()).size() == 1);
    reap_orphans();
  }
  CHECK(rounds_with_a_kill == rounds);
}
