#include <sched.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "job_process.hpp"
#include "node_agent_script.hpp"
#include "test.hpp"

// Jobs on several nodes, which are llamanetds of this host that an agent of the test starts: what a user
// sees.

namespace {

using namespace llamada::system_test;
using Words = std::vector<std::string>;

Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

Words on(const NodeAgentScript& agent, const std::string& hosts, int ranks) {
  return {"-n", std::to_string(ranks), "--host", hosts, "--launcher-exec", agent.path()};
}

struct Ran {
  int code;
  std::string output, errors;
};

Ran run(const Words& words, const std::string& input = {}) {
  Job job(words, input);
  const int code = job.wait();
  return {code, job.output(), job.errors()};
}

std::set<std::string> lines_of(const std::string& text) {
  std::set<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.insert(line);
  return lines;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// One sentence of mpirun, and that.
void check_refused(const Ran& ran, const std::string& sentence) {
  CAPTURE(ran.output, ran.errors);
  CHECK(ran.code == 125);
  CHECK(lines_of_mpirun(ran.errors).size() == 1);
  CHECK(contains(ran.errors, sentence));
}

}  // namespace

TEST_CASE("nodes: ranks run where the hosts' slots are, and their lines name the node", "[system]") {
  const NodeAgentScript agent;
  const std::string script =
      "echo $LLAMADA_RANK of $LLAMADA_SIZE, $MPI_LOCALRANKID of $MPI_LOCALNRANKS in $(pwd)";
  const Ran by_slot = run(on(agent, "b:2,c", 3) + Words{"-l", "-wdir", "/", "sh", "-c", script});
  CAPTURE(by_slot.errors);
  CHECK(by_slot.code == 0);
  CHECK(lines_of(by_slot.output) == std::set<std::string>{"[0@b] 0 of 3, 0 of 2 in /",
                                                          "[1@b] 1 of 3, 1 of 2 in /",
                                                          "[2@c] 2 of 3, 0 of 1 in /"});
  const Ran by_node =
      run(on(agent, "b:2,c", 3) + Words{"--map-by", "node", "-prepend-pattern", "%r%h ", "echo", "x"});
  CHECK(lines_of(by_node.output) == std::set<std::string>{"0b x", "1c x", "2b x"});
}

TEST_CASE("nodes: mpirun's own host is a node without an agent", "[system]") {
  const NodeAgentScript agent("echo \"$1\" >>$(dirname $0)/called");
  const Ran ran = run(on(agent, "localhost:1,b:1", 2) + Words{"sh", "-c", "echo $LLAMADA_RANK"});
  CHECK(ran.code == 0);
  CHECK(lines_of(ran.output) == std::set<std::string>{"0", "1"});
  std::ifstream called(agent.file("called"));
  std::string host, more;
  CHECK((called >> host));
  CHECK(host == "b");
  CHECK_FALSE((called >> more));
}

TEST_CASE("nodes: host files of both spellings, and fork, start the same job", "[system]") {
  const NodeAgentScript agent;
  for (const char* text : {"b slots=1\nc slots=1\n", "b:1\nc:1\n"}) {
    std::ofstream(agent.file("hosts")) << text;
    const Ran ran =
        run({"-n", "2", "-machinefile", agent.file("hosts"), "--launcher", "fork", "-l", "echo", "x"});
    CHECK(lines_of(ran.output) == std::set<std::string>{"[0@b] x", "[1@c] x"});
  }
}

TEST_CASE("nodes: standard input goes to rank 0, wherever that is", "[system]") {
  const NodeAgentScript agent;
  const std::string input(3'000'000, 'i');
  const Ran ran = run(on(agent, "b,localhost", 2) + Words{"sh", "-c", "wc -c"}, input);
  CHECK(ran.code == 0);
  CHECK(lines_of(ran.output) == std::set<std::string>{"0", std::to_string(input.size())});
}

TEST_CASE("nodes: long output of another node comes whole, at the speed of its reader", "[system]") {
  const NodeAgentScript agent;
  const Ran ran = run(on(agent, "localhost,b", 2) +
                      Words{"sh", "-c", "[ $LLAMADA_RANK = 0 ] || head -c 20000000 /dev/zero | tr '\\0' x"});
  CHECK(ran.code == 0);
  CHECK(ran.output.size() == 20'000'000);
}

TEST_CASE("nodes: exit codes and deaths are those of one node, with the rank's host", "[system]") {
  const NodeAgentScript agent;
  const Ran failed = run(on(agent, "localhost,b", 2) + Words{"sh", "-c", "exit $((LLAMADA_RANK * 3))"});
  CHECK(failed.code == 3);
  const Ran killed = run(on(agent, "localhost,b", 2) +
                         Words{"sh", "-c", "[ $LLAMADA_RANK = 1 ] && kill -KILL $$; exec sleep 1000"});
  CHECK(killed.code == 128 + SIGKILL);
  CHECK(contains(killed.errors, "rank 1"));
}

TEST_CASE("nodes: signals and the time limit end the ranks of all nodes", "[system]") {
  const NodeAgentScript agent;
  const Words sleeper = Words{"sh", "-c", "echo up; exec sleep 1000"};
  Job job(on(agent, "localhost,b", 2) + sleeper);
  REQUIRE(wait_for([&] { return job.output() == "up\nup\n"; }));
  REQUIRE(kill(job.pid(), SIGTERM) == 0);
  CHECK(job.wait() == 128 + SIGTERM);
  CHECK(job.wait_until_none_is_left(std::chrono::seconds(60)).empty());
  Job limited(Words{"--timeout", "1"} + on(agent, "localhost,b", 2) + sleeper);
  CHECK(limited.wait() == 124);
  CHECK(limited.wait_until_none_is_left(std::chrono::seconds(60)).empty());
}

TEST_CASE("nodes: the report of a job counts the ranks of all nodes", "[system]") {
  const NodeAgentScript agent;
  const std::string report = agent.file("report.json");
  CHECK(run(Words{"--report", report} + on(agent, "localhost,b", 2) + Words{"true"}).code == 0);
  std::stringstream text;
  text << std::ifstream(report).rdbuf();
  CHECK(contains(text.str(), "\"ranks\": 2"));
}

TEST_CASE("nodes: more ranks than slots are refused, and --oversubscribe allows them", "[system]") {
  const NodeAgentScript agent;
  check_refused(run(on(agent, "b,c", 3) + Words{"true"}), "3 ranks need more than the 2 slots of the hosts");
  CHECK(run(on(agent, "b,c", 3) + Words{"--oversubscribe", "true"}).code == 0);
}

TEST_CASE("nodes: a program or a directory that a node has not is named before any rank runs", "[system]") {
  const NodeAgentScript agent("rm -rf $(dirname $0)/gone");
  const std::string gone = agent.file("gone");
  std::ofstream(gone) << "#!/bin/sh\necho ran\n";
  chmod(gone.c_str(), 0755);
  const Ran program = run(on(agent, "b:2", 2) + Words{gone});
  check_refused(program, "the node 'b': the program " + gone + " does not exist");
  CHECK(program.output.empty());
  mkdir(gone.c_str(), 0755);
  const Ran directory = run(on(agent, "b:2", 2) + Words{"-wdir", gone, "echo", "ran"});
  check_refused(directory, "the node 'b': the working directory " + gone + " does not exist");
  CHECK(directory.output.empty());
}

TEST_CASE("nodes: an agent that fails, or is not there, is named", "[system]") {
  const NodeAgentScript failing("exit 255");
  check_refused(run(on(failing, "localhost,b", 2) + Words{"true"}),
                "ended with exit code 255 before llamanetd there had connected");
  check_refused(run({"-H", "b", "--launcher-exec", "/no/agent", "true"}), "/no/agent");
  const NodeAgentScript without_secret("exec </dev/null");
  const Ran ran = run(on(without_secret, "localhost,b", 2) + Words{"true"});
  CHECK(ran.code == 125);
  CHECK(contains(ran.errors, "the node 'b'"));
}

TEST_CASE("nodes: whoever connects without the secret is not heard", "[system]") {
  // The agent first sends what a stranger would to mpirun's port.
  const NodeAgentScript agent(
      "for port in $(echo \"$*\" | sed 's/.*--port //'); do\n"
      "  address=$(echo \"$*\" | sed 's/.*--coordinator \\([^ ,]*\\).*/\\1/')\n"
      "  bash -c \"exec 3<>/dev/tcp/$address/$port; head -c 64 /dev/urandom >&3; cat <&3 >/dev/null\" || "
      "exit 1\n"
      "  bash -c \"exec 3<>/dev/tcp/$address/$port; echo >&3\" || exit 1\n"
      "done");
  const Ran ran = run(on(agent, "localhost,b", 2) + Words{"echo", "x"});
  CAPTURE(ran.errors);
  CHECK(ran.code == 0);
  CHECK(ran.output == "x\nx\n");
}

TEST_CASE("nodes: --bind-to counts the CPUs of each node, and --report-bindings names the node", "[system]") {
  cpu_set_t own;
  REQUIRE(sched_getaffinity(0, sizeof own, &own) == 0);
  int last = CPU_SETSIZE - 1;
  while (!CPU_ISSET(static_cast<unsigned>(last), &own)) --last;
  const std::string cpu = std::to_string(last);
  const NodeAgentScript agent("taskset -pc " + cpu + " $$ >/dev/null");
  const Ran ran =
      run(on(agent, "localhost,b:2", 3) +
          Words{"-l", "--bind-to", "hwthread", "--report-bindings", "sh", "-c",
                "grep Cpus_allowed_list /proc/self/status | tr '\\t' ' '; echo of $LLAMADA_CPUS"});
  CAPTURE(ran.output, ran.errors);
  CHECK(ran.code == 0);
  const auto lines = lines_of(ran.output);
  for (const std::string rank : {"1", "2"}) {
    CHECK(lines.contains("[" + rank + "@b] Cpus_allowed_list: " + cpu));
    CHECK(lines.contains("[" + rank + "@b] of 1"));
    CHECK(contains(ran.errors, "mpirun: rank " + rank + " on the node '"));
  }
  CHECK(contains(ran.errors, "' is bound to CPUs " + cpu + ".\n"));
  CHECK(contains(ran.errors, "mpirun: rank 0 on the node '"));
}

TEST_CASE("nodes: a host that the agent does not know is named with its line of the host file", "[system]") {
  const NodeAgentScript agent("exit 255");
  const std::string hosts = agent.file("hosts");
  std::ofstream(hosts) << "# two of them\nlocalhost slots=1\nnosuch slots=1\n";
  check_refused(run({"-n", "2", "--hostfile", hosts, "--launcher-exec", agent.path(), "echo", "ran"}),
                "the node 'nosuch' (" + hosts + ":3): its agent ");
}
