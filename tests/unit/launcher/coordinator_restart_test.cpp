#include <string>

#include "coordinator_course.hpp"
#include "llamada/launcher/exit_codes.hpp"

// All ranks start again, when a node is lost or drained.

using namespace llamada;
using namespace llamada::launcher;
using namespace llamada::launcher::two_nodes;

TEST_CASE("coordinator: output and effects wait for a cut", "[launcher]") {
  Course course;
  course.begin();
  course.coordinator.take(node::FromNode(control::Output{2, 1, "a"}));
  CHECK(course.shown().empty());
  REQUIRE(course.told<node::MakeCut>().size() == 1);
  CHECK(course.told<node::MakeCut>()[0].next_cut == 2);
  course.coordinator.take(node::Reached{1, ReplayPlace::effect, false, 77, 0, {}});
  course.coordinator.take(node::Cut{{{2, RankJournal::outcomes, 0, {an_outcome}}}, {}});
  course.wait_until([&] { return course.told<node::MakeCut>().size() == 2; });
  CHECK(course.shown() == "a");
  CHECK(course.told<node::AnswerReach>().empty());
  course.coordinator.take(node::Cut{});
  REQUIRE(course.told<node::AnswerReach>().size() == 1);
  CHECK(course.told<node::AnswerReach>()[0].question == 77);
}

TEST_CASE("coordinator: all ranks start again when a node is lost, with what was recorded", "[launcher]") {
  Course first;
  first.begin();
  first.coordinator.take(node::FromNode(control::Output{2, 1, "shown;"}));
  first.coordinator.take(node::Cut{{{2, RankJournal::outcomes, 0, {an_outcome}}}, {}});
  first.wait_until([&] { return first.shown() == "shown;"; });
  first.coordinator.take(node::FromNode(control::Output{0, 1, "not shown;"}));
  first.coordinator.take(node::NodeLost{1, "'b'", "its agent was killed"});
  CHECK(first.notices() ==
        "mpirun: the node 'b' is lost: its agent was killed; all ranks are stopped, to start again without "
        "it.\n");
  CHECK(first.told<node::KillAll>().size() == 1);
  first.coordinator.take(node::FromNode(control::Output{0, 1, "of a rank that is killed;"}));
  first.all_end();
  REQUIRE(first.coordinator.finished());
  CHECK(first.shown() == "shown;");
  auto restart = first.coordinator.take_restart();
  REQUIRE(restart);
  CHECK(restart->job.nodes[1].name == "c");

  Course second;
  second.coordinator.take(std::move(*restart));
  REQUIRE(second.told<node::Prepare>().size() == 1);
  CHECK(second.told<node::Prepare>()[0].makes_cuts);
  second.run();
  const auto restored = second.told<node::RestoreJournal>();
  REQUIRE(restored.size() == 1);
  CHECK(restored[0].piece == JournalPiece{2, RankJournal::outcomes, 0, {an_outcome}});
  const auto start = second.told<node::StartRanks>();
  REQUIRE(start.size() == 1);
  CHECK(start[0].ranks[2].token == first.told<node::StartRanks>()[0].ranks[2].token);
  CHECK(contains(start[0].ranks[2].identity, "resumed=1\n"));
  CHECK(contains(start[0].ranks[2].identity, "first_pid=102\n"));
  CHECK(contains(start[0].ranks[2].identity, "host=b\n"));
  // What was shown is compared, and not shown again.
  second.coordinator.take(node::FromNode(control::Output{2, 1, "shown;more;"}));
  second.coordinator.take(node::Cut{});
  second.wait_until([&] { return second.shown() == "more;"; });
  for (std::uint32_t slot = 0; slot < 4; ++slot) second.coordinator.take(node::Live{slot, {}});
  CHECK(contains(second.notices(), "mpirun: all ranks have caught up, "));
}

