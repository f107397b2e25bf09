#include "coordinated_job.hpp"

#include <nlohmann/json.hpp>

#include "llamada/launcher/exit_codes.hpp"
#include "llamada/launcher/options.hpp"
#include "rank_environment.hpp"

// The course of a job, decided without a process: what the node would say is told, and what it is told is
// looked at.

using namespace llamada;
using namespace llamada::launcher;

TEST_CASE("coordinator: a job whose ranks all end well ends with 0", "[launcher]") {
  Job job(job_of(2, qos::RankReplacementKind::abort));
  REQUIRE(Job::last<node::Prepare>(job.to_node));
  job.says(node::Ready{"here"});
  const auto start = job.runs();
  REQUIRE(start.ranks.size() == 2);
  CHECK(start.ranks[1].program == "/bin/program");
  CHECK(start.ranks[1].identity == "host=here\n");
  CHECK(variable_in(start.ranks[1].environment, "LLAMADA_RANK") == "1");
  job.says(control::Output{1, 1, "hello"});
  CHECK(job.output_of(1) == "hello");
  for (const std::uint32_t slot : {0, 1}) {
    job.ends(slot, exited(0), RankState::finalized);
    CHECK(Job::last<node::Drain>(job.to_node)->slot == slot);
    CHECK_FALSE(job.finish());
    job.is_done(slot);
  }
  const auto finished = job.finish();
  REQUIRE(finished);
  CHECK(finished->exit_code == 0);
  const auto report = nlohmann::json::parse(finished->report);
  CHECK(report["job"] == "0000000000000abc");
  CHECK(report["deaths"].empty());
  CHECK(job.notices().empty());
}

TEST_CASE("coordinator: without replacement a death ends the job, and what it sweeps away is no death",
          "[launcher]") {
  Job job(job_of(2, qos::RankReplacementKind::abort));
  job.says(node::Ready{"here"});
  job.runs();
  job.ends(0, killed);
  CHECK(job.count_to_node<node::EndJob>() == 1);
  job.ends(1, SIGTERM);
  job.is_done(0);
  job.is_done(1);
  const auto finished = job.finish();
  REQUIRE(finished);
  CHECK(finished->exit_code == exit_signal_base + SIGKILL);
  CHECK(nlohmann::json::parse(finished->report)["deaths"].size() == 1);
  CHECK(job.notices().find("rank 0 of 2 died") != std::string::npos);
}

TEST_CASE("coordinator: a dead rank is fenced, and then started again, the same but for what it repeats",
          "[launcher]") {
  Job job(job_of(2, qos::RankReplacementKind::rebuild));
  job.says(node::Ready{"home"});
  const auto first = job.runs().ranks[1];
  job.says(node::Attached{1, 4711});
  job.says(control::Output{1, 1, "one "});
  job.ends(1, killed);
  CHECK(Job::last<node::Fence>(job.to_node)->slot == 1);
  CHECK(job.count_to_node<node::StartRanks>() == 1);
  CHECK(job.count_to_node<node::Drain>() == 0);
  job.says(node::Fenced{1});
  const auto second = job.runs().ranks.at(0);
  CHECK(second.slot == 1);
  CHECK(second.incarnation == 2);
  CHECK(second.environment == first.environment);
  CHECK(second.arguments == first.arguments);
  CHECK(second.token == first.token);
  CHECK(second.identity == "host=home\ncalls=7\nfirst_pid=4711\n");
  job.says(control::Output{1, 1, "one "});
  job.says(node::Reached{1, ReplayPlace::over, true, 5, 0, {}});
  CHECK(Job::last<node::AnswerReach>(job.to_node)->question == 5);
  job.says(control::Output{1, 1, "two"});
  CHECK(job.output_of(1) == "one two");
  job.says(node::Live{1, {}});
  CHECK(job.notices().find("rank 1 is live again as incarnation 2") != std::string::npos);
  for (const std::uint32_t slot : {0, 1}) {
    job.ends(slot, exited(0), RankState::finalized);
    job.is_done(slot);
  }
  const auto finished = job.finish();
  REQUIRE(finished);
  CHECK(finished->exit_code == 0);
  CHECK(nlohmann::json::parse(finished->report)["replacements"] == 1);
}

