#include "llamada/launcher/slurm_allocation.hpp"

#include "test.hpp"

using namespace llamada;
using namespace llamada::launcher;

namespace {

using Names = std::vector<std::string>;

Names nodes(std::string_view text) {
  auto read = parse_slurm_nodes(text);
  INFO(text);
  REQUIRE(read);
  return *read;
}

std::string refused(const SlurmAllocation& allocation) {
  const auto hosts = hosts_of_slurm(allocation);
  REQUIRE_FALSE(hosts);
  return hosts.error().text();
}

}  // namespace

TEST_CASE("Slurm's lists of nodes", "[launcher]") {
  CHECK(nodes("n1") == Names{"n1"});
  CHECK(nodes("n1,m2") == Names{"n1", "m2"});
  CHECK(nodes("n[1-3]") == Names{"n1", "n2", "n3"});
  CHECK(nodes("n[08-11,2],login") == Names{"n08", "n09", "n10", "n11", "n2", "login"});
  CHECK(nodes("r[0-1]n[1,3]-ib") == Names{"r0n1-ib", "r0n3-ib", "r1n1-ib", "r1n3-ib"});
  CHECK(nodes("n[0-4095]").size() == 4096);
  for (const char* text : {"", ",", "n1,", "n[", "n[]", "n[1-", "n[3-1]", "n[a]", "n[1-2", "n[0-4096]",
                           "n[0-99][0-99]", "n[0-4095],m", "n[1-99999999999]", "n[-1]"}) {
    INFO(text);
    CHECK_FALSE(parse_slurm_nodes(text));
  }
}

TEST_CASE("Slurm's allocation has slots for the planned tasks, or else for the CPUs", "[launcher]") {
  using Hosts = std::vector<HostEntry>;
  CHECK(hosts_of_slurm({"n[1-3]", "2(x2),1", "8(x3)"}).value() ==
        Hosts{{"n1", 2, {}}, {"n2", 2, {}}, {"n3", 1, {}}});
  CHECK(hosts_of_slurm({"n[1-2]", "", "8,4"}).value() == Hosts{{"n1", 8, {}}, {"n2", 4, {}}});
  CHECK(refused({"n[1-2]", "", ""}).find("with --host") != std::string::npos);
  CHECK(refused({"n[1-2]", "2", ""}) ==
        "SLURM_JOB_NODELIST 'n[1-2]' has 2 nodes, and SLURM_TASKS_PER_NODE '2' is for 1");
  CHECK(refused({"n[1-", "2", ""}) ==
        "SLURM_JOB_NODELIST is 'n[1-', which cannot be read: ']' is missing in 'n[1-'");
  for (const char* counts : {"x", "2(x2", "2(x)", "2(x2)3", "2,", "-1", "2(x99999)", "9999999"}) {
    INFO(counts);
    CHECK(refused({"n[1-2]", counts, ""}).starts_with("SLURM_TASKS_PER_NODE"));
  }
}
