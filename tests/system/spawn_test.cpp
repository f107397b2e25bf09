#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "job_process.hpp"
#include "llamada/base/random.hpp"
#include "test.hpp"

// Worlds that MPI_Comm_spawn has added: deaths in them, and in the launcher while they come.

namespace {

using namespace llamada;
using namespace llamada::system_test;

Job start(const std::string& what, std::vector<std::string> options = {}) {
  options.insert(options.end(), {"-n", "2", LLAMADA_SPAWN_PROGRAM, what});
  return Job(std::move(options));
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++found;
  return found;
}

std::size_t descriptors_of(pid_t pid) {
  std::error_code gone;
  std::size_t open = 0;
  for (std::filesystem::directory_iterator each("/proc/" + std::to_string(pid) + "/fd", gone), end;
       !gone && each != end; each.increment(gone))
    ++open;
  return open;
}

std::size_t mappings_of(pid_t pid) {
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  std::size_t lines = 0;
  for (std::string line; std::getline(maps, line);) ++lines;
  return lines;
}

/// Of the process of the job that has the most.
std::size_t most(const Job& job, std::size_t (*of)(pid_t)) {
  std::size_t most = 0;
  for (const Found& process : job.processes()) most = std::max(most, of(process.pid));
  return most;
}

}  // namespace

TEST_CASE("spawn: a spawned rank that dies ends the job, and is named", "[system]") {
  Job job = start("child dies");
  CHECK(job.wait() == 128 + SIGKILL);
  CHECK(job.errors().find("rank 1 of 2 of spawned world 1 died") != std::string::npos);
  CHECK(job.wait_until_none_is_left(std::chrono::seconds(60)).empty());
}

TEST_CASE("spawn: a parent that dies takes its children along", "[system]") {
  Job job = start("parent dies");
  CHECK(job.wait() == 128 + SIGKILL);
  CHECK(job.errors().find(" of 2 died") != std::string::npos);
  CHECK(job.wait_until_none_is_left(std::chrono::seconds(60)).empty());
}

TEST_CASE("spawn: whoever of mpirun and its helpers is killed meanwhile, nothing is left", "[system]") {
  Random random(2);
  for (const char* victim : {"mpirun", "mpirun-guardian", "mpirun-keeper", "llamanetd"}) {
    INFO(victim);
    Job job = start("spawn for ever");
    const std::size_t rounds = 2 + random.below(4);
    REQUIRE(wait_for([&] { return count(job.output(), "again") >= rounds; }));
    const pid_t pid = std::string_view(victim) == "mpirun" ? job.pid() : job.find(victim);
    REQUIRE(pid > 0);
    kill(pid, SIGKILL);
    CHECK(job.wait_until_none_is_left(std::chrono::seconds(60)).empty());
    CHECK(job.wait() != 0);
  }
}

TEST_CASE("spawn: neither parents nor llamanetd keep descriptors or mappings of worlds that are done",
          "[system]") {
  constexpr std::size_t worlds = 60, ranks_of_each = 2;
  Job job = start("spawn for ever");
  REQUIRE(wait_for([&] { return count(job.output(), "again") >= 5; }));
  const std::size_t descriptors = most(job, descriptors_of), mappings = most(job, mappings_of);
  REQUIRE(wait_for([&] { return count(job.output(), "again") >= 5 + worlds; }));
  CHECK(most(job, descriptors_of) < descriptors + worlds * ranks_of_each / 2);
  CHECK(most(job, mappings_of) < mappings + worlds * ranks_of_each / 2);
}

TEST_CASE("spawn: later worlds have the slots of those that are done, and hear nothing of theirs",
          "[system]") {
  for (const char* profile : {"default", "fault-tolerant"}) {
    INFO(profile);
    test::TemporaryFolder folder;
    const std::string report = folder / "report";
    Job job = start("spawn 40 times", {"--qos", profile, "--report", report});
    CHECK(job.wait() == 0);
    CHECK(job.output() == "all have answered\n");
    const auto json = nlohmann::json::parse(std::ifstream(report));
    CHECK(json["spawned_world_count"] == 40);
    // 48 processes, of which some are still there when the next ones come.
    CHECK(json["per_rank"].size() < 2 + 48);
    CHECK(json["spawned_worlds"].size() < 40);
  }
}

TEST_CASE("spawn: the exit code of a spawned rank is the job's", "[system]") {
  Job job = start("child fails", {"--tag-output"});
  CHECK(job.wait() == 3);
  CHECK(job.errors().find("rank 0 of spawned world 1") != std::string::npos);
  CHECK(job.output().find("[1:0] child of world\n") != std::string::npos);
}

TEST_CASE("spawn: what spawned ranks write goes into files of their own, too", "[system]") {
  test::TemporaryFolder folder;
  Job job = start("child fails", {"-outfile-pattern", folder / "%r.of"});
  CHECK(job.wait() == 3);
  std::string line;
  std::getline(std::ifstream(folder / "2.of"), line);
  CHECK(line == "child of world");
  CHECK(std::filesystem::exists(folder / "0.of"));
}

TEST_CASE("spawn: a job ends with its last world", "[system]") {
  Job job = start("child outlives");
  CHECK(job.wait() == 0);
  CHECK(job.output().find("child has outlived\n") != std::string::npos);
}

TEST_CASE("spawn: a program that is not there, or leaves without MPI, ends the job with a sentence",
          "[system]") {
  Job missing = start("no program");
  CHECK(missing.wait() == 1);
  CHECK(missing.errors().find("there is no program '/no/such/program': No such file or directory") !=
        std::string::npos);
  Job other = start("not mpi");
  CHECK(other.wait() == 1);
  CHECK(other.errors().find("without MPI_Init") != std::string::npos);
  CHECK(other.wait_until_none_is_left(std::chrono::seconds(60)).empty());
}
