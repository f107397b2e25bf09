#include <mpi.h>

#include <numeric>
#include <vector>

#include "object/group.hpp"
#include "object/topology.hpp"
#include "test.hpp"

using namespace llamada::mpi;

namespace {

std::vector<int> members(const Group& group) { return {group.members().begin(), group.members().end()}; }

}  // namespace

TEST_CASE("group: sets keep the order of the first group", "[mpi][group]") {
  const Group first({4, 2, 7}, 2), second({7, 1, 4}, 2);
  CHECK(members(*first.united_with(second)) == std::vector<int>{4, 2, 7, 1});
  CHECK(members(*first.intersected_with(second)) == std::vector<int>{4, 7});
  CHECK(members(*first.without(second)) == std::vector<int>{2});
  CHECK(first.rank() == 1);
  CHECK(second.rank() == MPI_UNDEFINED);
  CHECK(second.rank_of(4) == 2);
}

TEST_CASE("group: compares as identical, similar or unequal", "[mpi][group]") {
  const Group group({0, 1, 2}, 0);
  CHECK(group.compare(Group({0, 1, 2}, 0)) == MPI_IDENT);
  CHECK(group.compare(Group({2, 1, 0}, 0)) == MPI_SIMILAR);
  CHECK(group.compare(Group({0, 1, 3}, 0)) == MPI_UNEQUAL);
  CHECK(group.compare(Group({0, 1}, 0)) == MPI_UNEQUAL);
}

TEST_CASE("group: choosing ranks refuses strangers and doubles", "[mpi][group]") {
  const Group group({5, 6, 7, 8}, 5);
  CHECK(members(**group.including(std::vector{3, 0})) == std::vector<int>{8, 5});
  CHECK(members(**group.excluding(std::vector{3, 0})) == std::vector<int>{6, 7});
  CHECK_FALSE(group.including(std::vector{4}));
  CHECK_FALSE(group.including(std::vector{1, 1}));
  CHECK_FALSE(group.excluding(std::vector{-1}));
}

TEST_CASE("group: ranges expand both ways", "[mpi][group]") {
  std::vector<int> everybody(10);
  std::iota(everybody.begin(), everybody.end(), 0);
  const Group group(everybody, 0);
  const int ranges[][3] = {{0, 5, 2}, {9, 7, -1}};
  CHECK(*group.expand(ranges) == std::vector<int>{0, 2, 4, 9, 8, 7});
  const int still[][3] = {{0, 5, 0}};
  CHECK_FALSE(group.expand(still));
  const int outside[][3] = {{8, 10, 1}};
  CHECK_FALSE(group.expand(outside));
}

TEST_CASE("topology: dimensions are balanced and non-increasing", "[mpi][topology]") {
  const auto filled = [](int nodes, std::vector<int> dimensions) {
    return fill_dimensions(nodes, dimensions) ? dimensions : std::vector<int>{};
  };
  CHECK(filled(6, {0, 0}) == std::vector<int>{3, 2});
  CHECK(filled(7, {0, 0}) == std::vector<int>{7, 1});
  CHECK(filled(6, {0, 3, 0}) == std::vector<int>{2, 3, 1});
  CHECK(filled(24, {0, 0, 0}) == std::vector<int>{4, 3, 2});
  CHECK(filled(36, {0, 0, 0}) == std::vector<int>{4, 3, 3});
  CHECK(filled(1, {0, 0, 0}) == std::vector<int>{1, 1, 1});
  CHECK(filled(7, {0, 3, 0}).empty());
  CHECK(filled(6, {2, 2}).empty());
  CHECK(filled(6, {-2, 0}).empty());
}

TEST_CASE("topology: ranks and coordinates of a grid", "[mpi][topology]") {
  const CartesianTopology grid({3, 4}, {true, false});
  CHECK(grid.size() == 12);
  CHECK(grid.coordinates(6) == std::vector<int>{1, 2});
  CHECK(*grid.rank(std::vector{1, 2}) == 6);
  CHECK(*grid.rank(std::vector{-2, 2}) == 6);
  CHECK_FALSE(grid.rank(std::vector{1, 4}));
  CHECK(grid.neighbour(2, 0, -1) == 10);
  CHECK(grid.neighbour(3, 1, 1) == MPI_PROC_NULL);
  CHECK(grid.neighbour(3, 1, -3) == 0);
}