TEST_CASE("coordinator: moves of a shared number belong to the cut in whose time they were answered",
          "[launcher]") {
  const auto add = [](Course& course, std::uint32_t slot, std::uint64_t operation) {
    node::SharedWanted wanted{slot, {}};
    wanted.question = {SharedQuestion::Kind::add, false, {}, {}, 5, operation, 10, 8};
    course.coordinator.take(wanted);
    REQUIRE(std::holds_alternative<node::AnswerShared>(course.to_nodes.back()));
    return std::get<node::AnswerShared>(course.to_nodes.back()).answer.before;
  };
  Course first;
  first.begin();
  CHECK(add(first, 0, 1) == 0);
  CHECK(add(first, 2, 1) == 10);
  first.coordinator.take(node::FromNode(control::Output{2, 1, "shown;"}));
  REQUIRE(first.told<node::MakeCut>().size() == 1);
  // The nodes hear of the cut before this answer.
  CHECK(add(first, 3, 1) == 20);
  first.coordinator.take(node::Cut{{{2, RankJournal::ledger, 0, {an_outcome}}}, {}});
  first.wait_until([&] { return first.shown() == "shown;"; });
  first.coordinator.take(node::NodeLost{1, "'b'", "its agent was killed"});
  first.all_end();
  REQUIRE(first.coordinator.finished());
  auto restart = first.coordinator.take_restart();
  REQUIRE(restart);
  Course second;
  second.coordinator.take(std::move(*restart));
  second.run();
  CHECK(add(second, 1, 1) == 20);
  CHECK(add(second, 0, 1) == 0);
  CHECK(add(second, 3, 1) == 30);
}

TEST_CASE("coordinator: ports go with the process of their rank, numbers when no other will come",
          "[launcher]") {
  Course course;
  course.begin();
  const auto ask = [&](std::uint32_t slot, SharedQuestion question) {
    course.coordinator.take(node::SharedWanted{slot, std::move(question)});
    return std::get<node::AnswerShared>(course.to_nodes.back()).answer;
  };
  const auto port = [](SharedQuestion::Kind kind) {
    return SharedQuestion{kind, true, "port", "value", 0, 0, 0, 8};
  };
  const SharedQuestion read{SharedQuestion::Kind::read, false, {}, {}, 5, 0, 0, 8};
  CHECK(ask(1, port(SharedQuestion::Kind::publish)).done);
  CHECK(ask(1, {SharedQuestion::Kind::add, false, {}, {}, 5, 1, 10, 8}).done);
  CHECK(ask(2, port(SharedQuestion::Kind::look_up)).value == "value");
  node::Ended end;
  end.slot = 1;
  end.root_status = 9;
  end.view.state = RankState::in_program;
  course.coordinator.take(end);
  CHECK_FALSE(ask(2, port(SharedQuestion::Kind::look_up)).done);
  CHECK(ask(2, read).before == 10);
  for (const std::uint32_t slot : {1, 2}) course.coordinator.take(node::Done{slot, {}});
  CHECK(ask(0, read).before == 0);
}

TEST_CASE("coordinator: a signal takes the restart back", "[launcher]") {
  Course course;
  course.begin();
  course.coordinator.take(node::NodeLost{1, "'b'", "its agent was killed"});
  course.coordinator.take(control::Message(control::Signal{15}));
  course.all_end();
  REQUIRE(course.coordinator.finished());
  CHECK_FALSE(course.coordinator.take_restart());
  const auto* finished = std::get_if<control::Finished>(&course.to_mpirun.back());
  REQUIRE(finished);
  CHECK(finished->exit_code == exit_signal_base + 15);
}

TEST_CASE("coordinator: a job whose ranks are no longer protected ends with the node", "[launcher]") {
  Course course;
  course.begin();
  course.coordinator.take(node::Said{1, ArenaEventKind::unprotected, 0, "it has opened a socket"});
  course.coordinator.take(node::NodeLost{1, "'b'", "its agent was killed"});
  CHECK(
      contains(course.notices(),
               "mpirun: the node 'b' is lost: its agent was killed; the job is ended, since its ranks can no "
               "longer be replaced: rank 1: it has opened a socket.\n"));
  course.all_end();
  CHECK(course.coordinator.finished());
}

TEST_CASE("coordinator: a rule kills a node that is not mpirun's own", "[launcher]") {
  const auto with_rule = [](const std::string& rule) {
    control::Start job = job_on_two_nodes();
    job.inject_rules = {rule};
    return control::Message(std::move(job));
  };
  Course course;
  course.coordinator.take(with_rule("kill node b after 1 ms"));
  course.run();
  course.wait_until([&] { return !course.told<node::KillNode>().empty(); });
  CHECK(course.told<node::KillNode>()[0].node == 1);
  CHECK(contains(course.notices(), "kills all processes of the node 'b' now"));
  for (const auto& [rule, why] : {std::pair("kill node a", "that is mpirun's own node"),
                                  std::pair("kill node x", "the job has no node 'x'")}) {
    Course refused;
    refused.coordinator.take(with_rule(rule));
    CHECK(contains(refused.notices(), why));
  }
}

