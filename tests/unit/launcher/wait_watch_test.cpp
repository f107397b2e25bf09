#include "wait_watch.hpp"

#include <signal.h>

#include <algorithm>

#include "job_coordinator.hpp"
#include "llamada/launcher/exit_codes.hpp"
#include "llamada/qos/serialization.hpp"
#include "test.hpp"

// Who asks what ranks wait for, when, and what follows.

using namespace llamada;
using namespace llamada::launcher;
using Course = waits::SurveyedRank::Course;

namespace {

waits::Report receives_from(std::int32_t peer) {
  waits::Report report;
  waits::Awaited awaited;
  awaited.kind = waits::Kind::receive;
  awaited.peer = peer;
  awaited.tag = 5;
  awaited.name = "MPI_COMM_WORLD";
  report.add_awaited(std::move(awaited));
  return report;
}

/// A coordinator of two ranks, between an mpirun and a node that only remember what they were told.
struct Job {
  explicit Job(bool ends_at_deadlock = false)
      : coordinator(
            loop, [this](control::Message message) { to_mpirun.push_back(std::move(message)); },
            [this](node::ToNode message) { to_node.push_back(std::move(message)); }) {
    control::Start job;
    job.rank_count = 2;
    job.program = "/bin/program";
    job.profile = qos::serialize(qos::Profile());
    job.ends_at_deadlock = ends_at_deadlock ? 1 : 0;
    says(control::Message(job));
    coordinator.take(node::FromNode(node::Ready{"home"}));
    for (std::uint32_t slot : {0, 1}) coordinator.take(node::FromNode(node::Started{slot, 100}));
  }

  void says(control::Message message) { coordinator.take(std::move(message)); }
  /// The node answers the last question: both ranks wait for each other.
  void answers_with_deadlock(std::uint64_t activity = 0) {
    node::Waits waits{question(), {}};
    for (std::uint32_t slot : {0, 1}) {
      waits.ranks.push_back({slot, Course::waits, receives_from(1 - static_cast<int>(slot))});
      waits.ranks.back().report->activity = activity;
    }
    coordinator.take(node::FromNode(std::move(waits)));
  }
  void answers_with_runs() { coordinator.take(node::FromNode(node::Waits{question(), {{0}, {1}}})); }
  /// Rank 0 waits for rank 1.
  void answers_with_one_running() {
    coordinator.take(node::FromNode(node::Waits{question(), {{0, Course::waits, receives_from(1)}, {1}}}));
  }
  void is_quiet() { coordinator.take(node::FromNode(node::Quiet{})); }

  /// Of the last question, 0 if there was none.
  std::uint64_t question() const {
    std::uint64_t last = 0;
    for (const auto& message : to_node)
      if (const auto* ask = std::get_if<node::AskWaits>(&message)) last = ask->question;
    return last;
  }
  void wait_for_question(std::uint64_t number) {
    while (question() < number) REQUIRE(loop.run_once());
  }
  bool is_told_to_end() const {
    return std::any_of(to_node.begin(), to_node.end(),
                       [](const auto& message) { return std::holds_alternative<node::EndJob>(message); });
  }
  std::string notices() const {
    std::string all;
    for (const auto& message : to_mpirun)
      if (const auto* notice = std::get_if<control::Notice>(&message)) all += notice->text;
    return all;
  }

  EventLoop loop;
  std::vector<control::Message> to_mpirun;
  std::vector<node::ToNode> to_node;
  JobCoordinator coordinator;
};

}  // namespace

TEST_CASE("coordinator: a deadlock is said after a second look, and once", "[launcher]") {
  Job job;
  CHECK(job.question() == 0);
  job.is_quiet();
  CHECK(job.question() == 1);
  job.answers_with_deadlock();
  CHECK(job.notices().empty());
  job.wait_for_question(2);
  job.answers_with_deadlock();
  CHECK(job.notices().find("mpirun: deadlock: rank 0 waits in ") == 0);
  CHECK_FALSE(job.is_told_to_end());
  const std::string said = job.notices();
  job.is_quiet();
  job.answers_with_deadlock();
  job.wait_for_question(4);
  job.answers_with_deadlock();
  CHECK(job.notices() == said);
}

TEST_CASE("coordinator: a deadlock ends the job where the user wants that", "[launcher]") {
  Job job(true);
  job.is_quiet();
  job.answers_with_deadlock();
  job.wait_for_question(2);
  job.answers_with_deadlock();
  CHECK(job.notices().find("--on-deadlock end") != std::string::npos);
  CHECK(job.is_told_to_end());
}

TEST_CASE("coordinator: ranks that go on between two looks are not in a deadlock", "[launcher]") {
  Job job(true);
  job.is_quiet();
  SECTION("they run") { job.answers_with_runs(); }
  SECTION("they have sent something") {
    job.answers_with_deadlock(1);
    job.wait_for_question(2);
    job.answers_with_deadlock(2);
  }
  CHECK(job.notices().empty());
  CHECK_FALSE(job.is_told_to_end());
}

TEST_CASE("coordinator: an answer to an earlier question is none", "[launcher]") {
  Job job;
  job.is_quiet();
  job.coordinator.take(node::FromNode(node::Waits{7, {}}));
  job.answers_with_deadlock();
  job.wait_for_question(2);
}

TEST_CASE("coordinator: SIGUSR1 and the end of the time say what ranks wait for", "[launcher]") {
  Job job;
  job.says(control::Signal{SIGUSR1});
  REQUIRE(job.question() == 1);
  job.answers_with_deadlock();
  CHECK(job.notices().find("(SIGUSR1):\n  rank 0 waits in ") != std::string::npos);
  job.says(control::End{exit_timeout, 0, 1});
  REQUIRE(job.question() == 2);
  CHECK_FALSE(job.is_told_to_end());
  job.answers_with_one_running();
  CHECK(job.notices().find("  rank 1 does not wait in MPI.\n") != std::string::npos);
  CHECK_FALSE(job.is_told_to_end());
  job.coordinator.take(node::FromNode(node::Stack{1, "TID 1:\n#0 main"}));
  CHECK(job.notices().find("  The stack of rank 1:\n    TID 1:\n    #0 main\n") != std::string::npos);
  CHECK(job.is_told_to_end());
}

TEST_CASE("coordinator: a rank that is too long in a call is said, and stands in the report", "[launcher]") {
  Job job;
  job.coordinator.take(node::FromNode(node::Overdue{1, "MPI_Recv", 0, 2'250'000'000}));
  job.answers_with_deadlock();
  CHECK(job.notices().find(
            "mpirun: DEADLINE: rank 1 has been in MPI_Recv (its MPI call 0) for 2.2 s: rank 1 waits ") == 0);
}
