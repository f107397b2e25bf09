#include <filesystem>
#include <fstream>
#include <string>

#include "checkpoint_directory.hpp"
#include "job_coordinator.hpp"
#include "llamada/launcher/exit_codes.hpp"
#include "llamada/qos/serialization.hpp"
#include "profiles.hpp"
#include "temporary_folder.hpp"
#include "test.hpp"

// A job that outlives its nodes, decided without a process: what nodes would say is told, and what they are
// told is looked at.

using namespace llamada;
using namespace llamada::launcher;

namespace {

/// Ranks 0 and 1 on mpirun's own node, 2 and 3 on b; c is a spare.
control::Start job_on_two_nodes() {
  qos::Profile profile = fault_tolerant();
  profile.datawriter_qos.durability.kind = profile.datareader_qos.durability.kind =
      qos::DurabilityKind::transient;
  control::Start job;
  job.rank_count = 4;
  job.job_number = 0xabc;
  job.program = "/bin/program";
  job.profile = qos::serialize(profile);
  job.profile_label = "node-fault-tolerant";
  job.nodes = {{"a", {}, 2}, {"b", {"ssh", "b"}, 2}};
  job.node_of_rank = {0, 0, 1, 1};
  job.spares = {{"c", {"ssh", "c"}, 2}};
  return job;
}

struct Course {
  Course()
      : coordinator(
            loop, [this](control::Message message) { to_mpirun.push_back(std::move(message)); },
            [this](node::ToNode message) { to_nodes.push_back(std::move(message)); }) {}

  /// `checkpoints`: the directory for them.
  void begin(const std::string& checkpoints = {}) {
    control::Start job = job_on_two_nodes();
    job.storing.checkpoints = checkpoints;
    coordinator.take(control::Message(std::move(job)));
    run();
  }
  /// All ranks have been started and have attached.
  void run() {
    coordinator.take(node::Ready{"a", {}, {}});
    coordinator.take(node::Ready{"b", {}, {}});
    for (std::uint32_t slot = 0; slot < 4; ++slot) {
      coordinator.take(node::Started{slot, 100 + static_cast<std::int32_t>(slot)});
      coordinator.take(node::Attached{slot, 100 + static_cast<std::int32_t>(slot)});
    }
  }
  template <typename Condition>
  void wait_until(const Condition& condition) {
    for (int i = 0; i < 1000 && !condition(); ++i) {
      loop.after(std::chrono::milliseconds(5), [] {});
      REQUIRE(loop.run_once());
    }
    REQUIRE(condition());
  }
  void all_end() {
    for (std::uint32_t slot = 0; slot < 4; ++slot) coordinator.take(node::Done{slot, {}});
    coordinator.look_for_the_end();
  }
  template <typename Wanted>
  std::vector<Wanted> told() const {
    std::vector<Wanted> found;
    for (const auto& message : to_nodes)
      if (const auto* each = std::get_if<Wanted>(&message)) found.push_back(*each);
    return found;
  }
  std::string shown() const {
    std::string text;
    for (const auto& message : to_mpirun)
      if (const auto* output = std::get_if<control::Output>(&message)) text += output->bytes;
    return text;
  }
  std::string notices() const {
    std::string text;
    for (const auto& message : to_mpirun)
      if (const auto* notice = std::get_if<control::Notice>(&message)) text += notice->text;
    return text;
  }

