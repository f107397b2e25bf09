#include <filesystem>
#include <fstream>
#include <string>

#include "checkpoint_directory.hpp"
#include "coordinator_course.hpp"
#include "temporary_folder.hpp"

// Checkpoints of a job, and those that ranks which start again go on from.

using namespace llamada;
using namespace llamada::launcher;
using namespace llamada::launcher::two_nodes;

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

/// The files of four ranks.
void make_images(const std::string& directory, std::uint32_t number) {
  std::filesystem::create_directories(directory);
  for (int rank = 0; rank < 4; ++rank)
    std::ofstream(directory + "/" + std::to_string(number) + "." + std::to_string(rank)) << "image";
}

/// The job starts again. The identity of rank 1.
std::string identity_in(Course& course, JobRestart restart) {
  course.coordinator.take(std::move(restart));
  course.run();
  return course.told<node::StartRanks>().at(0).ranks.at(1).identity;
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
  make_images(directory, 3);
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

TEST_CASE("coordinator: ranks go on from the last checkpoint of which all files are there", "[launcher]") {
  const test::TemporaryFolder folder;
  const std::string directory = folder / "1.checkpoints";
  Course first;
  first.begin(directory);
  make_images(directory, 2);
  make_images(directory, 3);
  make_images(directory, 4);  // not taken
  JobRestart restart = lost_behind_checkpoint(first, 3);
  Course second;
  SECTION("the last one") {
    CHECK(contains(identity_in(second, std::move(restart)), "checkpoint=3\n"));
    CHECK_FALSE(contains(second.notices(), "are gone"));
  }
  SECTION("the one before, where a file is gone") {
    std::filesystem::remove(directory + "/3.2");
    const std::string identity = identity_in(second, std::move(restart));
    CHECK(contains(identity, "checkpoint=2\n"));
    CHECK(contains(identity, "life="));
    CHECK(contains(second.notices(),
                   "mpirun: files of checkpoint 3 are gone; all ranks go on from checkpoint 2.\n"));
  }
  SECTION("the one before, where a file is empty") {
    std::ofstream(directory + "/3.2", std::ios::trunc).close();
    CHECK(contains(identity_in(second, std::move(restart)), "checkpoint=2\n"));
  }
  SECTION("from the beginning, where none is whole") {
    for (const char* name : {"/2.0", "/3.3"}) std::filesystem::remove(directory + name);
    CHECK_FALSE(contains(identity_in(second, std::move(restart)), "checkpoint="));
    CHECK(contains(second.notices(), "all ranks go on from the beginning"));
  }
}

TEST_CASE("coordinator: a checkpoint that a rank cannot use is given up, and all ranks start again",
          "[launcher]") {
  const test::TemporaryFolder folder;
  const std::string directory = folder / "1.checkpoints";
  Course first;
  first.begin(directory);
  make_images(directory, 2);
  make_images(directory, 3);
  Course second;
  identity_in(second, lost_behind_checkpoint(first, 3));
  // One that the job does not know: to start again would not help.
  second.coordinator.take(of_checkpoint(1, ReplayPlace::unusable, 8, 7));
  REQUIRE(second.told<node::AnswerReach>().size() == 1);
  CHECK(second.told<node::KillAll>().empty());
  second.coordinator.take(of_checkpoint(2, ReplayPlace::unusable, 9, 3));
  CHECK(contains(second.notices(), "mpirun: checkpoint 3 is given up; all ranks are stopped, "));
  CHECK(second.told<node::AnswerReach>().size() == 1);
  CHECK(second.told<node::KillAll>().size() == 1);
  CHECK_FALSE(std::filesystem::exists(directory + "/3.1"));
  // Another rank, which could not use it either.
  second.coordinator.take(of_checkpoint(3, ReplayPlace::unusable, 10, 3));
  second.all_end();
  auto restart = second.coordinator.take_restart();
  REQUIRE(restart);
  Course third;
  CHECK(contains(identity_in(third, std::move(*restart)), "checkpoint=2\n"));
}

TEST_CASE("coordinator: a job without a record ends where a checkpoint is of no use", "[launcher]") {
  Course course;
  control::Start job = job_on_two_nodes();
  job.profile = qos::serialize(fault_tolerant());
  course.coordinator.take(control::Message(std::move(job)));
  course.run();
  course.coordinator.take(of_checkpoint(1, ReplayPlace::unusable, 77, 3));
  REQUIRE(course.told<node::AnswerReach>().size() == 1);
  CHECK(course.told<node::KillAll>().empty());
}
