#include "job_restart.hpp"

#include "test.hpp"

using namespace llamada;
using namespace llamada::launcher;

namespace {

/// Nodes a (mpirun's own), b and c, with two ranks each; b and c have room for more.
control::Start job_on_three() {
  control::Start job;
  job.nodes = {{"a", {}, 2}, {"b", {"ssh", "b"}, 4}, {"c", {"ssh", "c"}, 3}};
  job.node_of_rank = {0, 0, 1, 1, 2, 2};
  return job;
}

}  // namespace

TEST_CASE("job restart: the ranks of a lost node go to a spare host", "[launcher]") {
  control::Start job = job_on_three();
  job.spares = {{"d", {"ssh", "d"}, 2}, {"e", {"ssh", "e"}, 2}};
  REQUIRE(replace_nodes(job, {1}, "/bin/llamanetd"));
  CHECK(job.nodes[1] == control::Node{"d", {"ssh", "d"}, 2});
  REQUIRE(job.spares.size() == 1);
  CHECK(job.spares[0].name == "e");
  CHECK(job.node_of_rank == job_on_three().node_of_rank);
}

TEST_CASE("job restart: without a spare they go to the host with most room", "[launcher]") {
  control::Start job = job_on_three();
  REQUIRE(replace_nodes(job, {2}, "/bin/llamanetd"));
  CHECK(job.nodes[2] == control::Node{"b", {"ssh", "b"}, 4});
  // Which has none left now.
  REQUIRE(replace_nodes(job, {1, 2}, "/bin/llamanetd"));
  CHECK(job.nodes[1] == control::Node{"a", {"/bin/llamanetd"}, 2});
  CHECK(job.nodes[2] == control::Node{"a", {"/bin/llamanetd"}, 2});
  CHECK(job.nodes[0].agent.empty());
}

TEST_CASE("job restart: nothing changes where no host is left", "[launcher]") {
  control::Start job;
  job.nodes = {{"b", {"ssh", "b"}, 2}};
  job.node_of_rank = {0, 0};
  const control::Start before = job;
  CHECK_FALSE(replace_nodes(job, {0}, "/bin/llamanetd"));
  CHECK(job == before);
}

TEST_CASE("job restart: a host that is left has no ranks, though several nodes were on it", "[launcher]") {
  control::Start job = job_on_three();
  job.spares = {{"b", {"ssh", "b"}, 4}, {"d", {"ssh", "d"}, 2}};
  job.nodes[2] = job.nodes[1];
  CHECK(nodes_on_host(job, "b") == std::vector<std::uint32_t>{1, 2});
  CHECK(nodes_on_host(job, "x").empty());
  REQUIRE(replace_nodes(job, {1, 2}, "/bin/llamanetd"));
  CHECK(job.nodes[1].name == "d");
  CHECK(job.nodes[2].name == "a");
  CHECK(job.spares.empty());
}

TEST_CASE("job restart: mpirun's own host can be left", "[launcher]") {
  control::Start job = job_on_three();
  REQUIRE(replace_nodes(job, {0}, "/bin/llamanetd"));
  CHECK(job.nodes[0].name == "b");
  CHECK_FALSE(job.nodes[0].agent.empty());
}

TEST_CASE("job restart: no host gets more ranks than max_slots", "[launcher]") {
  control::Start job = job_on_three();
  job.nodes[1].max_slots = 4;
  job.nodes[2].max_slots = 3;
  job.spares = {{"d", {"ssh", "d"}, 1, 1}};
  REQUIRE(replace_nodes(job, {0}, "/bin/llamanetd"));
  CHECK(job.nodes[0].name == "b");
  CHECK(job.spares.size() == 1);
  CHECK_FALSE(replace_nodes(job, {2}, "/bin/llamanetd"));
}

TEST_CASE("job restart: hosts are listed once, with the spares", "[launcher]") {
  control::Start job = job_on_three();
  job.nodes[2] = job.nodes[1];
  CHECK(hosts_text(job) == "a, b");
  job.spares = {{"d", {"ssh", "d"}, 1}};
  CHECK(hosts_text(job) == "a, b and the spare d");
  job.spares.push_back({"e", {"ssh", "e"}, 1});
  CHECK(hosts_text(job) == "a, b and the spares d, e");
}

TEST_CASE("job restart: a rank moves to a spare or to another host, and its own becomes a spare",
          "[launcher]") {
  control::Start job = job_on_three();
  job.nodes[2].max_slots = 3;
  job.spares = {{"d", {"ssh", "d"}, 2}};
  REQUIRE(plan_restart(job, {}, {{1, "d"}}, "/bin/llamanetd"));
  CHECK(job.nodes[1].name == "d");
  REQUIRE(job.spares.size() == 1);
  CHECK(job.spares[0].name == "b");
  REQUIRE(move_node(job, {1, "a"}, "/bin/llamanetd"));
  CHECK(job.nodes[1] == control::Node{"a", {"/bin/llamanetd"}, 2});
  CHECK(job.spares.size() == 2);
  const control::Start before = job;
  CHECK_FALSE(move_node(job, {1, "x"}, "/bin/llamanetd"));
  CHECK_FALSE(move_node(job, {1, "c"}, "/bin/llamanetd"));
  CHECK(job == before);
  // A move from a node that has been lost meanwhile, or to one, is forgotten.
  REQUIRE(plan_restart(job, {2}, {{2, "a"}, {0, "c"}}, "/bin/llamanetd"));
  CHECK(job.nodes[2].name == "b");
  CHECK(job.nodes[0].name == "a");
}
