#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "deadlock_kinds.hpp"
#include "job_process.hpp"
#include "test.hpp"

// Jobs whose ranks wait for each other for ever, and jobs that only look so.

namespace {

using namespace llamada::system_test;

constexpr int exit_deadlock = 119;

bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

/// What `llamada` prints, and its exit code.
std::pair<std::string, int> run_tool(const std::string& arguments) {
  FILE* pipe = popen((std::string(LLAMADA_TOOL) + " " + arguments + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  char part[4096];
  for (std::size_t count; (count = fread(part, 1, sizeof part, pipe)) > 0;) text.append(part, count);
  const int status = pclose(pipe);
  return {text, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)};
}

}  // namespace

TEST_CASE("mpirun: a deadlock is named, and ends the job where the user wants that", "[system]") {
  for (const auto& each : llamada::test::deadlock_kinds()) {
    INFO(each.name);
    Job job({"-n", std::to_string(each.ranks), "--on-deadlock", "end", LLAMADA_DEADLOCKS, each.name});
    CHECK(job.wait() == exit_deadlock);
    INFO(job.errors());
    for (const std::string& said : each.said) CHECK(has(job.errors(), said));
    CHECK(job.wait_until_none_is_left(std::chrono::seconds(60)).empty());
  }
}

TEST_CASE("mpirun: a deadlock is named where histories are kept, too", "[system]") {
  for (const char* kind : {"receives", "synchronous_sends", "missing_in_barrier"}) {
    INFO(kind);
    Job job({"-n", "2", "--qos", "fault-tolerant", "--on-deadlock", "end", LLAMADA_DEADLOCKS, kind});
    CHECK(job.wait() == exit_deadlock);
    INFO(job.errors());
    CHECK(has(job.errors(), "deadlock: rank 0 waits in MPI_"));
  }
}

TEST_CASE("mpirun: a deadlock is reported once, and the job goes on", "[system]") {
  Job job({"-n", "2", LLAMADA_DEADLOCKS, "receives"});
  REQUIRE(wait_for([&] { return has(job.errors(), "nobody can go on"); }));
  for (int i = 0; i < 30; ++i) sleep_for_a_moment();
  CHECK_FALSE(job.ended());
  const std::string errors = job.errors();
  CHECK(errors.find("deadlock") == errors.rfind("deadlock"));
  kill(job.pid(), SIGTERM);
  CHECK(job.wait() == 128 + SIGTERM);
}

TEST_CASE("mpirun: no job is accused of a deadlock that may go on", "[system]") {
  for (const char* kind : {"polls", "sleeps", "reads_input", "second_thread", "bursts"}) {
    INFO(kind);
    Job job({"-n", "2", "--on-deadlock", "end", LLAMADA_DEADLOCKS, kind});
    CHECK(job.wait() == 0);
    CHECK(job.errors().empty());
  }
}

TEST_CASE("mpirun: --timeout and SIGUSR1 say what the ranks wait for", "[system]") {
  Job late({"-n", "2", "--timeout", "0.7", LLAMADA_DEADLOCKS, "sleeps_on"});
  CHECK(late.wait() == 124);
  INFO(late.errors());
  CHECK(has(late.errors(), "  rank 0 does not wait in MPI.\n"));
  CHECK(has(late.errors(), "  rank 1 waits in MPI_Recv for rank 0, tag 1, communicator MPI_COMM_WORLD.\n"));
  CHECK(has(late.errors(), "  The others wait for rank 0.\n"));

  Job asked({"-n", "2", LLAMADA_DEADLOCKS, "ring"});
  REQUIRE(wait_for([&] { return has(asked.errors(), "nobody can go on"); }));
  kill(asked.pid(), SIGUSR1);
  CHECK(wait_for([&] { return has(asked.errors(), "what the ranks wait for (SIGUSR1)"); }));
  CHECK_FALSE(asked.ended());
  kill(asked.pid(), SIGTERM);
  CHECK(asked.wait() == 128 + SIGTERM);
}

TEST_CASE("llamada why: whom a rank waits for, and the rank for which the others wait", "[system]") {
  Job job({"-n", "3", LLAMADA_DEADLOCKS, "long_work"});
  REQUIRE(wait_for([&] { return has(job.output(), "up\n"); }));
  const std::string mpirun = std::to_string(job.pid());
  std::pair<std::string, int> told;
  REQUIRE(wait_for([&] {
    told = run_tool("why rank 2 " + mpirun);
    return has(told.first, "rank 1 waits in MPI_Recv");
  }));
  INFO(told.first);
  CHECK(told.second == 0);
  CHECK(has(told.first, "rank 2 waits in MPI_Recv for rank 1, tag 1, communicator MPI_COMM_WORLD.\n"));
  CHECK(has(told.first, "rank 2 waits for rank 1, which waits for rank 0.\n"));
  CHECK(has(told.first, "rank 0 does not wait in MPI.\n"));
  CHECK(has(told.first, "The stack of rank 0 (pid "));
  CHECK_FALSE(has(told.first, "can go on"));

  const auto all = run_tool("why job " + mpirun);
  INFO(all.first);
  CHECK(has(all.first, "  rank 0 does not wait in MPI.\n  rank 1 waits in MPI_Recv for rank 0"));
  CHECK(has(all.first, "The others wait for rank 0.\n"));

  CHECK(run_tool("why rank 7 " + mpirun).second == 2);
  CHECK(has(run_tool("why rank x").first, "why takes a TOPIC, 'rank N'"));
  CHECK(has(run_tool("why job job-nothing").first, "job-nothing"));
  kill(job.pid(), SIGTERM);
  CHECK(job.wait() == 128 + SIGTERM);
}

TEST_CASE("llamada top: the ranks of a job, their rates and who waits", "[system]") {
  Job job({"-n", "2", LLAMADA_DEADLOCKS, "exchange"});
  REQUIRE(wait_for([&] { return has(job.output(), "up\n"); }));
  const auto text = run_tool("top --once --interval 0.3");
  CHECK(text.second == 0);
  CHECK(has(text.first, "messages/s"));
  const auto [told, code] = run_tool("top --once --json --interval 0.3");
  CHECK(code == 0);
  const auto table = nlohmann::json::parse(told);
  bool found = false;
  for (const auto& each : table["jobs"]) {
    if (each["ranks"].size() != 2 || each["ranks"][0]["messages_per_s"].get<double>() <= 0) continue;
    found = true;
    CHECK(each["ranks"][1]["bytes_per_s"].get<double>() > 0);
    CHECK(each["ranks"][1]["in_mpi"].get<double>() > 0);
    CHECK(each["ranks"][1]["replacements"].get<int>() == 0);
    CHECK(each["ranks"][1]["memory_bytes"].get<std::uint64_t>() > 0);
  }
  CHECK(found);
  kill(job.pid(), SIGTERM);
  CHECK(job.wait() == 128 + SIGTERM);
}

TEST_CASE("mpirun: DEADLINE of a profile is an alarm", "[system]") {
  const llamada::test::TemporaryFolder folder;
  const std::string profile = folder / "deadline.xml", report = folder / "report.json";
  std::ofstream(profile) << "<dds><qos_library name=\"l\"><qos_profile name=\"p\" "
                            "base_name=\"llamada::default\"><datawriter_qos><deadline>"
                            "<period><sec>0</sec><nanosec>500000000</nanosec></period></deadline>"
                            "</datawriter_qos></qos_profile></qos_library></dds>";
  Job job({"-n", "2", "--qos", profile, "--report", report, LLAMADA_DEADLOCKS, "sleeps"});
  CHECK(job.wait() == 0);
  INFO(job.errors());
  CHECK(has(job.errors(), "mpirun: DEADLINE: rank 1 has been in MPI_Recv (its MPI call "));
  CHECK(has(job.errors(), " s: rank 1 waits in MPI_Recv for rank 0, tag 1, communicator MPI_COMM_WORLD.\n"));
  CHECK(lines_of_mpirun(job.errors()).size() == 1);
  const auto told = nlohmann::json::parse(std::ifstream(report));
  REQUIRE(told["overdue"].size() == 1);
  CHECK(told["overdue"][0]["rank"] == 1);
  CHECK(told["overdue"][0]["mpi_call"] == "MPI_Recv");
  CHECK(told["deadlocks"].empty());
}
