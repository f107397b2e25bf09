#include "world_placement.hpp"

#include "test.hpp"

// Two nodes, of which "a" is mpirun's own; both call themselves "host", as two llamanetds of one machine do.

using namespace llamada;
using namespace llamada::launcher;

namespace {

using Nodes = std::vector<std::uint32_t>;

SpawnCommand command(std::uint32_t count, const std::string& host = {}) {
  SpawnCommand command;
  command.process_count = count;
  command.program = "worker";
  command.host = host;
  return command;
}

struct Job {
  control::Start start;
  std::vector<std::string> hosts{"host.domain", "host.domain"};
  Nodes used{1, 0};
  Nodes lost;

  Job() {
    start.nodes = {{"a", {}, 2, 0}, {"b", {"ssh"}, 2, 0}};
    start.node_of_rank = {0};
  }
  Nodes placed(const std::vector<SpawnCommand>& commands) const {
    auto nodes = place_world(commands, {start, hosts, used, lost});
    REQUIRE(nodes);
    return *nodes;
  }
  Error refused(const std::vector<SpawnCommand>& commands) const {
    auto nodes = place_world(commands, {start, hosts, used, lost});
    REQUIRE_FALSE(nodes);
    return nodes.error();
  }
};

}  // namespace

TEST_CASE("world placement: ranks go to free slots first, in mpirun's order", "[launcher]") {
  Job job;
  CHECK(job.placed({command(3)}) == Nodes{0, 1, 1});
  CHECK(job.placed({command(2), command(1)}) == Nodes{0, 1, 1});
  job.start.deals_by_node = 1;
  CHECK(job.placed({command(3)}) == Nodes{0, 1, 1});
  job.used = {0, 0};
  CHECK(job.placed({command(3)}) == Nodes{0, 1, 0});
}

TEST_CASE("world placement: more ranks than slots go round all nodes", "[launcher]") {
  Job job;
  job.used = {2, 2};
  CHECK(job.placed({command(4)}) == Nodes{0, 0, 1, 1});
  job.start.deals_by_node = 1;
  CHECK(job.placed({command(4)}) == Nodes{0, 1, 0, 1});
  job.start.nodes[0].max_slots = 3;
  CHECK(job.placed({command(4)}) == Nodes{0, 1, 1, 1});
  job.start.nodes[1].max_slots = 2;
  CHECK(job.refused({command(4)}).code() == Errc::out_of_resources);
}

TEST_CASE("world placement: the info key host names nodes, and how many ranks each is for", "[launcher]") {
  Job job;
  CHECK(job.placed({command(2, "b")}) == Nodes{1, 1});
  CHECK(job.placed({command(3, "b:1,a:2")}) == Nodes{1, 0, 0});
  CHECK(job.placed({command(4, "b")}) == Nodes{1, 1, 1, 1});
  CHECK(job.placed({command(1, "b"), command(1, "a")}) == Nodes{1, 0});
  CHECK(job.placed({command(1, "localhost")}) == Nodes{0});
  CHECK(job.placed({command(1, "host")}) == Nodes{0});
  CHECK(job.placed({command(1, "host.domain")}) == Nodes{0});
  CHECK(job.refused({command(1, "c")}).text() ==
        "worker cannot be started on the host 'c': the job runs on a, b");
  CHECK(job.refused({command(1, "b:none")}).code() == Errc::invalid_argument);
}

TEST_CASE("world placement: mpirun's own host is no node if no rank runs there", "[launcher]") {
  Job job;
  job.start.nodes[0].agent = {"ssh"};
  CHECK(job.refused({command(1, "localhost")}).code() == Errc::not_found);
}

TEST_CASE("world placement: in a job on one node all ranks are there", "[launcher]") {
  Job job;
  job.start = {};
  job.hosts = {"here.example"};
  job.used = {1};
  for (const char* own : {"", "here", "here.example", "localhost", "127.0.0.1"})
    CHECK(job.placed({command(2, own), command(1)}) == Nodes{0, 0, 0});
  CHECK(job.refused({command(1, "there")}).text() ==
        "worker cannot be started on the host 'there': the job runs on here.example");
}

TEST_CASE("world placement: nothing is placed on a lost node", "[launcher]") {
  Job job;
  job.lost = {1};
  CHECK(job.placed({command(3)}) == Nodes{0, 0, 0});
  CHECK(job.refused({command(1, "b")}).text() ==
        "worker cannot be started on the host 'b': this node is lost");
}
