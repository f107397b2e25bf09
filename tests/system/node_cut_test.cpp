#include <fstream>
#include <sstream>

#include "resumed_job.hpp"
#include "test.hpp"

// The network between nodes is cut by rules of --inject: what is short costs nothing but time, and of nodes
// that do not reach each other for long one is given up (tests/mpi/resumed.c says what the output must be).

namespace {

using namespace llamada;
using namespace llamada::system_test;

/// The profile node-fault-tolerant with a short lease.
std::string profile_with_lease(const NodeAgentScript& agent) {
  std::ifstream file(LLAMADA_PROFILES "/node-fault-tolerant.xml");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  for (const std::string element : {"<datawriter_qos>", "<datareader_qos>"})
    text.insert(
        text.find(element) + element.size(),
        "<liveliness><kind>AUTOMATIC</kind><lease_duration><sec>4</sec></lease_duration></liveliness>");
  std::ofstream(agent.file("profile.xml")) << text;
  return agent.file("profile.xml");
}

constexpr int steps = 500;
constexpr const char* hosts = "localhost:2,b:1,c:1,d:1";

}  // namespace

TEST_CASE("node cut: a cut that is shorter than a lease costs nothing but time", "[system]") {
  adopt_orphans();
  const NodeAgentScript agent;
  for (const std::string rule :
       {"cut node b after 300 ms for 1 s", "cut b from c one way after 300 ms for 1 s"}) {
    CAPTURE(rule);
    Job job(job_of(agent, hosts, steps, {"--inject", rule}));
    CHECK(job.wait() == 0);
    CAPTURE(job.errors());
    CHECK(says(job, "mpirun: --inject '" + rule + "' cuts the network of the node 'b' now.\n"));
    CHECK(says(job, "mpirun: the cut by --inject '" + rule + "' is over.\n"));
    CHECK_FALSE(says(job, " is lost: "));
    CHECK(is_whole(job.output(), steps));
    CHECK(names_left(job) == "");
  }
}

TEST_CASE("node cut: of nodes that do not reach each other for long one is given up", "[system]") {
  adopt_orphans();
  const std::pair<std::string, std::string> cases[] = {
      {"cut node b after 300 ms", "mpirun: the node 'b' is lost: "},
      {"cut localhost from b after 300 ms for 1000 s", "mpirun: the node 'b' is lost: "},
      {"cut b from c after 300 ms",
       "mpirun: the node 'c' is lost: it and the node 'b' have not heard each other for "},
      {"cut c from b one way after 300 ms",
       "mpirun: the node 'c' is lost: it and the node 'b' have not heard "},
  };
  for (const auto& [rule, sentence] : cases) {
    const NodeAgentScript agent;
    CAPTURE(rule);
    Job job(job_of(agent, hosts, steps, {"--qos", profile_with_lease(agent), "--inject", rule}));
    CHECK(job.wait() == 0);
    CAPTURE(job.errors());
    CHECK(says(job, sentence));
    CHECK(is_whole(job.output(), steps));
    CHECK(names_left(job) == "");
    reap_orphans();
  }
}

TEST_CASE("node cut: rules that cannot be are refused in one sentence", "[system]") {
  adopt_orphans();
  const NodeAgentScript agent;
  const auto refused = [&](const std::string& rule, const std::vector<std::string>& options) {
    std::vector<std::string> words{"--inject", rule};
    words.insert(words.end(), options.begin(), options.end());
    Job job(job_of(agent, hosts, steps, words));
    CHECK(job.wait() == 125);
    return job.errors();
  };
  CHECK(refused("cut node x", {}).find("the job has no node 'x'") != std::string::npos);
  CHECK(refused("cut b from b", {}).find("a node cannot be cut off itself") != std::string::npos);
  CHECK(refused("cut node b", {"--link", "ethernet"}).find("raw Ethernet cannot be cut") !=
        std::string::npos);
}
