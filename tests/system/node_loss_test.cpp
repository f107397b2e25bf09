#include <signal.h>

#include <fstream>
#include <thread>

#include "llamada/base/random.hpp"
#include "resumed_job.hpp"
#include "test.hpp"

// All processes of a node are killed, as when its plug is pulled: under DURABILITY TRANSIENT the job goes on
// without it, and its output is that of one undisturbed run (tests/mpi/resumed.c says what that is).

namespace {

using namespace llamada;
using namespace llamada::system_test;
using namespace std::chrono_literals;

/// Stopped first, so that none of them tells of the others.
std::size_t pull_the_plug(const Job& job, int node) {
  const std::set<pid_t> all = processes_of_node(job, node);
  for (const int number : {SIGSTOP, SIGKILL})
    for (const pid_t pid : all) kill(pid, number);
  return all.size();
}

}  // namespace

TEST_CASE("node loss: the job goes on with a spare host, with the survivors, and after two losses",
          "[system]") {
  adopt_orphans();
  const NodeAgentScript agent;
  constexpr int steps = 60;
  for (const std::string hosts : {"localhost:2,b:2,c:2", "localhost:3,b:3", "localhost:2,b:1,c:1,d:2"}) {
    const bool twice = hosts.ends_with("d:2");
    CAPTURE(hosts);
    Job job(job_of(agent, hosts, steps));
    REQUIRE(wait_for([&] { return lines_in(job.output()) > 20 || job.ended(); }));
    REQUIRE(pull_the_plug(job, 1) >= 3);
    REQUIRE(wait_for([&] { return says(job, "all ranks have caught up") || job.ended(); }));
    if (twice) pull_the_plug(job, 2);
    const int code = job.wait();
    CAPTURE(job.errors());
    CHECK(code == 0);
    CHECK(is_whole(job.output(), steps));
    CHECK(says(job, "mpirun: the node 'b' is lost: "));
    if (twice)
      CHECK((says(job, "mpirun: the node 'c' is lost: ") || says(job, "mpirun: the node 'd' is lost: ")));
    std::ifstream report(agent.file("report"));
    const std::string text((std::istreambuf_iterator<char>(report)), {});
    CHECK(text.find("\"lost_nodes\"") != std::string::npos);
    CHECK(names_left(job) == "");
    reap_orphans();
  }
}

TEST_CASE("node loss: at any moment", "[system]") {
  adopt_orphans();
  const std::uint64_t seed = seed_of_this_run();
  CAPTURE(seed);
  Random random(seed);
  const NodeAgentScript agent;
  constexpr int steps = 40;
  for (int round = 0; round < 6; ++round) {
    Job job(job_of(agent, random.chance(1, 2) ? "localhost:2,b:2,c:2" : "localhost:3,b:3", steps));
    REQUIRE(wait_for([&] { return processes_of_node(job, 1).size() >= 5 || job.ended(); }));
    const auto delay = std::chrono::milliseconds(random.below(400));
    CAPTURE(round, delay.count());
    std::this_thread::sleep_for(delay);
    pull_the_plug(job, 1);
    const int code = job.wait();
    CAPTURE(job.errors());
    // Before any rank runs, a node that does not come is the user's concern.
    const bool came = !(code == 125 && job.output().empty());
    if (came) CHECK(code == 0);
    if (came) CHECK(is_whole(job.output(), steps));
    CHECK(names_left(job) == "");
    reap_orphans();
  }
}

TEST_CASE("node loss: a signal while the ranks start again ends the job", "[system]") {
  adopt_orphans();
  // The agent for the spare takes its time.
  const NodeAgentScript agent("[ \"$1\" = c ] && sleep 5");
  Job job(job_of(agent, "localhost:2,b:2,c:2", 1000));
  REQUIRE(wait_for([&] { return lines_in(job.output()) > 5 || job.ended(); }));
  REQUIRE(pull_the_plug(job, 1) >= 3);
  REQUIRE(wait_for([&] { return says(job, "to start again without it") || job.ended(); }));
  std::this_thread::sleep_for(100ms);
  kill(job.pid(), SIGTERM);
  const int code = job.wait();
  CAPTURE(job.errors());
  CHECK(code == 128 + SIGTERM);
  CHECK(names_left(job) == "");
  reap_orphans();
}

TEST_CASE("node loss: a profile that does not survive it ends the job with one sentence", "[system]") {
  adopt_orphans();
  const NodeAgentScript agent;
  Job job(job_of(agent, "localhost:2,b:2", 1000, {"--qos", "fault-tolerant"}));
  REQUIRE(wait_for([&] { return lines_in(job.output()) > 5 || job.ended(); }));
  REQUIRE(pull_the_plug(job, 1) >= 3);
  CHECK(job.wait() == 125);
  CHECK(says(job, "mpirun: the node 'b' is lost: "));
  CHECK(says(job, "; the job is ended.\n"));
  CHECK(lines_of_mpirun(job.errors()).size() == 1);
  CHECK(names_left(job) == "");
  reap_orphans();
}
