#include "rank_environment.hpp"

#include <algorithm>

#include "test.hpp"

using namespace llamada::launcher;

TEST_CASE("environment: a rank has the user's variables and its own", "[launcher]") {
  control::Start job;
  job.environment = {"A=1", "LLAMADA_RANKS=x", "PMI_RANK=77", "LD_LIBRARY_PATH=/lib"};
  job.crash_point_library_directory = "/crash";
  JobWorld world;
  world.number = 2;
  world.first = 4;
  world.count = 3;
  const auto environment = environment_of_rank({job, world, 5, 99, {}, true, true});
  CHECK(environment[0] == "A=1");
  CHECK(environment[1] == "LLAMADA_RANKS=x");
  CHECK(environment[2] == "PMI_RANK=1");  // in its old place
  CHECK(variable_in(environment, "LD_LIBRARY_PATH") == "/crash:/lib");
  CHECK(variable_in(environment, "LLAMADA_RANK") == "5");
  CHECK(variable_in(environment, "LLAMADA_SIZE") == "3");
  CHECK(variable_in(environment, "LLAMADA_FIRST") == "4");
  CHECK(variable_in(environment, "LLAMADA_TOKEN") == "99");
  CHECK(variable_in(environment, "LLAMADA_RECORD") == "1");
  CHECK(variable_in(environment, "GLIBC_TUNABLES") == "glibc.malloc.hugetlb=1");
  CHECK(variable_in(environment, "LLAMADA_CPUS").empty());
  CHECK(variable_in(environment, "LLAMADA_DRIVER").empty());  // the node's
}

TEST_CASE("environment: the local rank is that on the node", "[launcher]") {
  control::Start job;
  job.rank_count = 3;
  job.node_of_rank = {0, 1, 1};
  JobWorld world;
  world.count = 3;
  const auto environment = environment_of_rank({job, world, 2, 99, {}, false, false});
  CHECK(variable_in(environment, "OMPI_COMM_WORLD_RANK") == "2");
  CHECK(variable_in(environment, "OMPI_COMM_WORLD_LOCAL_RANK") == "1");
  CHECK(variable_in(environment, "MPI_LOCALNRANKS") == "2");
  job.node_of_rank.clear();
  CHECK(variable_in(environment_of_rank({job, world, 2, 99, {}, false, false}), "MPI_LOCALRANKID") == "2");
}

TEST_CASE("environment: a variable is known by its whole name", "[launcher]") {
  std::vector<std::string> environment{"AB=1", "A=2"};
  set_variable(environment, "A", "3");
  CHECK(environment == std::vector<std::string>{"AB=1", "A=3"});
  CHECK(variable_in(environment, "A") == "3");
  CHECK(variable_in(environment, "B").empty());
}
