#include <string>

#include "job_coordinator.hpp"
#include "llamada/launcher/exit_codes.hpp"
#include "llamada/qos/serialization.hpp"
#include "profiles.hpp"
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

  void begin() {
    coordinator.take(control::Message(job_on_two_nodes()));
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
  course.coordinator.take(node::Reached{1, ReplayPlace::effect, false, 77});
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