namespace {

/// The answer to a request of `llamada drain`.
InjectAnswer answer_to(Course& course, const std::string& request) {
  course.coordinator.take(node::InjectWanted{7, request});
  return course.told<node::AnswerInject>().back().answer;
}

}  // namespace

TEST_CASE("coordinator: the ranks leave a node that is drained, and it is not a lost one", "[launcher]") {
  Course course;
  course.begin();
  const InjectAnswer answer = answer_to(course, "drain b");
  CHECK(answer.accepted);
  CHECK(answer.text == "The node 'b' is drained: all ranks start again, those of 'b' on 'c'.");
  CHECK(contains(course.notices(), "mpirun: the node 'b' is drained (llamada drain); "));
  CHECK(course.told<node::KillAll>().size() == 1);
  // While the ranks are being stopped: the next node, the same one, and the end of the drained one.
  CHECK(contains(answer_to(course, "drain b").text, "are leaving it already"));
  CHECK(
      contains(answer_to(course, "drain x").text, "the job has no node 'x'; there are a, b and the spare c"));
  CHECK(answer_to(course, "drain a").accepted == false);  // no host is left but the spare
  CHECK(answer_to(course, "drain c").accepted);
  course.coordinator.take(node::NodeLost{1, "'b'", "its agent was killed"});
  course.all_end();
  auto restart = course.coordinator.take_restart();
  REQUIRE(restart);
  CHECK(restart->job.nodes[1].name == "a");
  CHECK(restart->job.spares.empty());
  CHECK(restart->report.lost_nodes.empty());
  REQUIRE(restart->report.drained_nodes.size() == 2);
  CHECK(restart->report.drained_nodes[0].ranks == std::vector<std::uint32_t>{2, 3});

  Course second;
  second.coordinator.take(std::move(*restart));
  second.run();
  for (std::uint32_t slot = 0; slot < 4; ++slot) second.coordinator.take(node::Live{slot, {}});
  CHECK(contains(second.notices(), " s after they were stopped.\n"));
  CHECK(
      contains(answer_to(second, "drain a").text, "no other node of the job has room for the ranks of 'a'"));
}

TEST_CASE("coordinator: a node that is sent SIGTERM is drained, unless mpirun is sent it too", "[launcher]") {
  Course course;
  course.begin();
  course.coordinator.take(node::NodeStopping{1});
  CHECK(course.told<node::KillAll>().empty());
  course.wait_until([&] { return !course.told<node::KillAll>().empty(); });
  CHECK(contains(course.notices(), "mpirun: the node 'b' is drained (SIGTERM); "));
  Course whole;
  whole.begin();
  whole.coordinator.take(node::NodeStopping{1});
  whole.coordinator.take(control::Message(control::Signal{15}));
  for (int i = 0; i < 300; ++i) {
    whole.loop.after(std::chrono::milliseconds(5), [] {});
    REQUIRE(whole.loop.run_once());
  }
  CHECK(whole.told<node::KillAll>().empty());
  // With a loss it is drained at once.
  Course both;
  both.begin();
  both.coordinator.take(node::NodeStopping{0});
  both.coordinator.take(node::NodeLost{1, "'b'", "its agent was killed"});
  CHECK(contains(both.notices(), "the node 'a' was sent SIGTERM, but its ranks stay there: no other node"));
}

TEST_CASE("coordinator: a rank moves only if it shares its node with no other", "[launcher]") {
  Course course;
  course.begin();
  CHECK(contains(answer_to(course, "migrate 2 c").text, "shares the node 'b' with other ranks"));
  CHECK(contains(answer_to(course, "migrate 2 b").text, "rank 2 runs on 'b' already"));
  CHECK(contains(answer_to(course, "migrate 4 c").text, "only the ranks 0 to 3"));
  CHECK(course.told<node::KillAll>().empty());
}

TEST_CASE("coordinator: no node is drained where its ranks cannot go on", "[launcher]") {
  const auto refusal = [](control::Start job) {
    Course course;
    course.coordinator.take(control::Message(std::move(job)));
    course.run();
    const InjectAnswer answer = answer_to(course, "drain b");
    CHECK_FALSE(answer.accepted);
    CHECK(course.told<node::KillAll>().empty());
    return answer.text;
  };
  control::Start job = job_on_two_nodes();
  job.profile = qos::serialize(fault_tolerant());
  CHECK(contains(refusal(job), "that needs DURABILITY TRANSIENT or PERSISTENT"));
  job = job_on_two_nodes();
  job.nodes.clear();
  job.node_of_rank.clear();
  CHECK(contains(refusal(job), "the job runs on one node"));
}
