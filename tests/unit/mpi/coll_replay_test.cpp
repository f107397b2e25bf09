#include <cstring>

#include "coll/reduction.hpp"
#include "coll_ranks.hpp"
#include "llamada/base/random.hpp"
#include "object/type_builder.hpp"

using namespace llamada;
using namespace llamada::mpi;
using namespace llamada::mpi::coll;
using namespace llamada::mpi::coll::testing;

namespace {

/// A number that depends on all that the rank has been given so far.
std::uint64_t mix(std::uint64_t state, std::span<const std::byte> bytes) {
  for (std::byte byte : bytes) state = (state ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3;
  return state;
}

struct Program {
  std::uint64_t seed;
  int rounds;
  const Datatype& type;
  const Operation& xor_all;

  /// `at_round` is called before each round: it may throw Death.
  std::uint64_t run(Rank& rank, const std::function<void(int)>& at_round) const {
    Random random(seed);
    std::uint64_t state = 1000 + static_cast<std::uint64_t>(rank.self());
    for (int round = 0; round < rounds; ++round) {
      at_round(round);
      state =
          step(rank, random.below(6), 1 + random.below(round % 5 == 0 ? 40'000 : 40), random.next(), state);
    }
    return state;
  }

  std::uint64_t step(Rank& rank, std::uint64_t which, std::size_t count, std::uint64_t salt,
                     std::uint64_t state) const {
    std::vector<std::uint64_t> own(count), result(count * rank.size());
    for (auto& word : own) word = state = state * 6364136223846793005ULL + salt;
    auto in = Data::of(own.data(), count, type);
    auto out = Data::of(result.data(), count, type);
    int root = static_cast<int>(salt % rank.size());
    std::vector<Data> parts;
    for (int member = 0; member < rank.size(); ++member)
      parts.push_back(Data::of(result.data() + member * count, count, type));
    Status status;
    switch (which) {
      case 0:
        status = barrier(rank.channel, rank.waiter);
        break;
      case 1:
        status = broadcast(rank.channel, rank.waiter, in, root);
        break;
      case 2:
        status = allreduce(rank.channel, rank.waiter, {xor_all, type}, in, out);
        break;
      case 3:
        status = scan(rank.channel, rank.waiter, {xor_all, type}, in, out);
        break;
      case 4:
        status = allgather(rank.channel, rank.waiter, in, parts);
        break;
      default:
        status = gather(rank.channel, rank.waiter, in, parts, root);
        break;
    }
    if (!status) throw RankEnded{RankEnded::Kind::aborted, 1, status.error().text()};
    return mix(mix(state, std::as_bytes(std::span(own))), std::as_bytes(std::span(result)));
  }
};

struct Fixture {
  HandleTable<Datatype, ObjectKind::datatype> table;
  Operation xor_all{MPI_BXOR};
  Fixture() { add_predefined_types(table); }
  Program program(std::uint64_t seed, int rounds) {
    return {seed, rounds, *table.find(MPI_UINT64_T), xor_all};
  }
};

}  // namespace

TEST_CASE("ranks that die at any collective are replaced and all end with the same results", "[mpi]") {
  Fixture fixture;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    auto program = fixture.program(seed, 30);
    int size = 2 + static_cast<int>(seed % 4);
    std::vector<std::uint64_t> expected(size), results(size);
    Job undisturbed({.size = size, .keep_all = true});
    REQUIRE(undisturbed.run([&](Rank& rank) { expected[rank.self()] = program.run(rank, [](int) {}); }) ==
            "");

    Job job({.size = size, .keep_all = true});
    std::atomic<std::uint64_t> compared{0};
    auto ended = job.run([&](Rank& rank) {
      // Up to three deaths of each rank, at rounds that the seed gives.
      Random random(seed * 100 + static_cast<std::uint64_t>(rank.self()) * 10 + rank.world.incarnation());
      int last = rank.world.incarnation() <= 3 ? static_cast<int>(random.below(40)) : -1;
      results[rank.self()] = program.run(rank, [&](int round) {
        if (round == last) throw Death{};
      });
      compared += rank.world.arena().counted(log::Counter::sends_compared);
    });
    INFO("seed " << seed);
    REQUIRE(ended == "");
    REQUIRE(results == expected);
    if (job.deaths() > 2) CHECK(compared.load() > 0);
  }
}

TEST_CASE("a rank that dies in the middle of a collective is replaced", "[mpi]") {
  Fixture fixture;
  Job job({.size = 3, .keep_all = true});
  auto program = fixture.program(77, 20);
  std::vector<std::uint64_t> expected(3), results(3);
  Job undisturbed({.size = 3, .keep_all = true});
  REQUIRE(undisturbed.run([&](Rank& rank) { expected[rank.self()] = program.run(rank, [](int) {}); }) == "");
  auto ended = job.run([&](Rank& rank) {
    struct DyingWaiter final : Waiter {
      Waiter& inner;
      int waits_left;
      DyingWaiter(Waiter& inner, int waits) : inner(inner), waits_left(waits) {}
      void wait_until(const std::function<bool()>& done) override {
        if (waits_left-- == 0) throw Death{};
        inner.wait_until(done);
      }
    };
    int waits = rank.world.incarnation() <= 6 ? static_cast<int>(rank.world.incarnation()) * 2 : -1;
    DyingWaiter waiter(rank.waiter, waits);
    Rank dying{rank.world, rank.channel, waiter};
    results[rank.self()] = program.run(dying, [](int) {});
  });
  REQUIRE(ended == "");
  CHECK(results == expected);
  CHECK(job.deaths() > 0);
}

TEST_CASE("a replacement that contributes something else is stopped", "[mpi]") {
  Job job({.size = 2, .keep_all = true});
  auto ended = job.run([&](Rank& rank) {
    std::vector<std::byte> data(100);
    data[40] = static_cast<std::byte>(rank.world.incarnation());
    (void)broadcast(rank.channel, rank.waiter, Data::of(std::span<const std::byte>(data)), 0);
    if (rank.self() == 0 && rank.world.incarnation() == 1) throw Death{};
    if (rank.self() == 1) throw RankEnded{RankEnded::Kind::aborted, 0, ""};
  });
  CHECK(ended.find("differs from the first run at byte 40") != ended.npos);
}

TEST_CASE("a job that becomes unprotected recycles its histories and goes on", "[mpi]") {
  Fixture fixture;
  Job job({.size = 3, .keep_all = true, .bound_bytes = 4096});
  auto program = fixture.program(5, 200);
  std::atomic<std::uint64_t> recycled{0};
  auto ended = job.run([&](Rank& rank) {
    program.run(rank, [&](int round) {
      if (round == 50 && rank.self() == 1) job.job().unprotect();
    });
    recycled += rank.world.arena().counted(log::Counter::recycled_chunks);
  });
  CHECK(ended == "");
  CHECK(recycled.load() > 0);
}

TEST_CASE("a replacement repeats what was kept though the job has become unprotected meanwhile", "[mpi]") {
  for (const bool before_attach : {true, false}) {
    Fixture fixture;
    auto program = fixture.program(9, 40);
    std::vector<std::uint64_t> expected(2), results(2);
    Job undisturbed({.size = 2, .keep_all = true});
    REQUIRE(undisturbed.run([&](Rank& rank) { expected[rank.self()] = program.run(rank, [](int) {}); }) ==
            "");
    Job job({.size = 2, .keep_all = true});
    auto ended = job.run([&](Rank& rank) {
      const bool dies = rank.self() == 0 && rank.world.incarnation() == 1;
      results[rank.self()] = program.run(rank, [&](int round) {
        if (dies && round == 30) {
          if (before_attach) job.job().unprotect();
          throw Death{};
        }
        if (!before_attach && !dies && rank.self() == 0 && round == 3) job.job().unprotect();
        if (!dies) rank.channel.skip_stale();
      });
    });
    CHECK(ended == "");
    CHECK(results == expected);
  }
}

TEST_CASE("a communicator of one rank outlives the end of the protection", "[mpi]") {
  Fixture fixture;
  Job job({.size = 1, .keep_all = true});
  auto program = fixture.program(5, 20);
  int turns = 0;
  auto ended = job.run([&](Rank& rank) {
    program.run(rank, [&](int round) {
      if (round == 10) job.job().unprotect();
    });
    // Whenever the rank waits for something else.
    rank.waiter.wait_until([&] { return ++turns == 3; });
  });
  CHECK(ended == "");
  CHECK(turns == 3);
}