  EventLoop loop;
  std::vector<control::Message> to_mpirun;
  std::vector<node::ToNode> to_nodes;
  JobCoordinator coordinator;
};

const log::JournalEntry an_outcome{1, 2, 3};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

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

namespace {

/// What a rank says of a checkpoint.
node::Reached of_checkpoint(std::uint32_t slot, ReplayPlace place, std::uint64_t question,
                            std::uint32_t number = 0, WrittenOutput written = {}) {
  return {slot, place, false, question, number, written};
}

/// Of a job that has been told of a checkpoint and lost a node behind it, what it starts again from. Rank 2
/// has written "shown;" and "behind;" to standard output, of which the first is shown.
JobRestart lost_behind_checkpoint(Course& course, std::uint32_t checkpoint) {
  course.coordinator.take(node::FromNode(control::Output{2, 1, "shown;"}));
  course.coordinator.take(node::Cut{{{2, RankJournal::outcomes, 0, {an_outcome}}}, {}});
  course.wait_until([&] { return course.shown() == "shown;"; });
  course.coordinator.take(of_checkpoint(2, ReplayPlace::output, 5));
  course.coordinator.take(of_checkpoint(2, ReplayPlace::checkpoint, 6, checkpoint));
  course.coordinator.take(node::Cut{});
  course.wait_until([&] { return course.told<node::AnswerReach>().size() == 2; });
  course.coordinator.take(node::NodeLost{1, "'b'", "its agent was killed"});
  course.all_end();
  auto restart = course.coordinator.take_restart();
  REQUIRE(restart);
  return std::move(*restart);
}

}  // namespace

TEST_CASE(
    "coordinator: a rank that writes a checkpoint is told what it has written, and has a directory for it",
    "[launcher]") {
  const test::TemporaryFolder folder;
  const std::string directory = folder / "1.checkpoints";
  Course course;
  course.begin(directory);
  CHECK(contains(course.told<node::StartRanks>().at(0).ranks.at(3).identity,
                 "checkpoints=" + directory + "\n"));
  CHECK_FALSE(contains(course.told<node::StartRanks>()[0].ranks[3].identity, "checkpoint="));
  CHECK_FALSE(std::filesystem::exists(directory));
  course.coordinator.take(node::FromNode(control::Output{1, 1, "12345"}));
  course.coordinator.take(node::FromNode(control::Output{1, 2, "123"}));
  course.coordinator.take(of_checkpoint(1, ReplayPlace::output, 77));
  REQUIRE(course.told<node::AnswerReach>().size() == 1);
  CHECK(course.told<node::AnswerReach>()[0].question == 77);
  CHECK(course.told<node::AnswerReach>()[0].written == WrittenOutput{5, 3});
  CHECK(std::filesystem::exists(directory));
  course.coordinator.take(of_checkpoint(0, ReplayPlace::output, 78));
  CHECK(course.told<node::AnswerReach>()[1].written == WrittenOutput{0, 0});
  CHECK(course.notices().empty());
}

TEST_CASE("coordinator: a job whose ranks have no directory for checkpoints does not name one",
          "[launcher]") {
  Course course;
  course.begin();
  CHECK_FALSE(contains(course.told<node::StartRanks>().at(0).ranks.at(0).identity, "checkpoint"));
}

TEST_CASE("coordinator: where checkpoints cannot be written, mpirun says why, and the ranks go on",
          "[launcher]") {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "file") << "no directory";
  Course course;
  course.begin(folder / "file/1.checkpoints");
  course.coordinator.take(of_checkpoint(1, ReplayPlace::output, 77));
  CHECK(contains(course.notices(), "mpirun: checkpoints cannot be written: "));
  CHECK(contains(course.notices(), folder / "file"));
  CHECK(course.told<node::AnswerReach>().size() == 1);
}

TEST_CASE("coordinator: a checkpoint that all have written is answered when the job would go on from it",
          "[launcher]") {
  Course course;
  course.begin();
  course.coordinator.take(of_checkpoint(1, ReplayPlace::checkpoint, 77, 3));
  REQUIRE(course.told<node::MakeCut>().size() == 1);
  // Another rank's word of the same, and of the next one, while the cut is made.
  course.coordinator.take(of_checkpoint(2, ReplayPlace::checkpoint, 78, 3));
  CHECK(course.told<node::AnswerReach>().empty());
  course.coordinator.take(node::Cut{});
  course.wait_until([&] { return !course.told<node::AnswerReach>().empty(); });
  CHECK(course.told<node::AnswerReach>()[0].question == 77);
  course.coordinator.take(node::Cut{});
  course.wait_until([&] { return course.told<node::AnswerReach>().size() == 2; });
  CHECK(course.told<node::AnswerReach>()[1].question == 78);
}

