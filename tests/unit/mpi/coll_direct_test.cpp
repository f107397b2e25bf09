#include "coll/direct.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstring>

#include "coll/algorithms.hpp"
#include "coll/direct_movement.hpp"
#include "coll/direct_reduction.hpp"
#include "coll/small.hpp"
#include "coll_numbers.hpp"
#include "coll_ranks.hpp"
#include "world/peer_memory.hpp"

using namespace llamada;
using namespace llamada::mpi;
using namespace llamada::mpi::coll;
using namespace llamada::mpi::coll::testing;

namespace {

/// Around pages, around what the library takes as the switch points, and around the pieces of a reduction.
const std::vector<std::size_t> sizes = {1, 8, 4095, 4097, 65528, 65536, 65544, 131'080, 300'008};

Data data_of(std::vector<std::byte>& bytes) { return Data::of(std::span<const std::byte>(bytes)); }
Parts parts_of(std::vector<std::byte>& bytes, std::size_t each) {
  return {Data::of(std::span<const std::byte>(bytes.data(), each)), static_cast<std::ptrdiff_t>(each)};
}

/// What all members give, one behind the other.
std::vector<std::byte> all_patterns(int size, int salt, std::size_t bytes) {
  std::vector<std::byte> all;
  for (int rank = 0; rank < size; ++rank) {
    const auto part = pattern(rank, salt, bytes);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

/// Runs a machine as a collective that may be direct, and says whether it was.
template <typename Make>
bool run_directly(Rank& rank, Kind kind, Make make) {
  bool was_direct = false;
  DirectIfPossible machine(
      rank.channel, kind, 0,
      [&](Channel& channel) {
        was_direct = true;
        return make(channel);
      },
      [&](Channel& channel) { return std::make_unique<Barrier>(channel); });
  return bool(run(rank.channel, rank.waiter, machine)) && was_direct;
}

bool broadcast_directly(Rank& rank, const Data& data, int root) {
  const Parts parts(data, 0);
  return run_directly(rank, Kind::bcast, [&](Channel& channel) {
    return std::make_unique<DirectRooted>(channel, Kind::bcast, DirectRooted::Direction::from_root, data,
                                          parts, root, true);
  });
}

bool gather_directly(Rank& rank, const Data& own, const Parts& parts, int root, bool in_place) {
  return run_directly(rank, Kind::gather, [&](Channel& channel) {
    return std::make_unique<DirectRooted>(channel, Kind::gather, DirectRooted::Direction::to_root, own, parts,
                                          root, in_place);
  });
}

bool scatter_directly(Rank& rank, const Data& own, const Parts& parts, int root, bool in_place) {
  return run_directly(rank, Kind::scatter, [&](Channel& channel) {
    return std::make_unique<DirectRooted>(channel, Kind::scatter, DirectRooted::Direction::from_root, own,
                                          parts, root, in_place);
  });
}

bool all_directly(Rank& rank, Kind kind, const Parts& given, const Parts& taken, bool in_place) {
  return run_directly(rank, kind, [&](Channel& channel) {
    return std::make_unique<DirectFromAll>(channel, kind, given, taken, in_place);
  });
}

void check_broadcast(Rank& rank, std::size_t bytes, int root, Findings& findings) {
  const auto expected = pattern(root, 1, bytes);
  auto data = rank.self() == root ? expected : std::vector<std::byte>(bytes);
  findings.expect(broadcast_directly(rank, data_of(data), root) && data == expected,
                  fmt::format("broadcast of {}", bytes));
}

void check_gather(Rank& rank, std::size_t bytes, int root, bool in_place, Findings& findings) {
  auto own = pattern(rank.self(), 2, bytes);
  const auto expected = all_patterns(rank.size(), 2, bytes);
  std::vector<std::byte> all(bytes * rank.size());
  if (in_place) std::copy(own.begin(), own.end(), all.begin() + static_cast<std::ptrdiff_t>(bytes) * root);
  const bool good = gather_directly(rank, data_of(own), parts_of(all, bytes), root, in_place);
  findings.expect(good && (rank.self() != root || all == expected), fmt::format("gather of {}", bytes));
}

void check_scatter(Rank& rank, std::size_t bytes, int root, Findings& findings) {
  auto all = all_patterns(rank.size(), 3, bytes);
  std::vector<std::byte> own(bytes);
  const bool good = scatter_directly(rank, data_of(own), parts_of(all, bytes), root, false);
  findings.expect(good && own == pattern(rank.self(), 3, bytes), fmt::format("scatter of {}", bytes));
}

void check_allgather(Rank& rank, std::size_t bytes, Findings& findings) {
  auto own = pattern(rank.self(), 4, bytes);
  const auto expected = all_patterns(rank.size(), 4, bytes);
  std::vector<std::byte> all(bytes * rank.size());
  bool good = all_directly(rank, Kind::allgather, {data_of(own), 0}, parts_of(all, bytes), false);
  findings.expect(good && all == expected, fmt::format("allgather of {}", bytes));
  std::vector<std::byte> place(bytes * rank.size());
  std::copy(own.begin(), own.end(), place.begin() + static_cast<std::ptrdiff_t>(bytes) * rank.self());
  good = all_directly(rank, Kind::allgather, {}, parts_of(place, bytes), true);
  findings.expect(good && place == expected, fmt::format("allgather of {} in place", bytes));
}

void check_alltoall(Rank& rank, std::size_t bytes, Findings& findings) {
  std::vector<std::byte> given, expected, taken(bytes * rank.size());
  for (int other = 0; other < rank.size(); ++other) {
    const auto there = pattern(rank.self(), 10 + other, bytes),
               back = pattern(other, 10 + rank.self(), bytes);
    given.insert(given.end(), there.begin(), there.end());
    expected.insert(expected.end(), back.begin(), back.end());
  }
  bool good = all_directly(rank, Kind::alltoall, parts_of(given, bytes), parts_of(taken, bytes), false);
  findings.expect(good && taken == expected, fmt::format("alltoall of {}", bytes));
  good = all_directly(rank, Kind::alltoall, {}, parts_of(given, bytes), true);
  findings.expect(good && given == expected, fmt::format("alltoall of {} in place", bytes));
}

bool reduce_directly(Rank& rank, Kind kind, const Reduction& reduction, const Data& contribution,
                     const Data& result, int root, const std::vector<std::size_t>& segments) {
  return run_directly(rank, kind, [&](Channel& channel) {
    return std::make_unique<DirectReduction>(channel, kind, reduction, contribution, result, root, segments);
  });
}

void check_reductions(Rank& rank, const Reduction& reduction, std::size_t count, Findings& findings) {
  const auto& type = reduction.type;
  const auto even = DirectReduction::even_segments(count, rank.size());
  const auto expected = summed(rank.size(), count);
  const int root = static_cast<int>(count % rank.size());
  auto own = numbers(rank.self(), count);
  std::vector<double> result(count, -1);
  const auto given = Data::of(own.data(), count, type), taken = Data::of(result.data(), count, type);

  bool good =
      reduce_directly(rank, Kind::reduce, reduction, given, rank.self() == root ? taken : Data{}, root, even);
  findings.expect(good && (rank.self() == root ? same_bits(result, expected) : result.front() == -1),
                  fmt::format("reduce of {}", count));

  // Segments of which some are empty.
  std::vector<std::size_t> uneven(static_cast<std::size_t>(rank.size()));
  uneven.front() = count / 3;
  uneven.back() += count - count / 3;
  const std::size_t first = rank.self() == 0 ? 0 : count / 3,
                    mine = uneven[static_cast<std::size_t>(rank.self())];
  good = reduce_directly(rank, Kind::reduce_scatter, reduction, given, Data::of(result.data(), mine, type), 0,
                         uneven);
  findings.expect(good && (mine == 0 || same_bits(std::span(result).first(mine),
                                                  std::span(expected).subspan(first, mine))),
                  fmt::format("reduce_scatter of {}", count));

  auto place = own;
  const auto in_place = Data::of(place.data(), count, type);
  good = reduce_directly(rank, Kind::reduce, reduction, in_place, rank.self() == root ? in_place : Data{},
                         root, even);
  findings.expect(good && same_bits(place, rank.self() == root ? expected : own),
                  fmt::format("reduce of {} in place", count));
  place = own;
  good = reduce_directly(rank, Kind::reduce_scatter, reduction, in_place, Data::of(place.data(), mine, type),
                         0, uneven);
  findings.expect(good && (mine == 0 ||
                           same_bits(std::span(place).first(mine), std::span(expected).subspan(first, mine))),
                  fmt::format("reduce_scatter of {} in place", count));
}

}  // namespace

TEST_CASE("data go from memory to memory between a root and the others", "[mpi]") {
  const int size = GENERATE(2, 3, 4);
  Job job({.size = size, .bound_bytes = 4096, .is_near = true});
  Findings findings;
  const auto ended = job.run([&](Rank& rank) {
    for (const std::size_t bytes : sizes)
      for (const int root : {0, size - 1}) {
        check_broadcast(rank, bytes, root, findings);
        check_gather(rank, bytes, root, false, findings);
        check_gather(rank, bytes, root, true, findings);
        check_scatter(rank, bytes, root, findings);
      }
  });
  CHECK(ended == "");
  CHECK(findings.found() == "");
}

TEST_CASE("data go from memory to memory between all", "[mpi]") {
  const int size = GENERATE(2, 3, 5);
  Job job({.size = size, .bound_bytes = 4096, .is_near = true});
  Findings findings;
  const auto ended = job.run([&](Rank& rank) {
    for (const std::size_t bytes : sizes) {
      check_allgather(rank, bytes, findings);
      check_alltoall(rank, bytes, findings);
    }
  });
  CHECK(ended == "");
  CHECK(findings.found() == "");
}

TEST_CASE("reductions from memory to memory have the bits of a fold in the order of ranks", "[mpi]") {
  const int size = GENERATE(2, 3, 5);
  Types types;
  Operation sum(MPI_SUM);
  Operation own_sum(
      [](void* in, void* inout, int* length, MPI_Datatype*) {
        for (int i = 0; i < *length; ++i) static_cast<double*>(inout)[i] += static_cast<double*>(in)[i];
      },
      false);
  Job job({.size = size, .bound_bytes = 4096, .is_near = true});
  Findings findings;
  const auto ended = job.run([&](Rank& rank) {
    for (const std::size_t count : {1, 2, 7, 8191, 8192, 8193, 16'390, 50'001}) {
      check_reductions(rank, {sum, types[MPI_DOUBLE]}, count, findings);
      check_reductions(rank, {own_sum, types[MPI_DOUBLE]}, count, findings);
    }
  });
  CHECK(ended == "");
  CHECK(findings.found() == "");
}

TEST_CASE("elements with gaps go through packed copies", "[mpi]") {
  Types types;
  // Every third double.
  auto spaced = make_resized(*types.table.find(MPI_DOUBLE), 0, 24);
  Operation add(
      [](void* in, void* inout, int* length, MPI_Datatype*) {
        for (int i = 0; i < *length; ++i)
          static_cast<double*>(inout)[3 * i] += static_cast<double*>(in)[3 * i];
      },
      true);
  Job job({.size = 3, .is_near = true});
  Findings findings;
  const auto ended = job.run([&](Rank& rank) {
    constexpr std::size_t count = 5000;
    const auto is = [](const std::vector<double>& all, std::size_t part, double value) {
      for (std::size_t i = 0; i < 3 * count; ++i)
        if (all[3 * count * part + i] != (i % 3 == 0 ? value : -1)) return false;
      return true;
    };
    const auto spread = [](double value, std::size_t parts) {
      std::vector<double> made(3 * count * parts, -1);
      for (std::size_t i = 0; i < made.size(); i += 3) made[i] = value;
      return made;
    };
    auto own = spread(rank.self() + 1, 1), all = spread(0, 3), result = spread(0, 1);
    const auto given = Data::of(own.data(), count, *spaced.get());
    const Parts parts(Data::of(all.data(), count, *spaced.get()), 24 * count);
    bool good = all_directly(rank, Kind::allgather, {given, 0}, parts, false);
    for (std::size_t part = 0; part < 3; ++part)
      findings.expect(good && is(all, part, static_cast<double>(part + 1)), "allgather with gaps");
    const auto cleared = spread(0, 3);
    std::copy(cleared.begin(), cleared.end(), all.begin());
    good = gather_directly(rank, given, parts, 1, false);
    for (std::size_t part = 0; part < 3 && rank.self() == 1; ++part)
      findings.expect(good && is(all, part, static_cast<double>(part + 1)), "gather with gaps");
    good = scatter_directly(rank, Data::of(result.data(), count, *spaced.get()), parts, 1, false);
    findings.expect(good && is(result, 0, rank.self() + 1), "scatter with gaps");
    good = reduce_directly(rank, Kind::reduce, {add, *spaced.get()}, given,
                           rank.self() == 2 ? Data::of(result.data(), count, *spaced.get()) : Data{}, 2,
                           DirectReduction::even_segments(count, 3));
    findings.expect(good && is(result, 0, rank.self() == 2 ? 6 : rank.self() + 1), "reduce with gaps");
    good = broadcast_directly(rank, given, 2);
    findings.expect(good && is(own, 0, 3), "broadcast with gaps");
  });
  CHECK(ended == "");
  CHECK(findings.found() == "");
}

TEST_CASE("members that do not reach each other's memory go through the logs", "[mpi]") {
  Job job({.size = 3});
  Findings findings;
  const auto ended = job.run([&](Rank& rank) {
    rank.channel.set_processes({});
    auto data = pattern(rank.self(), 1, 100'000);
    const Parts parts(data_of(data), 0);
    bool was_direct = false;
    DirectIfPossible machine(
        rank.channel, Kind::bcast, 0,
        [&](Channel& channel) {
          was_direct = true;
          return std::make_unique<Barrier>(channel);
        },
        [&](Channel& channel) { return std::make_unique<Broadcast>(channel, data_of(data), 1); });
    const auto status = run(rank.channel, rank.waiter, machine);
    findings.expect(status && !was_direct && data == pattern(1, 1, 100'000), "broadcast");
  });
  CHECK(ended == "");
  CHECK(findings.found() == "");
}

TEST_CASE("who expects another length than a member gives is told so and outlives it", "[mpi]") {
  Types types;
  Operation sum(MPI_SUM);
  Job job({.size = 3, .is_near = true});
  Findings findings;
  const auto ended = job.run([&](Rank& rank) {
    const bool is_odd = rank.self() == 2;
    const auto before = pattern(rank.self(), 1, 100'000);
    auto data = before;
    data.resize(is_odd ? 60'000 : 100'000);
    const auto still_good = [&](const char* where) {
      std::size_t bytes = 70'000;
      auto good = pattern(rank.self(), 2, bytes);
      findings.expect(broadcast_directly(rank, data_of(good), 1) && good == pattern(1, 2, bytes), where);
    };
    findings.expect(broadcast_directly(rank, data_of(data), 0) == !is_odd, "broadcast");
    findings.expect(!is_odd || std::equal(data.begin(), data.end(), before.begin()), "something was written");
    still_good("after broadcast");
    std::vector<std::byte> all(3 * data.size());
    findings.expect(
        gather_directly(rank, data_of(data), parts_of(all, data.size()), 0, false) == (rank.self() != 0),
        "gather");
    still_good("after gather");
    findings.expect(
        !all_directly(rank, Kind::allgather, {data_of(data), 0}, parts_of(all, data.size()), false),
        "allgather");
    still_good("after allgather");
    const std::size_t count = is_odd ? 9000 : 10'000;
    auto own = numbers(rank.self(), count);
    std::vector<double> result(count);
    const Datatype& type = types[MPI_DOUBLE];
    const auto taken = rank.self() == 0 ? Data::of(result.data(), count, type) : Data{};
    findings.expect(!reduce_directly(rank, Kind::reduce, {sum, type}, Data::of(own.data(), count, type),
                                     taken, 0, DirectReduction::even_segments(count, 3)),
                    "reduce");
    findings.expect(std::count(result.begin(), result.end(), 0) == static_cast<std::ptrdiff_t>(count),
                    "something was reduced");
    still_good("after reduce");
  });
  CHECK(ended == "");
  CHECK(findings.found() == "");
}

TEST_CASE("memory that is not there is refused, and a process that is not there is gone", "[mpi]") {
  std::uint64_t word = 5, other = 0;
  const auto bytes = std::as_writable_bytes(std::span(&other, 1));
  const auto address = reinterpret_cast<std::uint64_t>(&word);
  CHECK(read_memory(own_process(), address, bytes) == Reached::done);
  CHECK(other == 5);
  other = 6;
  CHECK(write_memory(own_process(), address, bytes) == Reached::done);
  CHECK(word == 6);
  CHECK(read_memory(own_process(), 64, bytes) == Reached::refused);
  CHECK(read_memory(0x7fffffff, address, bytes) == Reached::gone);

  // What ends in the middle is no success.
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  auto* two = static_cast<std::byte*>(
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(two != MAP_FAILED);
  REQUIRE(munmap(two + page, page) == 0);
  std::vector<std::byte> taken(2 * page);
  CHECK(read_memory(own_process(), reinterpret_cast<std::uint64_t>(two), taken) == Reached::refused);
  munmap(two, page);
}

TEST_CASE("memory in several pieces is copied piece by piece, or refused as a whole", "[mpi]") {
  constexpr std::size_t pieces = 40, bytes = 3000;
  std::vector<std::byte> here(pieces * bytes), there(pieces * bytes);
  for (std::size_t i = 0; i < there.size(); ++i) there[i] = static_cast<std::byte>(i * 7 + i / bytes);
  // Every other one, in the other order, and some of nothing.
  std::vector<PeerPiece> list;
  std::vector<std::byte> expected(here.size());
  for (std::size_t i = 0; i < pieces; i += 2) {
    const std::size_t to = (pieces - 1 - i) * bytes, from = i * bytes, size = i % 6 == 0 ? 0 : bytes - i;
    list.push_back({here.data() + to, reinterpret_cast<std::uint64_t>(there.data() + from), size});
    std::copy_n(there.data() + from, size, expected.data() + to);
  }
  CHECK(read_memory(own_process(), list) == Reached::done);
  CHECK(here == expected);
  std::fill(there.begin(), there.end(), std::byte{0});
  CHECK(write_memory(own_process(), list) == Reached::done);
  for (const PeerPiece& piece : list)
    CHECK(std::equal(piece.own, piece.own + piece.bytes, reinterpret_cast<const std::byte*>(piece.others)));
  list[4].others = 64;
  CHECK(read_memory(own_process(), list) == Reached::refused);
  CHECK(write_memory(own_process(), list) == Reached::refused);
}

TEST_CASE("little data go the same way with and without a machine", "[mpi]") {
  const int size = GENERATE(2, 4);
  Job job({.size = size, .bound_bytes = 4096});
  Findings findings;
  const auto ended = job.run([&](Rank& rank) {
    for (int round = 0; round < 12; ++round)
      for (const std::size_t bytes : {1, 48, 49, 500, 2048}) {
        const int root = round % size;
        const bool by_machine = (rank.self() + round) % 3 == 0;
        const auto expected = pattern(root, round, bytes);
        auto data = rank.self() == root ? expected : std::vector<std::byte>(bytes);
        const auto status = by_machine ? broadcast(rank.channel, rank.waiter, data_of(data), root)
                                       : broadcast_small(rank.channel, rank.waiter, data, root);
        findings.expect(status && data == expected, "broadcast");

        auto own = pattern(rank.self(), round, bytes);
        std::vector<std::byte> all(bytes * rank.size());
        Status gathered;
        if (rank.self() != root) {
          gathered = give_small(rank.channel, rank.waiter, Kind::gather, own, root);
        } else {
          std::copy(own.begin(), own.end(), all.begin() + static_cast<std::ptrdiff_t>(bytes) * root);
          gathered = gather_small(rank.channel, rank.waiter, all.data(), bytes);
        }
        findings.expect(gathered && (rank.self() != root || all == all_patterns(size, round, bytes)),
                        "gather");

        // The root's machine gives all parts in one record, or to the one other member its own.
        std::vector<Data> parts;
        for (int member = 0; member < size; ++member)
          parts.push_back(Data::of(
              std::span<const std::byte>(all).subspan(bytes * static_cast<std::size_t>(member), bytes)));
        const auto scattered = rank.self() == root
                                   ? scatter(rank.channel, rank.waiter, parts, Data{}, root)
                                   : take_small(rank.channel, rank.waiter, Kind::scatter, data, root);
        findings.expect(scattered && (rank.self() == root || data == own), "scatter");

        if (!is_small_together(size, bytes)) continue;
        std::vector<std::byte> given, taken(all.size());
        std::vector<Data> from, to;
        for (int member = 0; member < size; ++member) {
          const auto part = pattern(rank.self() * size + member, round, bytes);
          given.insert(given.end(), part.begin(), part.end());
        }
        for (int member = 0; member < size; ++member) {
          const auto first = bytes * static_cast<std::size_t>(member);
          from.push_back(Data::of(std::span<const std::byte>(given).subspan(first, bytes)));
          to.push_back(Data::of(std::span<const std::byte>(taken).subspan(first, bytes)));
        }
        const auto exchanged =
            by_machine ? alltoall(rank.channel, rank.waiter, from, to)
                       : alltoall_small(rank.channel, rank.waiter, given.data(), taken.data(), bytes);
        for (int member = 0; member < size; ++member) {
          const auto part = pattern(member * size + rank.self(), round, bytes);
          const bool same = std::equal(part.begin(), part.end(), to[member].memory());
          findings.expect(exchanged && (member == rank.self() || same), "alltoall");
        }
      }
  });
  CHECK(ended == "");
  CHECK(findings.found() == "");
}

TEST_CASE("a member that expects another length of little data outlives it", "[mpi]") {
  Job job({.size = 2});
  Findings findings;
  const auto ended = job.run([&](Rank& rank) {
    std::vector<std::byte> data(rank.self() == 0 ? 8 : 16);
    const auto status = broadcast_small(rank.channel, rank.waiter, data, 0);
    findings.expect(bool(status) == (rank.self() == 0), "whether it fails");
    data = pattern(rank.self(), 1, 8);
    findings.expect(bool(broadcast_small(rank.channel, rank.waiter, data, 0)) && data == pattern(0, 1, 8),
                    "the next one");
  });
  CHECK(ended == "");
  CHECK(findings.found() == "");
}