TEST_CASE("coordinator: a replacement that writes something else ends the job as diverged", "[launcher]") {
  Job job(job_of(1, qos::RankReplacementKind::rebuild));
  job.says(node::Ready{"home"});
  job.runs();
  job.says(control::Output{0, 1, "one"});
  job.ends(0, killed);
  job.says(node::Fenced{0});
  job.runs();
  job.says(control::Output{0, 1, "two"});
  CHECK(job.count_to_node<node::EndJob>() == 1);
  CHECK(job.notices().find("standard output of rank 0 at byte 0") != std::string::npos);
  job.says(node::Reached{0, ReplayPlace::over, true, 5, 0, {}});
  CHECK(job.count_to_node<node::AnswerReach>() == 0);  // it waits until it is killed
  job.ends(0, SIGTERM);
  job.is_done(0);
  CHECK(job.finish()->exit_code == exit_diverged);
}

TEST_CASE("coordinator: a rank whose memory of history is lost is not replaced", "[launcher]") {
  Job job(job_of(2, qos::RankReplacementKind::rebuild));
  job.says(node::Ready{"home"});
  job.runs();
  job.says(node::Said{0, ArenaEventKind::unprotected, 0, "it forks"});
  CHECK(job.count_to_node<node::SetUnprotected>() == 1);
  CHECK(job.count_to_node<node::EndJob>() == 0);
  job.ends(0, killed);
  CHECK(job.count_to_node<node::EndJob>() == 1);
  CHECK(job.count_to_node<node::Fence>() == 0);
}

TEST_CASE("coordinator: a job that ends meanwhile replaces nobody", "[launcher]") {
  Job job(job_of(2, qos::RankReplacementKind::rebuild));
  job.says(node::Ready{"home"});
  job.runs();
  job.ends(1, killed);
  job.coordinator.take(control::Message(control::End{124, 0}));
  job.says(node::Fenced{1});
  CHECK(job.count_to_node<node::StartRanks>() == 1);
  CHECK(Job::last<node::Drain>(job.to_node)->slot == 1);
  job.is_done(1);
  job.ends(0, SIGTERM);
  job.is_done(0);
  CHECK(job.finish()->exit_code == 124);
}

