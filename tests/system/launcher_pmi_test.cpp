#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include "job_process.hpp"
#include "llamada/base/random.hpp"
#include "test.hpp"

// Jobs that another launcher has started, by PMI-1: the launcher is tests/support/pmi_server, and its nodes
// are one host. LLAMADA_MPIRUN is that launcher here.

namespace {

using namespace llamada;
using namespace llamada::system_test;
using namespace std::chrono_literals;
using Words = std::vector<std::string>;

constexpr const char* one_node = "(vector,(0,1,8))";
constexpr const char* two_nodes = "(vector,(0,2,2))";
constexpr const char* in_turn = "(vector,(0,2,1))";

struct Ran {
  int code;
  std::string output, errors;
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Ran run(const Words& words) {
  adopt_orphans();
  Job job(words);
  const int code = job.wait();
  CHECK(names_left(job) == "");
  reap_orphans();
  return {code, job.output(), job.errors()};
}

std::string answer_of(const std::string& output) {
  std::istringstream stream(output);
  std::string answer;
  for (std::string line; std::getline(stream, line);)
    if (line.starts_with("heat: ")) answer += line + "\n";
  return answer;
}

Ran run_heat(int ranks, const char* mapping) {
  return run({std::to_string(ranks), mapping, LLAMADA_HEAT, "-n", "96", "-s", "400", "-o", ""});
}

/// Ranks that exchange messages until `file` is there; FILE and how they end are stopped.c's.
Words stopped(int ranks, const char* mapping, const std::string& file, const std::string& end) {
  return {std::to_string(ranks), mapping, LLAMADA_STOPPED, file, end};
}

bool is_up(const Job& job, int ranks) {
  for (int rank = 0; rank < ranks; ++rank)
    if (pid_said_by_rank(job.output(), rank) == 0) return false;
  return true;
}

/// What Llamada has started for four ranks on two nodes, and the ranks.
enum class Part { mpirun, guardian, keeper, driver, node_driver, first, second, third, fourth };
constexpr Part parts[] = {Part::mpirun, Part::guardian, Part::keeper, Part::driver, Part::node_driver,
                          Part::first,  Part::second,   Part::third,  Part::fourth};
constexpr const char* names[] = {"mpirun", "guardian", "keeper", "llamanetd", "llamanetd of node 1",
                                 "rank 0", "rank 1",   "rank 2", "rank 3"};

pid_t find(const Job& job, const std::string& name, const std::string& word) {
  for (const Found& process : job.processes())
    if (process.name == name && contains(command_line(process.pid), word)) return process.pid;
  return 0;
}

pid_t find(const Job& job, Part part) {
  switch (part) {
    case Part::mpirun:
      return find(job, "mpirun", "--adopt-ranks");
    case Part::guardian:
      return find(job, "mpirun-guardian", "");
    case Part::keeper:
      return find(job, "mpirun-keeper", "");
    case Part::driver:
      return find(job, "llamanetd", "--job ");
    case Part::node_driver:
      return find(job, "llamanetd", "--drive-node");
    default:
      return pid_said_by_rank(job.output(), static_cast<int>(part) - static_cast<int>(Part::first));
  }
}

}  // namespace

TEST_CASE("pmi: a program has the same answer, however its ranks are spread over nodes", "[system]") {
  const Ran alone = run_heat(4, one_node);
  CAPTURE(alone.errors);
  CHECK(alone.code == 0);
  CHECK(!answer_of(alone.output).empty());
  for (const char* mapping : {two_nodes, in_turn}) {
    const Ran ran = run_heat(4, mapping);
    CAPTURE(mapping, ran.errors);
    CHECK(ran.code == 0);
    CHECK(ran.errors.empty());
    CHECK(answer_of(ran.output) == answer_of(alone.output));
  }
}

TEST_CASE("pmi: a rank's abort, and a profile that needs mpirun, end the job by a sentence", "[system]") {
  const test::TemporaryFolder folder;
  const std::string file = folder / "end";
  std::ofstream(file) << "now";
  const Ran aborted = run(stopped(4, two_nodes, file, "abort"));
  CAPTURE(aborted.errors);
  CHECK(aborted.code != 0);
  CHECK(contains(aborted.errors, "rank 1: MPI_Abort was called with code 3"));
  setenv("LLAMADA_QOS", "fault-tolerant", 1);
  const Ran refused = run(stopped(4, two_nodes, file, "end"));
  unsetenv("LLAMADA_QOS");
  CAPTURE(refused.errors);
  CHECK(refused.code != 0);
  CHECK(contains(refused.errors, "the profile 'fault-tolerant' replaces ranks that die"));
}

TEST_CASE("pmi: whatever process of a running job is killed, the job ends everywhere", "[system]") {
  adopt_orphans();
  const test::TemporaryFolder folder;
  for (const Part part : parts) {
    CAPTURE(names[static_cast<int>(part)]);
    Job job(stopped(4, two_nodes, folder / "never", "end"));
    REQUIRE(wait_for([&] { return is_up(job, 4); }));
    const pid_t victim = find(job, part);
    REQUIRE(victim > 0);
    REQUIRE(kill(victim, SIGKILL) == 0);
    const int code = job.wait();
    CAPTURE(job.errors());
    CHECK(code != 0);
    CHECK(names_left(job) == "");
    CHECK(lines_of_mpirun(job.errors()).size() == 1);
    if (part >= Part::first)
      CHECK(contains(job.errors(), std::string(names[static_cast<int>(part)]) + " of 4 died"));
    reap_orphans();
  }
}

TEST_CASE("pmi: a job whose process manager is killed ends", "[system]") {
  adopt_orphans();
  const test::TemporaryFolder folder;
  for (const char* mapping : {one_node, two_nodes}) {
    Job job(stopped(4, mapping, folder / "never", "end"));
    REQUIRE(wait_for([&] { return is_up(job, 4); }));
    REQUIRE(kill(job.pid(), SIGKILL) == 0);
    job.wait();
    CHECK(names_left(job) == "");
    CHECK(contains(job.errors(), "has ended"));
    reap_orphans();
  }
}

TEST_CASE("pmi: a kill at any moment leaves nothing", "[system]") {
  adopt_orphans();
  const char* given = std::getenv("LLAMADA_TEST_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  CAPTURE(seed);
  Random random(seed);
  const test::TemporaryFolder folder;
  // As srun --kill-on-bad-exit: who dies before MPI_Init is missed by the process manager alone.
  setenv("PMI_SERVER_KILLS", "1", 1);
  constexpr int rounds = 40, rounds_max = 400;
  int rounds_with_a_kill = 0;
  for (int round = 0; round < rounds_max && rounds_with_a_kill < rounds; ++round) {
    const auto delay = std::chrono::microseconds(random.below(random.chance(1, 2) ? 60'000 : 300'000));
    Job job(stopped(4, two_nodes, folder / "never", "end"));
    std::this_thread::sleep_for(delay);
    const auto processes = job.processes();
    if (processes.empty()) continue;
    const Found victim = processes[random.below(processes.size())];
    CAPTURE(round, victim.name, delay.count());
    if (kill(victim.pid, SIGKILL) != 0) continue;
    ++rounds_with_a_kill;
    const int code = job.wait();
    CAPTURE(job.errors());
    CHECK(code != 0);
    CHECK(names_left(job) == "");
    reap_orphans();
  }
  unsetenv("PMI_SERVER_KILLS");
  CHECK(rounds_with_a_kill == rounds);
}