TEST_CASE("coordinator: where nothing is recorded a checkpoint is answered at once", "[launcher]") {
  Course course;
  control::Start job = job_on_two_nodes();
  job.profile = qos::serialize(fault_tolerant());
  course.coordinator.take(control::Message(std::move(job)));
  course.run();
  course.coordinator.take(of_checkpoint(1, ReplayPlace::checkpoint, 77, 3));
  REQUIRE(course.told<node::AnswerReach>().size() == 1);
  CHECK(course.told<node::AnswerReach>()[0].question == 77);
}

TEST_CASE(
    "coordinator: ranks that start again go on from the last checkpoint, with what was not shown before it",
    "[launcher]") {
  const test::TemporaryFolder folder;
  const std::string directory = folder / "1.checkpoints";
  auto first = std::make_unique<Course>();
  first->begin(directory);
  JobRestart restart = lost_behind_checkpoint(*first, 3);
  first.reset();
  CHECK(restart.past.checkpoint == 3);
  // What is kept of another rank's output, and was not shown.
  restart.past.ranks[2].written_behind[0] = "behind;";
  restart.past.ranks[2].written_behind[1] = "error;";

  Course second;
  second.coordinator.take(std::move(restart));
  second.run();
  const auto started = second.told<node::StartRanks>();
  for (const node::RankStart& rank : started.at(0).ranks) {
    CHECK(contains(rank.identity, "checkpoints=" + directory + "\n"));
    CHECK(contains(rank.identity, "checkpoint=3\n"));
  }
  second.coordinator.take(of_checkpoint(2, ReplayPlace::restored, 9, 0, {13, 6}));
  REQUIRE(second.told<node::AnswerReach>().size() == 1);
  CHECK(second.told<node::AnswerReach>()[0].question == 9);
  second.coordinator.take(node::FromNode(control::Output{2, 1, "more;"}));
  for (int cut = 0; cut < 2; ++cut) second.coordinator.take(node::Cut{});
  second.wait_until([&] {
    second.coordinator.take(node::Cut{});
    return contains(second.shown(), "more;");
  });
  std::string standard_output, standard_error;
  for (const auto& message : second.to_mpirun)
    if (const auto* output = std::get_if<control::Output>(&message); output && output->rank == 2)
      (output->stream == 1 ? standard_output : standard_error) += output->bytes;
  CHECK(standard_output == "behind;more;");
  CHECK(standard_error == "error;");
}

TEST_CASE("coordinator: while all ranks start again nobody removes their checkpoints", "[launcher]") {
  const test::TemporaryFolder folder;
  const std::string directory = folder / "1.checkpoints";
  auto first = std::make_unique<Course>();
  first->begin(directory);
  JobRestart restart = lost_behind_checkpoint(*first, 3);
  first.reset();
  // Another job takes its first checkpoint, and removes those of jobs that are gone.
  const auto another_job_begins = [&](const char* name) {
    CheckpointDirectory other(folder / name);
    CHECK(other.make());
  };
  another_job_begins("2.checkpoints");
  CHECK(std::filesystem::exists(directory));
  Course second;
  second.coordinator.take(std::move(restart));
  second.run();
  another_job_begins("3.checkpoints");
  CHECK(std::filesystem::exists(directory));
  // It takes checkpoints in the same directory, which goes when it has come to its end.
  second.coordinator.take(of_checkpoint(0, ReplayPlace::output, 5));
  CHECK_FALSE(contains(second.notices(), "cannot be written"));
  second.coordinator.take(node::FromNode(control::Output{2, 1, "shown;"}));
  for (std::uint32_t slot = 0; slot < 4; ++slot) {
    node::Ended end;
    end.slot = slot;
    end.view.state = RankState::finalized;
    second.coordinator.take(node::FromNode(end));
  }
  second.wait_until([&] {
    second.coordinator.take(node::Cut{});
    second.all_end();
    return second.coordinator.finished();
  });
  CHECK_FALSE(std::filesystem::exists(directory));
}
