#include <span>
#include <string>
#include <vector>

#include "coll/ways.hpp"
#include "test.hpp"

// The tables that say which machine carries out a collective: each row is named here, with a call that takes
// it.

using namespace llamada::mpi::coll;

namespace {

struct Sample {
  std::string condition;  ///< of the row that decides
  Way way;
  Facts facts;
};

constexpr std::size_t kib = 1024, mib = 1024 * 1024;

Facts call(int members, std::size_t bytes) {
  Facts facts;
  facts.members = members;
  facts.bytes = bytes;
  facts.share_bytes = bytes / static_cast<std::size_t>(members);
  facts.is_nothing = bytes == 0;
  return facts;
}
Facts nonblocking(Facts facts) {
  facts.is_blocking = false;
  return facts;
}
Facts kept(Facts facts) {
  facts.may_be_direct = false;
  return facts;
}
Facts between_groups(Facts facts) {
  facts.between_groups = true;
  return facts;
}
Facts with_gaps(Facts facts) {
  facts.is_plain = false;
  return facts;
}
Facts at_root(Facts facts) {
  facts.is_root = true;
  return facts;
}

std::string deciding_row(std::span<const Row> rows, const Facts& facts) {
  for (const Row& row : rows)
    if (row.holds(facts)) return row.condition;
  return "none";
}

/// Each sample takes the row that it names, and the samples name all rows.
template <const auto& rows>
void check(const std::vector<Sample>& samples) {
  std::vector<std::string> left;
  for (const Row& row : rows) left.emplace_back(row.condition);
  for (const auto& [condition, way, facts] : samples) {
    CAPTURE(condition, facts.members, facts.bytes);
    CHECK(deciding_row(rows, facts) == condition);
    CHECK(choose<rows>(facts) == way);
    std::erase(left, condition);
  }
  CHECK(left == std::vector<std::string>());
}

}  // namespace

TEST_CASE("ways: barrier", "[mpi][coll]") {
  check<barrier_ways>({{"blocking, within a group", Way::small, call(3, 0)},
                       {"else", Way::logs, nonblocking(call(3, 0))},
                       {"else", Way::logs, between_groups(call(3, 0))}});
}

TEST_CASE("ways: broadcast", "[mpi][coll]") {
  check<bcast_ways>({{"a small part", Way::small, call(2, 1)},
                     {"a small part", Way::small, kept(call(5, small_bytes_max))},
                     {"no bytes", Way::nothing, call(2, 0)},
                     {"two members, a large part", Way::direct, call(2, 64 * kib)},
                     {"two members, a large part", Way::direct, nonblocking(call(2, mib))},
                     {"else", Way::logs, call(2, 64 * kib - 1)},
                     {"else", Way::logs, call(3, mib)},
                     {"else", Way::logs, kept(call(2, mib))},
                     {"else", Way::logs, call(2, small_bytes_max + 1)},
                     {"else", Way::logs, with_gaps(call(2, 1))},
                     {"else", Way::logs, nonblocking(call(2, 1))},
                     {"else", Way::logs, between_groups(call(2, mib))},
                     {"else", Way::logs, call(1, mib)}});
}

TEST_CASE("ways: gather", "[mpi][coll]") {
  check<gather_ways>({{"small parts", Way::small, at_root(call(4, 8))},
                      {"no bytes", Way::nothing, call(4, 0)},
                      {"large parts", Way::direct, call(2, 64 * kib)},
                      {"large parts", Way::direct, call(4, 512 * kib)},
                      {"large parts", Way::direct, call(5, 128 * kib)},
                      {"else", Way::logs, call(4, 512 * kib - 1)},
                      {"else", Way::logs, kept(call(4, mib))}});
  check<gatherv_ways>({{"a large part, not the root", Way::lent, call(4, 512 * kib)},
                       {"else", Way::logs, at_root(call(4, mib))},
                       {"else", Way::logs, kept(call(4, mib))},
                       {"else", Way::logs, call(4, 8)}});
}

