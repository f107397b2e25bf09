#include <signal.h>

#include <algorithm>
#include <filesystem>

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

/// Of the process of the job that has the most.
std::size_t most_descriptors(const Job& job) {
  std::size_t most = 0;
  for (const Found& process : job.processes()) {
    std::error_code gone;
    std::size_t open = 0;
    for (std::filesystem::directory_iterator each("/proc/" + std::to_string(process.pid) + "/fd", gone), end;
         !gone && each != end; each.increment(gone))
      ++open;
    most = std::max(most, open);
  }
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

TEST_CASE("spawn: neither parents nor llamanetd keep descriptors of worlds that are done", "[system]") {
  constexpr std::size_t worlds = 60, ranks_of_each = 2;
  Job job = start("spawn for ever");
  REQUIRE(wait_for([&] { return count(job.output(), "again") >= 5; }));
  const std::size_t at_first = most_descriptors(job);
  REQUIRE(wait_for([&] { return count(job.output(), "again") >= 5 + worlds; }));
  CHECK(most_descriptors(job) < at_first + worlds * ranks_of_each / 2);
}

TEST_CASE("spawn: the exit code of a spawned rank is the job's", "[system]") {
  Job job = start("child fails", {"--tag-output"});
  CHECK(job.wait() == 3);
  CHECK(job.errors().find("rank 0 of spawned world 1") != std::string::npos);
  CHECK(job.output().find("[1:0] child of world\n") != std::string::npos);
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
