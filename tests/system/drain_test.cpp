#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "resumed_job.hpp"
#include "test.hpp"

// Ranks leave nodes on purpose while a job runs: its output is that of one undisturbed run, and nothing of it
// is left on the nodes.

namespace {

using namespace llamada;
using namespace llamada::system_test;

/// So many that a test has done all that it does before the last.
constexpr int steps = 2000;

/// Processes below an agent know their host by a variable.
constexpr const char* marks_host = "export TEST_HOST=\"$1\"";

/// The exit code of a command of `llamada`; what it said is in the file.
int llamada_says(const std::string& words, const std::string& file) {
  const std::string command = std::string(LLAMADA_TOOL) + " " + words + " > " + file + " 2>&1";
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string content_of(const std::string& file) {
  std::ifstream stream(file);
  return {(std::istreambuf_iterator<char>(stream)), {}};
}

std::string host_name() {
  char name[256]{};
  gethostname(name, sizeof name - 1);
  return name;
}

/// A job that is asked for moves.
struct MovingJob {
  MovingJob(const std::string& hosts, const std::vector<std::string>& options = {},
            const std::string& before = marks_host)
      : agent(before), job(job_of(agent, hosts, steps, options)) {}

  int ask(const std::string& command, const std::string& words) const {
    return llamada_says(command + " " + std::to_string(job.pid()) + " " + words, agent.file("answer"));
  }
  /// While the ranks start again there may be nobody to ask.
  bool ask_until_accepted(const std::string& command, const std::string& words) {
    return wait_for([&] { return ask(command, words) == 0 || job.ended(); }) && !job.ended();
  }
  std::string answer() const { return content_of(agent.file("answer")); }
  bool writes_more() {
    const int before = lines_in(job.output());
    return wait_for([&] { return lines_in(job.output()) > before + 5 || job.ended(); }) && !job.ended();
  }
  int count_of(const std::string& words) const {
    const std::string text = job.errors();
    int count = 0;
    for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++count;
    return count;
  }
  bool has_caught_up(int times) {
    return wait_for([&] { return count_of("all ranks have caught up") == times || job.ended(); }) &&
           !job.ended();
  }
  bool has_processes_on(const std::string& host) const {
    const auto all = job.processes();
    return std::any_of(all.begin(), all.end(), [&](const Found& process) {
      std::string environment = content_of("/proc/" + std::to_string(process.pid) + "/environ");
      return ('\0' + environment).find('\0' + std::string("TEST_HOST=") + host + '\0') != std::string::npos;
    });
  }
  nlohmann::json report() const {
    return nlohmann::json::parse(std::ifstream(agent.file("report")), nullptr, false);
  }
  /// SIGTERM to the process that stands for the node on its host, and whose standard input mpirun holds.
  void terminate_agent(int node) const {
    const auto of_node = processes_of_node(job, node);
    for (const pid_t pid : of_node)
      if (command_line(parent_of(pid)).find("setsid") != std::string::npos &&
          of_node.contains(parent_of(pid)))
        kill(pid, SIGTERM);
  }
  void ends_well() {
    const int code = job.wait();
    CAPTURE(job.errors());
    CHECK(code == 0);
    CHECK(is_whole(job.output(), steps));
    CHECK_FALSE(says(job, "is lost"));
    CHECK(report()["lost_nodes"].empty());
    CHECK(names_left(job) == "");
    reap_orphans();
  }

  NodeAgentScript agent;
  Job job;
};

}  // namespace

TEST_CASE("drain: the ranks of a node go on on a spare host, or beside others", "[system]") {
  adopt_orphans();
  for (const std::string hosts : {"localhost:2,b:2,c:2", "localhost:3,b:1"}) {
    const bool has_spare = hosts.ends_with("c:2");
    CAPTURE(hosts);
    MovingJob moving(hosts);
    REQUIRE(moving.writes_more());
    CHECK(moving.has_processes_on("b"));
    REQUIRE(moving.ask("drain", "b") == 0);
    CHECK(moving.answer().starts_with("The node 'b' is drained: all ranks start again, those of 'b' on '"));
    if (has_spare) CHECK(moving.answer().ends_with("on 'c'.\n"));
    REQUIRE(moving.has_caught_up(1));
    CHECK_FALSE(moving.has_processes_on("b"));
    CHECK(moving.ask("drain", "b") == 1);
    CHECK(moving.answer().find("the job has no node 'b'; there are ") != std::string::npos);
    moving.ends_well();
    const auto drained = moving.report()["drained_nodes"];
    REQUIRE(drained.size() == 1);
    CHECK(drained[0]["name"] == "b");
    CHECK(drained[0]["asked_by"] == "llamada drain");
    CHECK(drained[0]["total_s"] > 0);
  }
}

TEST_CASE("drain: two nodes in turn, the second while the ranks start again", "[system]") {
  adopt_orphans();
  MovingJob moving("localhost:2,b:2,c:2,d:2", {"--spares", "2"});
  REQUIRE(moving.writes_more());
  REQUIRE(moving.ask("drain", "b") == 0);
  REQUIRE(moving.ask_until_accepted("drain", "c"));
  REQUIRE(moving.writes_more());
  CHECK_FALSE(moving.has_processes_on("b"));
  CHECK_FALSE(moving.has_processes_on("c"));
  moving.ends_well();
  CHECK(moving.report()["drained_nodes"].size() == 2);
}

TEST_CASE("drain: mpirun's own node, and a spare one", "[system]") {
  adopt_orphans();
  MovingJob moving("localhost:2,b:2,c:2,d:2");
  REQUIRE(moving.writes_more());
  REQUIRE(moving.ask("drain", "c") == 0);
  CHECK(moving.answer() == "The spare node 'c' is drained: no rank runs there, and none will.\n");
  REQUIRE(moving.ask("drain", "$(hostname)") == 0);
  CHECK(moving.answer().ends_with("on 'd'.\n"));
  REQUIRE(moving.has_caught_up(1));
  CHECK_FALSE(moving.has_processes_on("c"));
  moving.ends_well();
}

TEST_CASE("drain: SIGTERM to a node drains it, and to the whole job ends the job", "[system]") {
  adopt_orphans();
  MovingJob moving("localhost:2,b:2,c:2");
  REQUIRE(moving.writes_more());
  moving.terminate_agent(1);
  REQUIRE(moving.has_caught_up(1));
  CHECK(says(moving.job, "mpirun: the node 'b' is drained (SIGTERM); "));
  CHECK_FALSE(moving.has_processes_on("b"));
  moving.ends_well();
  CHECK(moving.report()["drained_nodes"][0]["asked_by"] == "SIGTERM");

  MovingJob whole("localhost:2,b:2,c:2");
  REQUIRE(whole.writes_more());
  whole.terminate_agent(1);
  kill(whole.job.pid(), SIGTERM);
  CHECK(whole.job.wait() == 128 + SIGTERM);
  CHECK(names_left(whole.job) == "");
  reap_orphans();
}

TEST_CASE("drain: a node that gets SIGTERM goes on where its profile does not allow to leave it",
          "[system]") {
  adopt_orphans();
  MovingJob moving("localhost:2,b:2", {"--qos", "fault-tolerant"});
  REQUIRE(moving.writes_more());
  moving.terminate_agent(1);
  REQUIRE(moving.writes_more());
  moving.ends_well();
  CHECK_FALSE(says(moving.job, "SIGTERM"));
}

TEST_CASE("migrate: a rank goes to another node, and another one back to where it was", "[system]") {
  adopt_orphans();
  MovingJob moving("localhost:2,b:1,c:1,d:1", {"--spares", "1"});
  REQUIRE(moving.writes_more());
  CHECK(moving.ask("migrate", "2 b") == 1);
  CHECK(moving.answer() == "llamada: rank 2 runs on 'b' already\n");
  CHECK(moving.ask("migrate", "9 b") == 1);
  CHECK(moving.ask("migrate", "2 x") == 1);
  CHECK(moving.answer() ==
        "llamada: the job has no node 'x'; there are " + host_name() + ", b, c and the spare d\n");
  CHECK(moving.ask("migrate", "0 d") == 1);
  CHECK(moving.answer().find("shares the node") != std::string::npos);
  REQUIRE(moving.ask("migrate", "2 d") == 0);
  CHECK(moving.answer() == "Rank 2 moves to the node 'd': all ranks start again.\n");
  REQUIRE(moving.ask_until_accepted("migrate", "3 b"));
  REQUIRE(moving.writes_more());
  CHECK_FALSE(moving.has_processes_on("c"));
  moving.ends_well();
}

TEST_CASE("drain: what cannot be is refused in one sentence, and the job goes on", "[system]") {
  adopt_orphans();
  MovingJob moving("localhost:2,b:2", {"--qos", "fault-tolerant"});
  REQUIRE(moving.writes_more());
  CHECK(moving.ask("drain", "b") == 1);
  CHECK(moving.answer().find("that needs DURABILITY TRANSIENT or PERSISTENT") != std::string::npos);
  CHECK(llamada_says("drain no-such-job b", moving.agent.file("answer")) == 2);
  moving.ends_well();
  CHECK(moving.report()["drained_nodes"].empty());
}
