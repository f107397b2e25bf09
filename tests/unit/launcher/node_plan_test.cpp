#include "node_plan.hpp"

#include <sys/stat.h>

#include <fstream>

#include "temporary_folder.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::launcher;

namespace {

const PlanningHost here{"node7", {"10.0.0.7"}, "/usr/bin:/bin", "/opt/my llamada/llamanetd"};

Options options_of(std::uint32_t rank_count, std::vector<HostEntry> hosts) {
  Options options;
  options.rank_count = rank_count;
  if (!hosts.empty()) options.nodes.host_lists.push_back(std::move(hosts));
  options.nodes.launcher_exec = "/bin/sh -e";
  return options;
}
NodePlan planned(const Options& options) {
  auto plan = plan_nodes(options, here);
  REQUIRE(plan);
  return *plan;
}
std::string refused(const Options& options) {
  const auto plan = plan_nodes(options, here);
  REQUIRE_FALSE(plan);
  return plan.error().text();
}
bool contains(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE("node plan: ranks on this machine only need no nodes, and no slots", "[launcher]") {
  CHECK(planned(options_of(4, {})).nodes.empty());
  CHECK(planned(options_of(4, {{"localhost", 1, {}}, {"node7", 1, {}}})).nodes.empty());
  CHECK(planned(options_of(4, {{"localhost", 4, {}}, {"b", 4, {}}})).nodes.empty());
}

TEST_CASE("node plan: this machine is one node, whatever it is called, and others have an agent",
          "[launcher]") {
  const NodePlan plan = planned(options_of(4, {{"127.0.0.1", 1, {}}, {"b", 2, {}}, {"node7", 1, {}}}));
  REQUIRE(plan.nodes.size() == 2);
  CHECK(plan.nodes[0] == control::Node{"node7", {}, 2});
  CHECK(plan.nodes[1] == control::Node{"b", {"/bin/sh", "-e", "b", "'/opt/my llamada/llamanetd'"}, 2});
  CHECK(plan.node_of_rank == std::vector<std::uint32_t>{0, 0, 1, 1});
}

TEST_CASE("node plan: a host without ranks is a node only of a job that may spawn", "[launcher]") {
  const Options options = options_of(1, {{"localhost", 1, {}}, {"b", 2, 4}});
  CHECK(planned(options).nodes.empty());
  const auto plan = plan_nodes(options, here, true);
  REQUIRE(plan);
  REQUIRE(plan->nodes.size() == 2);
  CHECK(plan->nodes[1].name == "b");
  CHECK(plan->nodes[1].slots == 2);
  CHECK(plan->nodes[1].max_slots == 4);
  CHECK(plan->node_of_rank == std::vector<std::uint32_t>{0});
}

TEST_CASE("node plan: fork starts every host's llamanetd on this machine", "[launcher]") {
  Options options = options_of(1, {{"b", 1, {}}});
  options.nodes.launcher_exec.clear();
  options.nodes.launcher = "fork";
  CHECK(planned(options).nodes.at(0) == control::Node{"b", {here.llamanetd}});
}

TEST_CASE("node plan: what cannot be done is said in one sentence", "[launcher]") {
  CHECK(contains(refused(options_of(4, {{"b", 2, {}}})), "the 2 slots of the hosts"));
  Options options = options_of(1, {{"b", 1, {}}});
  options.nodes.launcher_exec = "no-such-agent";
  CHECK(contains(refused(options), "no-such-agent"));
  options.nodes.launcher_exec.clear();
  options.nodes.launcher = "pbs";
  CHECK(contains(refused(options), "'pbs'"));
  options.nodes.launcher = "fork";
  options.nodes.host_lists.push_back({{"c", 1, {}}});
  CHECK(contains(refused(options), "one list"));
}

TEST_CASE("node plan: in a job of Slurm its nodes are the hosts, and srun starts what runs there",
          "[launcher]") {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "srun") << "#!/bin/sh\n";
  chmod((folder / "srun").c_str(), 0755);
  PlanningHost in_slurm = here;
  in_slurm.path = folder.path();
  in_slurm.slurm = {"node[7-9]", "1,2(x2)", "4(x3)"};
  Options options = options_of(5, {});
  options.nodes.launcher_exec.clear();
  const auto plan = plan_nodes(options, in_slurm);
  REQUIRE(plan);
  REQUIRE(plan->nodes.size() == 3);
  CHECK(plan->nodes[0] == control::Node{"node7", {}});
  CHECK(plan->nodes[2].agent.front() == folder / "srun");
  CHECK(plan->nodes[2].agent.at(plan->nodes[2].agent.size() - 2) == "--nodelist=node9");
  CHECK(plan->nodes[2].agent.back() == here.llamanetd);
  CHECK(plan->node_of_rank == std::vector<std::uint32_t>{0, 1, 1, 2, 2});
  // Slurm may have names of its own for hosts.
  in_slurm.name = "other";
  in_slurm.slurm.own_node = "node9";
  CHECK(plan_nodes(options, in_slurm)->nodes[2] == control::Node{"other", {}, 2});
  in_slurm.name = here.name;
  in_slurm.slurm.own_node.clear();
  // What the user says goes before it.
  options.nodes.host_lists = {{{"b", 5, {}}}};
  CHECK(plan_nodes(options, in_slurm)->nodes.at(0).name == "b");
  options.nodes.host_lists.clear();
  in_slurm.slurm.nodes = "node[7-";
  CHECK(contains(plan_nodes(options, in_slurm).error().text(), "SLURM_JOB_NODELIST"));
  in_slurm.slurm = {"node7", "1", ""};
  CHECK(plan_nodes(options, in_slurm)->nodes.empty());
}

TEST_CASE("node plan: a path with blanks is one program, other texts are words", "[launcher]") {
  const test::TemporaryFolder folder;
  const std::string agent = folder / "an agent";
  std::ofstream(agent) << "#!/bin/sh\n";
  chmod(agent.c_str(), 0755);
  Options options = options_of(1, {{"b", 1, {}}});
  options.nodes.launcher_exec = agent;
  CHECK(planned(options).nodes.at(0).agent.at(0) == agent);
}

TEST_CASE("node plan: words are quoted as a shell reads them", "[launcher]") {
  CHECK(shell_word("/usr/bin/llamanetd") == "/usr/bin/llamanetd");
  CHECK(shell_word("it's") == "'it'\\''s'");
  CHECK(shell_word("") == "''");
}

TEST_CASE("node plan: hosts without ranks are spares, and --spares keeps ranks from the last ones",
          "[launcher]") {
  Options options = options_of(2, {{"localhost", 1, {}}, {"b", 1, {}}, {"c", 2, {}}, {"d", 2, {}}});
  CHECK(planned(options).spares.size() == 2);
  CHECK(planned(options).spares[0] ==
        control::Node{"c", {"/bin/sh", "-e", "c", "'/opt/my llamada/llamanetd'"}, 2});
  options.rank_count = 4;
  options.nodes.spare_count = 1;
  const NodePlan plan = planned(options);
  CHECK(plan.nodes.size() == 3);
  REQUIRE(plan.spares.size() == 1);
  CHECK(plan.spares[0].name == "d");
  options.rank_count = 5;
  CHECK(contains(refused(options), "5"));
  options.nodes.spare_count = 4;
  CHECK(refused(options) == "--spares 4 leaves no host for the ranks: only 4 are named");
}
