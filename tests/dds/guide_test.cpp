// The guide's two programs, as they stand in docs/guide.md, as two processes.

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "support.hpp"
#include "temporary_folder.hpp"

using namespace dds_test;

namespace {

/// A running program with its output in a file. Ends it when destroyed.
class Program {
 public:
  Program(std::string path, const std::string& output) : output_(output) {
    char* const arguments[] = {path.data(), nullptr};
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
    if (::posix_spawn(&pid_, path.c_str(), &files, nullptr, arguments, environ) != 0) pid_ = 0;
    posix_spawn_file_actions_destroy(&files);
    REQUIRE(pid_ != 0);
  }
  ~Program() {
    if (pid_ == 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// Its exit status; -1 if it did not end by itself.
  int wait() {
    int status = -1;
    const bool ended = eventually([&] { return ::waitpid(pid_, &status, WNOHANG) == pid_; });
    if (ended) pid_ = 0;
    return ended && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::string output() const {
    std::ifstream file(output_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::string output_;
  pid_t pid_ = 0;
};

/// Starts the second one when the first one is in the domain.
struct Run {
  Run(const std::string& first_path, const std::string& second_path) {
    dds::domain::DomainParticipant observer(0);
    first.emplace(first_path, folder / "first");
    const auto is_there = [&] {
      for (const auto& each : dds::topic::discover_topic_data(observer))
        if (each.name() == "readings") return true;
      return false;
    };
    CHECK(eventually(is_there));
    second.emplace(second_path, folder / "second");
    CHECK(first->wait() == 0);
    CHECK(second->wait() == 0);
  }

  llamada::test::TemporaryFolder folder;
  std::optional<Program> first, second;
};

/// These programs meet each other alone.
void have_a_namespace() { ::setenv("LLAMADA_NAMESPACE", ("guide-" + std::to_string(::getpid())).c_str(), 1); }

}  // namespace

TEST_CASE("guide: the reader gets what was written before it came", "[dds]") {
  have_a_namespace();
  const Run run(GUIDE_WRITER, GUIDE_READER);
  CHECK(run.first->output().empty());
  CHECK(run.second->output() == "sensor 7: 21.5\n");
}

TEST_CASE("guide: the reader gets what is written after it came", "[dds]") {
  have_a_namespace();
  const Run run(GUIDE_READER, GUIDE_WRITER);
  CHECK(run.first->output() == "sensor 7: 21.5\n");
  CHECK(run.second->output().empty());
}
