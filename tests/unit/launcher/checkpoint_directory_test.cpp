#include "checkpoint_directory.hpp"

#include <filesystem>
#include <fstream>

#include "temporary_folder.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::launcher;

namespace fs = std::filesystem;

namespace {

/// A directory with the checkpoint of a rank in it.
void make_with_image(const std::string& path) {
  fs::create_directories(path);
  std::ofstream(path + "/1.0") << "image";
}

}  // namespace

TEST_CASE("checkpoint directory: it is made with those above it, for its owner alone, and goes with the job",
          "[launcher]") {
  const test::TemporaryFolder folder;
  const std::string path = folder / "a/b/00000000000000ab.checkpoints";
  CheckpointDirectory directory(path);
  CHECK_FALSE(fs::exists(path));
  REQUIRE(directory.make());
  CHECK(fs::status(path).permissions() == fs::perms::owner_all);
  std::ofstream(path + "/1.0") << "image";
  REQUIRE(directory.make());
  CHECK(fs::exists(path + "/1.0"));
  directory.remove();
  CHECK_FALSE(fs::exists(path));
  CHECK(fs::exists(folder / "a/b"));
}

TEST_CASE("checkpoint directory: a job without one makes and removes nothing", "[launcher]") {
  CheckpointDirectory none;
  CHECK(none.make());
  none.remove();
}

TEST_CASE("checkpoint directory: that of a job that goes on is taken with what lies in it", "[launcher]") {
  const test::TemporaryFolder folder;
  const std::string path = folder / "1.checkpoints";
  make_with_image(path);
  CheckpointDirectory directory(path);
  REQUIRE(directory.make());
  CHECK(fs::exists(path + "/1.0"));
}

TEST_CASE("checkpoint directory: two jobs cannot have the same", "[launcher]") {
  const test::TemporaryFolder folder;
  const std::string path = folder / "1.checkpoints";
  CheckpointDirectory first(path);
  REQUIRE(first.make());
  CheckpointDirectory second(path);
  const Status made = second.make();
  REQUIRE_FALSE(made);
  CHECK(made.error().code() == Errc::already_exists);
  CHECK(made.error().text().find(path) != std::string::npos);
  first.remove();
  CHECK(second.make());
}

TEST_CASE("checkpoint directory: that of a job whose process has gone is free", "[launcher]") {
  const test::TemporaryFolder folder;
  const std::string path = folder / "1.checkpoints";
  { REQUIRE(CheckpointDirectory(path).make()); }
  CHECK(fs::exists(path));
  CHECK(CheckpointDirectory(path).make());
}

TEST_CASE("checkpoint directory: where none can be made, the error says where", "[launcher]") {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "file") << "no directory";
  const Status below_file = CheckpointDirectory(folder / "file/jobs/1.checkpoints").make();
  REQUIRE_FALSE(below_file);
  CHECK(below_file.error().text().find(folder / "file/jobs") != std::string::npos);
  const Status is_file = CheckpointDirectory(folder / "file").make();
  REQUIRE_FALSE(is_file);
  CHECK(is_file.error().text().find(folder / "file") != std::string::npos);
}

TEST_CASE("checkpoint directory: those of jobs that are gone are removed, and no others", "[launcher]") {
  const test::TemporaryFolder folder;
  make_with_image(folder / "gone.checkpoints");
  make_with_image(folder / "kept.checkpoints");
  fs::create_directories(folder / "kept");
  make_with_image(folder / "something else");
  CheckpointDirectory running(folder / "running.checkpoints");
  REQUIRE(running.make());
  CHECK_FALSE(fs::exists(folder / "gone.checkpoints"));
  std::ofstream(folder / "running.checkpoints/1.0") << "image";
  // A link is not followed to where it leads.
  make_with_image(folder / "elsewhere/target");
  fs::create_directory_symlink(folder / "elsewhere/target", folder / "link.checkpoints");
  make_with_image(folder / "gone too.checkpoints");
  CheckpointDirectory next(folder / "next.checkpoints");
  REQUIRE(next.make());
  CHECK_FALSE(fs::exists(folder / "gone too.checkpoints"));
  for (const char* left : {"kept.checkpoints", "running.checkpoints", "something else", "elsewhere/target"})
    CHECK(fs::exists(folder / (std::string(left) + "/1.0")));
}

TEST_CASE("checkpoint directory: those of a job that is removed go with it", "[launcher]") {
  const test::TemporaryFolder folder;
  make_with_image(folder / "1.checkpoints");
  make_with_image(folder / "2.checkpoints");
  remove_checkpoints_of(folder / "1");
  CHECK_FALSE(fs::exists(folder / "1.checkpoints"));
  CHECK(fs::exists(folder / "2.checkpoints"));
}

TEST_CASE("checkpoint directory: a checkpoint is removed, and no other", "[launcher]") {
  const test::TemporaryFolder folder;
  const std::string path = folder / "1.checkpoints";
  make_with_image(path);
  for (const char* name : {"/1.1", "/11.0", "/11.1", "/2.0", "/2.1"}) std::ofstream(path + name) << "image";
  const CheckpointDirectory directory(path);
  CHECK(directory.newest_whole(20, 2) == 11);
  CHECK(directory.newest_whole(10, 2) == 2);
  CHECK(directory.newest_whole(20, 3) == 0);
  CHECK(directory.remove_checkpoint(1));
  CHECK_FALSE(directory.remove_checkpoint(1));
  for (const char* gone : {"/1.0", "/1.1"}) CHECK_FALSE(fs::exists(path + gone));
  for (const char* left : {"/11.0", "/11.1", "/2.0"}) CHECK(fs::exists(path + left));
  CHECK(CheckpointDirectory(folder / "none").newest_whole(20, 1) == 0);
}
