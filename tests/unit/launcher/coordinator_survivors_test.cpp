#include "coordinated_job.hpp"

#include <nlohmann/json.hpp>

#include "llamada/launcher/exit_codes.hpp"

// Ranks and nodes are lost, and the others go on (rank_replacement BLANK).

using namespace llamada;
using namespace llamada::launcher;

TEST_CASE("coordinator: under BLANK the others go on without dead ranks, also to the job's exit code",
          "[launcher]") {
  for (const bool any_lives : {true, false}) {
    Job job(job_of(2, qos::RankReplacementKind::blank));
    job.says(node::Ready{"here"});
    job.runs();
    job.ends(1, killed);
    CHECK(Job::last<node::SetLost>(job.to_node)->lost == 1);
    CHECK(job.notices().find("the others go on without it (rank_replacement BLANK, profile 'a profile')") !=
          std::string::npos);
    job.ends(0, any_lives ? exited(0) : SIGSEGV, any_lives ? RankState::finalized : RankState::in_program);
    for (const std::uint32_t slot : {0, 1}) job.is_done(slot);
    CHECK(job.count_to_node<node::EndJob>() == 0);
    CHECK(job.finish()->exit_code == (any_lives ? 0 : exit_signal_base + SIGSEGV));
  }
}

TEST_CASE("coordinator: under BLANK the others go on without a lost node's ranks, which are lost together",
          "[launcher]") {
  auto start = job_of(4, qos::RankReplacementKind::blank);
  start.nodes = {{"a", {}}, {"b", {"ssh"}}};
  start.node_of_rank = {0, 0, 1, 1};
  Job job(start);
  for (const char* host : {"a", "b"}) job.says(node::Ready{host});
  job.runs();
  AgreementVote vote{.group = 1, .sequence = 1, .flags = 1, .members = {0, 1, 2, 3}};
  for (const std::uint32_t slot : {0, 1, 3}) job.says(node::AgreementWanted{slot, {vote, slot}});
  job.says(node::NodeLost{1, "'b'", "it is silent"});
  CHECK(job.count_to_node<node::EndJob>() == 0);
  REQUIRE(job.count_to_node<node::SetLost>() == 2);
  CHECK(Job::last<node::SetLost>(job.to_node)->with_node);
  CHECK(job.notices() ==
        "mpirun: the node 'b' is lost: it is silent; ranks 2 and 3 are lost with it, and the others go on "
        "without them (rank_replacement BLANK, profile 'a profile').\n");
  REQUIRE(std::holds_alternative<node::AskAgain>(job.to_node.back()));
  job.says(node::AgreementWanted{0, {vote, 10}});
  CHECK(Job::last<node::AnswerAgreement>(job.to_node)->decision.lost == std::vector<std::uint32_t>{2, 3});
  for (const std::uint32_t slot : {2, 3}) job.is_done(slot);
  for (const std::uint32_t slot : {0, 1}) {
    job.ends(slot, exited(0), RankState::finalized);
    job.is_done(slot);
  }
  const auto finished = job.finish();
  REQUIRE(finished);
  CHECK(finished->exit_code == 0);
  const auto report = nlohmann::json::parse(finished->report);
  REQUIRE(report["deaths"].size() == 2);
  CHECK(report["deaths"][1]["rank"] == 3);
  CHECK(report["deaths"][1]["lost_with_node"] == "'b'");
  CHECK(report["lost_nodes"][0]["node"] == 1);
}

TEST_CASE("coordinator: under BLANK a lost node whose ranks have ended takes nothing away", "[launcher]") {
  auto start = job_of(2, qos::RankReplacementKind::blank);
  start.nodes = {{"a", {}}, {"b", {"ssh"}}};
  start.node_of_rank = {0, 1};
  Job job(start);
  for (const char* host : {"a", "b"}) job.says(node::Ready{host});
  job.runs();
  const bool ended_well = GENERATE(true, false);
  job.ends(1, ended_well ? exited(0) : killed, ended_well ? RankState::finalized : RankState::in_program);
  job.is_done(1);
  job.says(node::NodeLost{1, "'b'", "it is silent"});
  // What its llamanetd has is no longer waited for.
  CHECK(Job::last<node::SetLost>(job.to_node)->with_node);
  CHECK(job.notices().find("the node 'b' is lost: it is silent; none of its ranks ran any more.\n") !=
        std::string::npos);
  job.ends(0, exited(0), RankState::finalized);
  job.is_done(0);
  const auto finished = job.finish();
  REQUIRE(finished);
  CHECK(finished->exit_code == 0);
  CHECK(nlohmann::json::parse(finished->report)["deaths"].size() == (ended_well ? 0 : 1));
}

TEST_CASE("coordinator: a death decides an agreement, and those who voted ask again", "[launcher]") {
  Job job(job_of(3, qos::RankReplacementKind::blank));
  job.says(node::Ready{"here"});
  job.runs();
  const auto votes = [&job](std::uint32_t slot, std::uint32_t flags) {
    AgreementVote vote{.group = 1, .sequence = 1, .flags = flags, .members = {0, 1, 2}};
    job.says(node::AgreementWanted{slot, {vote, 40 + slot}});
    return *Job::last<node::AnswerAgreement>(job.to_node);
  };
  CHECK_FALSE(votes(0, 0b110).is_decided);
  CHECK(votes(1, 0b011).question == 41);
  CHECK(job.count_to_node<node::AskAgain>() == 0);
  job.ends(2, killed);
  CHECK(job.count_to_node<node::AskAgain>() == 1);
  const auto answer = votes(0, 0b110);
  REQUIRE(answer.is_decided);
  CHECK(answer.decision.flags == 0b010);
  CHECK(answer.decision.lost == std::vector<std::uint32_t>{2});
  CHECK(votes(1, 0b011).decision == answer.decision);
}

TEST_CASE("coordinator: under BLANK nobody waits for a spawned rank whose node is lost before it runs",
          "[launcher]") {
  auto start = job_of(2, qos::RankReplacementKind::blank);
  start.nodes = {{"a", {}}, {"b", {"ssh"}}};
  start.node_of_rank = {0, 1};
  start.working_directory = "/";
  Job job(start);
  for (const char* host : {"a", "b"}) job.says(node::Ready{host});
  job.runs();
  SpawnCommand command;
  command.process_count = 2;
  command.program = "true";
  command.host = "a,b";
  job.says(node::SpawnWanted{0, {{command}, 33}});
  REQUIRE(Job::last<node::AddRanks>(job.to_node)->nodes == std::vector<std::uint32_t>{0, 1});
  job.says(node::RanksAdded{33, 2, {}, {}});
  job.says(node::Started{2, 501});
  job.says(node::NodeLost{1, "'b'", "it is silent"});
  const auto answer = Job::last<node::AnswerSpawn>(job.to_node);
  REQUIRE(answer);
  CHECK(answer->answer.first == 2);
  CHECK(answer->answer.error.empty());

  // The next ones find their place on the nodes that are left.
  command.host = {};
  job.says(node::SpawnWanted{0, {{command}, 34}});
  CHECK(Job::last<node::AddRanks>(job.to_node)->nodes == std::vector<std::uint32_t>{0, 0});
}