TEST_CASE("coordinator: a rank whose lease is over is killed and replaced, and told so", "[launcher]") {
  auto start = job_of(2, qos::RankReplacementKind::rebuild);
  auto profile = qos::deserialize(start.profile);
  REQUIRE(profile);
  profile->datawriter_qos.liveliness.lease_duration = std::chrono::seconds(1);
  start.profile = qos::serialize(*profile);
  Job job(start);
  job.says(node::Ready{"home"});
  job.runs();
  const LeaseFinding over{LeaseFinding::Kind::over, Silence::stopped, 1'040'000'000, 0};
  job.says(node::LeaseFound{1, 2, over});  // of another incarnation
  CHECK(job.count_to_node<node::KillRank>() == 0);
  job.says(node::LeaseFound{1, 1, over});
  CHECK(Job::last<node::KillRank>(job.to_node)->slot == 1);
  job.ends(1, killed);
  CHECK(Job::last<node::Fence>(job.to_node)->slot == 1);
  CHECK(job.notices().find("SIGKILL (Killed) by mpirun: the rank was stopped for 1.0 s, longer than the "
                           "LIVELINESS lease of 1 s") != std::string::npos);
  job.says(node::Fenced{1});
  job.runs();
  job.ends(1, killed);  // by somebody else
  for (const std::uint32_t slot : {0, 1}) {
    job.says(node::Fenced{1});
    job.ends(slot, exited(0), RankState::finalized);
    job.is_done(slot);
  }
  const auto report = nlohmann::json::parse(job.finish()->report);
  CHECK(report["liveliness_lost"] == 1);
  CHECK(report["deaths"][0]["detected_after_s"] == 1.04);
  CHECK(report["deaths"][0]["liveliness_lost"].is_string());
  CHECK(report["deaths"][1]["liveliness_lost"].is_null());
}

TEST_CASE("coordinator: a suspended job holds its leases, and a debugger is told of", "[launcher]") {
  Job job(job_of(1, qos::RankReplacementKind::abort));
  job.says(node::Ready{"home"});
  job.runs();
  job.coordinator.take(control::Message(control::Signal{SIGTSTP}));
  CHECK(Job::last<node::HoldLeases>(job.to_node)->hold);
  job.coordinator.take(control::Message(control::Signal{SIGCONT}));
  CHECK_FALSE(Job::last<node::HoldLeases>(job.to_node)->hold);
  job.says(node::LeaseFound{0, 1, {LeaseFinding::Kind::debugger, {}, 0, 4711}});
  CHECK(job.notices().find("a debugger (pid 4711) is attached to rank 0") != std::string::npos);
  CHECK(job.count_to_node<node::KillRank>() == 0);
}

TEST_CASE("coordinator: the user's signals reach all ranks, a replacement's once it is live", "[launcher]") {
  Job job(job_of(2, qos::RankReplacementKind::rebuild));
  job.says(node::Ready{"home"});
  job.runs();
  job.ends(1, killed);
  job.coordinator.take(control::Message(control::Signal{SIGUSR1}));
  CHECK(job.count_to_node<node::SignalRank>() == 1);
  CHECK(Job::last<node::SignalRank>(job.to_node)->slot == 0);
  job.says(node::Fenced{1});
  job.runs();
  job.says(node::Live{1, {}});
  CHECK(job.count_to_node<node::SignalRank>() == 2);
  CHECK(Job::last<node::SignalRank>(job.to_node)->slot == 1);
  CHECK(Job::last<node::SignalRank>(job.to_node)->number == SIGUSR1);
}

TEST_CASE("coordinator: a spawned world is answered when all of it runs, or none", "[launcher]") {
  const bool can_start = GENERATE(true, false);
  Job job(job_of(1, qos::RankReplacementKind::abort));
  job.says(node::Ready{"home"});
  job.runs();
  SpawnCommand command;
  command.process_count = 2;
  command.program = "true";
  job.says(node::SpawnWanted{0, {{command}, 33}});
  CHECK(Job::last<node::AddRanks>(job.to_node)->count == 2);
  job.says(node::RanksAdded{33, 1, {}, {}});
  CHECK(Job::last<control::World>(job.to_mpirun)->first == 1);
  job.says(node::Started{1, 501});
  CHECK(job.count_to_node<node::AnswerSpawn>() == 0);
  if (can_start) {
    job.says(node::Started{2, 502});
  } else {
    job.says(node::CannotStart{2, ENOENT, "gone"});
    job.is_done(2);
    CHECK(Job::last<node::SignalRank>(job.to_node)->slot == 1);
    job.ends(1, killed);  // nobody's concern
    CHECK(Job::last<node::Drain>(job.to_node)->slot == 1);
  }
  const auto answer = Job::last<node::AnswerSpawn>(job.to_node);
  REQUIRE(answer);
  CHECK(answer->question == 33);
  CHECK(answer->answer.count == (can_start ? 2 : 0));
  CHECK(answer->answer.error == (can_start ? "" : "gone"));
  CHECK(job.count_to_node<node::EndJob>() == 0);
}

TEST_CASE("coordinator: a rank that cannot be started ends the job", "[launcher]") {
  Job job(job_of(2, qos::RankReplacementKind::abort));
  job.says(node::Ready{"home"});
  job.says(node::CannotStart{0, ENOENT, "/bin/program: No such file or directory"});
  job.is_done(0);
  job.is_done(1);
  CHECK(job.finish()->exit_code == exit_not_found);
  CHECK(job.notices() == "mpirun: /bin/program: No such file or directory.\n");
}

TEST_CASE("coordinator: a node that has no arenas ends the job", "[launcher]") {
  Job job(job_of(2, qos::RankReplacementKind::abort));
  job.says(node::NotReady{"no memory"});
  CHECK(job.finish()->exit_code == exit_launcher);
  CHECK(job.notices() == "mpirun: no memory\n");
}

TEST_CASE("coordinator: standard input is given as rank 0 takes it", "[launcher]") {
  Job job(job_of(1, qos::RankReplacementKind::abort));
  job.coordinator.take(control::Message(control::Input{"abc"}));
  CHECK(job.count_to_node<control::Input>() == 0);
  job.says(node::Ready{"home"});
  job.runs();
  CHECK(Job::last<control::Input>(job.to_node)->bytes == "abc");
  CHECK_FALSE(Job::last<control::InputTaken>(job.to_mpirun));
  job.says(control::InputTaken{3});
  CHECK(Job::last<control::InputTaken>(job.to_mpirun)->size_bytes == 3);
}

TEST_CASE("coordinator: a job on several nodes starts when all are ready, and names each rank's host",
          "[launcher]") {
  control::Start start = job_of(2, qos::RankReplacementKind::abort);
  start.nodes = {{"a", {}}, {"b", {"ssh"}}};
  start.node_of_rank = {0, 1};
  start.programs = {"/bin/program"};
  start.working_directory = "/there";
  start.binding = static_cast<std::uint8_t>(CpuLevel::core);
  start.report_bindings = 1;
  Job job(start);
  const auto prepare = Job::last<node::Prepare>(job.to_node);
  REQUIRE(prepare);
  CHECK(prepare->node_of_rank == start.node_of_rank);
  CHECK(prepare->programs == start.programs);
  CHECK(prepare->working_directory == "/there");
  CHECK(prepare->binding == start.binding);
  job.says(node::Ready{"host-a", {}, {"0", "1"}});
  CHECK(job.count_to_node<node::StartRanks>() == 0);
  job.says(node::Ready{"host-b", {}, {"4,5", "6,7"}});
  const auto ranks = job.runs().ranks;
  REQUIRE(ranks.size() == 2);
  CHECK(ranks[0].identity == "host=host-a\n");
  CHECK(ranks[1].identity == "host=host-b\n");
  CHECK(ranks[0].cpus == "0");
  CHECK(ranks[1].cpus == "4,5");  // the first rank of its node, by that node's CPUs
  CHECK(variable_in(ranks[1].environment, "LLAMADA_CPUS") == "4");
  CHECK(job.notices().find("rank 1 on the node 'host-b' is bound to CPUs 4,5.\n") != std::string::npos);
  job.ends(1, killed);
  CHECK(job.notices().find("host-b") != std::string::npos);
}

namespace {

/// Rank 0 on node a, rank 1 on node b, and a world of two on b and a, whose slots begin at 4: others could
/// not be added.
struct SpawningJob {
  SpawningJob() {
    job.says(node::Ready{"host-a"});
    job.says(node::Ready{"host-b"});
    job.runs();
    SpawnCommand first, second;
    first.process_count = second.process_count = 1;
    first.program = second.program = "true";
    first.host = "b";
    second.host = "a";
    job.says(node::SpawnWanted{1, {{first, second}, 33}});
  }
  static control::Start of_two_nodes() {
    control::Start start = job_of(2, qos::RankReplacementKind::abort);
    start.nodes = {{"a", {}}, {"b", {"ssh"}}};
    start.node_of_rank = {0, 1};
    start.working_directory = "/";
    return start;
  }
  Job job{of_two_nodes()};
};

}  // namespace

TEST_CASE("coordinator: a world is spawned on the nodes that the info keys name", "[launcher]") {
  SpawningJob spawning;
  Job& job = spawning.job;
  const auto add = Job::last<node::AddRanks>(job.to_node);
  REQUIRE(add);
  CHECK(add->nodes == std::vector<std::uint32_t>{1, 0});
  REQUIRE(add->needs.size() == 2);
  CHECK(add->needs[0].node == 1);
  CHECK(add->needs[0].program.ends_with("/true"));
  job.says(node::RanksAdded{33, 4, {}, {}});
  CHECK(Job::last<control::World>(job.to_mpirun)->hosts == std::vector<std::string>{"b", "a"});
  const auto ranks = Job::last<node::StartRanks>(job.to_node)->ranks;
  REQUIRE(ranks.size() == 2);
  CHECK(ranks[0].slot == 4);
  CHECK(ranks[0].identity == "host=host-b\nworld=1\nspawned_by=1\n");
  CHECK(ranks[1].identity == "host=host-a\nworld=1\nspawned_by=1\n");
  job.says(node::Started{5, 501});
  CHECK(job.count_to_node<node::AnswerSpawn>() == 0);
  job.says(node::Started{4, 502});
  CHECK(Job::last<node::AnswerSpawn>(job.to_node)->answer.first == 4);
  // Slots that could not be added do not hold up the end.
  for (const std::uint32_t slot : {0, 1, 4, 5}) {
    job.ends(slot, exited(0), RankState::finalized);
    job.is_done(slot);
  }
  CHECK(job.finish()->exit_code == 0);
}

TEST_CASE("coordinator: where two nodes cannot start their parts of a world, it is refused once",
          "[launcher]") {
  SpawningJob spawning;
  Job& job = spawning.job;
  job.says(node::RanksAdded{33, 2, {}, {}});
  job.says(node::CannotStart{2, ENOENT, "gone"});
  job.is_done(2);
  CHECK(Job::last<node::AnswerSpawn>(job.to_node)->answer.error == "gone");
  // The other node's part may have been started, which is told later.
  CHECK(Job::last<node::SignalRank>(job.to_node)->slot == 3);
  job.says(node::CannotStart{3, ENOENT, "gone, too"});
  CHECK(job.count_to_node<node::AnswerSpawn>() == 1);
  CHECK(job.count_to_node<node::EndJob>() == 0);
}