TEST_CASE("ways: scatter", "[mpi][coll]") {
  check<scatter_ways>({{"small parts; at the root, two members", Way::small, call(3, 8)},
                       {"small parts; at the root, two members", Way::small, at_root(call(2, 8))},
                       {"no bytes", Way::nothing, call(3, 0)},
                       {"large parts", Way::direct, call(2, 64 * kib)},
                       {"large parts", Way::direct, call(3, 128 * kib)},
                       {"else", Way::logs, at_root(call(3, 8))},
                       {"else", Way::logs, call(3, 64 * kib)}});
  check<scatterv_ways>({{"parts may be lent", Way::lent, call(3, 8)},
                        {"else", Way::logs, kept(call(3, mib))},
                        {"else", Way::logs, between_groups(call(3, mib))}});
}

TEST_CASE("ways: allgather", "[mpi][coll]") {
  check<allgather_ways>({{"small parts", Way::small, call(3, 8)},
                         {"no bytes", Way::nothing, call(3, 0)},
                         {"large parts", Way::direct, call(2, 64 * kib)},
                         {"large parts", Way::direct, call(3, 512 * kib)},
                         {"else", Way::logs, call(3, 64 * kib)}});
  check<allgatherv_ways>({{"two members, a large part", Way::lent, call(2, 64 * kib)},
                          {"else", Way::logs, call(3, mib)},
                          {"else", Way::logs, kept(call(2, mib))}});
}

TEST_CASE("ways: alltoall", "[mpi][coll]") {
  check<alltoall_ways>({{"small parts, two members", Way::small, call(2, 8)},
                        {"parts that are small all together", Way::together, call(4, 8)},
                        {"no bytes", Way::nothing, call(4, 0)},
                        {"three or four members, parts may be lent", Way::lent, call(4, small_bytes_max)},
                        {"three or four members, parts may be lent", Way::lent, call(3, mib)},
                        {"large parts", Way::direct, call(2, 64 * kib)},
                        {"large parts", Way::direct, call(5, 128 * kib)},
                        {"else", Way::logs, call(5, 64 * kib)},
                        {"else", Way::logs, kept(call(4, mib))}});
  check<alltoallv_ways>(
      {{"parts may be lent", Way::lent, call(2, 8)}, {"else", Way::logs, kept(call(2, 8))}});
}

TEST_CASE("ways: reduce", "[mpi][coll]") {
  check<reduce_ways>(
      {{"a small contribution", Way::small, call(4, 8)},
       {"no bytes, within a group", Way::nothing, call(4, 0)},
       {"three members or more, a large contribution", Way::direct, call(3, 512 * kib)},
       {"little data, few members, or between groups", Way::at_root, call(2, mib)},
       {"little data, few members, or between groups", Way::at_root, call(8, 32 * kib)},
       {"little data, few members, or between groups", Way::at_root, with_gaps(call(8, 8))},
       {"little data, few members, or between groups", Way::at_root, between_groups(call(8, mib))},
       {"little data, few members, or between groups", Way::at_root, between_groups(call(8, 0))},
       {"else", Way::segments, call(8, 32 * kib + 1)},
       {"else", Way::segments, kept(call(8, mib))}});
  check<allreduce_ways>({{"a small contribution", Way::small, call(4, 8)},
                         {"no bytes, within a group", Way::nothing, call(4, 0)},
                         {"little data, or between groups", Way::everywhere, call(4, 8 * kib)},
                         {"little data, or between groups", Way::everywhere, between_groups(call(4, mib))},
                         {"little data, or between groups", Way::everywhere, call(1, mib)},
                         {"else", Way::segments, call(2, 8 * kib + 1)}});
}

TEST_CASE("ways: reduce_scatter and scan", "[mpi][coll]") {
  check<reduce_scatter_ways>({{"a small contribution", Way::small, call(4, 8)},
                              {"no bytes", Way::nothing, between_groups(call(4, 0))},
                              {"three members or more, a large share", Way::direct, call(4, 512 * kib)},
                              {"three members or more, a large share", Way::direct, call(5, 5 * 512 * kib)},
                              {"else", Way::logs, call(2, 4 * mib)},
                              {"else", Way::logs, call(5, 512 * kib)}});
  check<scan_ways>({{"no bytes", Way::nothing, call(4, 0)}, {"else", Way::everywhere, call(4, mib)}});
}
