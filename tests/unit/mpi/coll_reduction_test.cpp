#include <cmath>
#include <cstring>

#include "coll/reduction.hpp"
#include "coll/small.hpp"
#include "coll_numbers.hpp"
#include "coll_ranks.hpp"

using namespace llamada;
using namespace llamada::mpi;
using namespace llamada::mpi::coll;
using namespace llamada::mpi::coll::testing;

namespace {

/// 2x2 matrices modulo a prime: their product does not commute.
struct Matrix {
  std::uint32_t cell[4];
  bool operator==(const Matrix& other) const { return std::memcmp(cell, other.cell, sizeof(cell)) == 0; }
};
Matrix product(const Matrix& a, const Matrix& b) {
  constexpr std::uint64_t prime = 1'000'003;
  auto at = [&](int row, int column) {
    return static_cast<std::uint32_t>((std::uint64_t{a.cell[2 * row]} * b.cell[column] +
                                       std::uint64_t{a.cell[2 * row + 1]} * b.cell[2 + column]) %
                                      prime);
  };
  return {at(0, 0), at(0, 1), at(1, 0), at(1, 1)};
}
void multiply(void* in, void* inout, int* length, MPI_Datatype*) {
  auto* left = static_cast<Matrix*>(in);
  auto* right = static_cast<Matrix*>(inout);
  for (int i = 0; i < *length; ++i) right[i] = product(left[i], right[i]);
}
std::vector<Matrix> matrices(int rank, std::size_t count) {
  std::vector<Matrix> made(count);
  for (std::size_t i = 0; i < count; ++i) {
    auto seed = static_cast<std::uint32_t>(rank * 1000 + static_cast<int>(i));
    made[i] = {seed + 1, seed * 3 + 2, seed * 7 + 1, seed * 5 + 3};
  }
  return made;
}
std::vector<Matrix> multiplied(int ranks, std::size_t count) {
  auto all = matrices(0, count);
  for (int rank = 1; rank < ranks; ++rank) {
    auto next = matrices(rank, count);
    for (std::size_t i = 0; i < count; ++i) all[i] = product(all[i], next[i]);
  }
  return all;
}

}  // namespace

TEST_CASE("an Allreduce has the bits of a fold in the order of ranks, whatever its size", "[mpi]") {
  int size = GENERATE(2, 3, 4, 5, 8);
  Types types;
  Operation sum(MPI_SUM);
  Job job({.size = size, .bound_bytes = 4096});
  Findings findings;
  auto ended = job.run([&](Rank& rank) {
    for (std::size_t count : {1, 2, 6, 7, 1000, 1024, 1025, 5000, 100'003}) {
      auto own = numbers(rank.self(), count);
      std::vector<double> result(count);
      const Datatype& type = types[MPI_DOUBLE];
      Reduction reduction{sum, type};
      auto status = allreduce(rank.channel, rank.waiter, reduction, Data::of(own.data(), count, type),
                              Data::of(result.data(), count, type));
      findings.expect(status && same_bits(result, summed(rank.size(), count)),
                      fmt::format("{} numbers", count));
      // In place.
      status = allreduce(rank.channel, rank.waiter, reduction, Data::of(own.data(), count, type),
                         Data::of(own.data(), count, type));
      findings.expect(status && same_bits(own, result), fmt::format("{} numbers in place", count));
    }
  });
  CHECK(ended == "");
  CHECK(findings.found() == "");
}

TEST_CASE("little data are reduced the same way with and without a machine", "[mpi]") {
  const int size = GENERATE(2, 3, 5);
  Types types;
  Operation sum(MPI_SUM);
  Job job({.size = size, .bound_bytes = 4096});
  Findings findings;
  const auto ended = job.run([&](Rank& rank) {
    const Datatype& type = types[MPI_DOUBLE];
    const Reduction reduction{sum, type};
    const auto of = [](std::vector<double>& values) { return std::as_writable_bytes(std::span(values)); };
    for (int round = 0; round < 6; ++round)
      for (const std::size_t count : {1, 6, 7, 256}) {
        const bool by_machine = (rank.self() + round) % 3 == 0;
        const auto expected = summed(size, count);
        auto own = numbers(rank.self(), count);
        std::vector<double> result(count);
        const auto contribution = Data::of(own.data(), count, type);
        const auto to = Data::of(result.data(), count, type);
        findings.expect(
            bool(by_machine ? barrier(rank.channel, rank.waiter) : barrier_small(rank.channel, rank.waiter)),
            "barrier");

        auto status = by_machine ? allreduce(rank.channel, rank.waiter, reduction, contribution, to)
                                 : fold_small(rank.channel, rank.waiter, Kind::allreduce, {},
                                              {reduction, of(own), 0, of(result)});
        findings.expect(status && same_bits(result, expected), "allreduce");

        const int root = round % size;
        std::fill(result.begin(), result.end(), 0.0);
        if (by_machine)
          status = reduce(rank.channel, rank.waiter, reduction, contribution, to, root);
        else if (rank.self() == root)
          status = reduce_small(rank.channel, rank.waiter, {reduction, of(own), 0, of(result)});
        else
          status = give_small(rank.channel, rank.waiter, Kind::reduce, of(own), root);
        findings.expect(status && (rank.self() != root || same_bits(result, expected)), "reduce");

        // In place, and dealt out unevenly, so that a part and its result overlap.
        std::vector<std::size_t> counts(static_cast<std::size_t>(size), 0);
        counts[1] = count - count / 3;
        counts[0] = count / 3;
        const std::size_t first = rank.self() == 0 ? 0 : rank.self() == 1 ? counts[0] : count;
        const std::size_t part = counts[static_cast<std::size_t>(rank.self())];
        const std::span<std::byte> place = of(own).first(part * sizeof(double));
        status = by_machine ? reduce_scatter(rank.channel, rank.waiter, reduction, contribution,
                                             Data::of(own.data(), part, type), counts)
                            : fold_small(rank.channel, rank.waiter, Kind::reduce_scatter,
                                         ReduceScatter::small_piece(counts),
                                         {reduction, of(own), first * sizeof(double), place});
        bool same = bool(status);
        for (std::size_t i = 0; i < part; ++i) same = same && own[i] == expected[first + i];
        findings.expect(same, "reduce_scatter");
      }
  });
  CHECK(ended == "");
  CHECK(findings.found() == "");
}

TEST_CASE("Reduce, Reduce_scatter, Scan and Exscan have the bits of a fold in the order of ranks", "[mpi]") {
  int size = GENERATE(2, 3, 5);
  Types types;
  Operation sum(MPI_SUM);
  Job job({.size = size, .bound_bytes = 4096});
  Findings findings;
  auto ended = job.run([&](Rank& rank) {
    const Datatype& type = types[MPI_DOUBLE];
    Reduction reduction{sum, type};
    for (std::size_t count : {1, 7, 1000, 1025, 30'011}) {
      auto what = [&](const char* name) { return fmt::format("{} of {}", name, count); };
      auto own = numbers(rank.self(), count);
      auto contribution = Data::of(own.data(), count, type);
      std::vector<double> result(count);
      auto to = Data::of(result.data(), count, type);
      int root = static_cast<int>(count % rank.size());

      bool good = bool(reduce(rank.channel, rank.waiter, reduction, contribution,
                              rank.self() == root ? to : Data{}, root));
      findings.expect(good && (rank.self() != root || same_bits(result, summed(rank.size(), count))),
                      what("reduce"));

      good = bool(scan(rank.channel, rank.waiter, reduction, contribution, to));
      findings.expect(good && same_bits(result, summed(rank.self() + 1, count)), what("scan"));

      good = bool(exscan(rank.channel, rank.waiter, reduction, contribution, to));
      findings.expect(good && (rank.self() == 0 || same_bits(result, summed(rank.self(), count))),
                      what("exscan"));

      std::vector<std::size_t> counts(rank.size(), count / rank.size());
      counts.back() += count % rank.size();
      std::size_t first = count / rank.size() * rank.self();
      good = bool(reduce_scatter(rank.channel, rank.waiter, reduction, contribution,
                                 Data::of(result.data(), counts[rank.self()], type), counts));
      auto all = summed(rank.size(), count);
      findings.expect(
          good && std::equal(all.begin() + first, all.begin() + first + counts[rank.self()], result.begin()),
          what("reduce_scatter"));
    }
  });
  CHECK(ended == "");
  CHECK(findings.found() == "");
}

TEST_CASE("operations that do not commute are applied in the order of ranks", "[mpi]") {
  Types types;
  Operation operation(&multiply, false);
  auto matrix_type = make_contiguous(4, *types.table.find(MPI_UNSIGNED));
  Job job({.size = 4, .bound_bytes = 4096});
  Findings findings;
  auto ended = job.run([&](Rank& rank) {
    Reduction reduction{operation, *matrix_type.get()};
    for (std::size_t count : {1, 5, 511, 513, 9000}) {
      auto own = matrices(rank.self(), count);
      std::vector<Matrix> result(count);
      auto to = Data::of(result.data(), count, *matrix_type.get());
      auto status = allreduce(rank.channel, rank.waiter, reduction,
                              Data::of(own.data(), count, *matrix_type.get()), to);
      findings.expect(status && result == multiplied(rank.size(), count), fmt::format("{} products", count));
      status =
          scan(rank.channel, rank.waiter, reduction, Data::of(own.data(), count, *matrix_type.get()), to);
      findings.expect(status && result == multiplied(rank.self() + 1, count),
                      fmt::format("{} partial products", count));
    }
  });
  CHECK(ended == "");
  CHECK(findings.found() == "");
}

TEST_CASE("elements with gaps are reduced where they lie", "[mpi]") {
  Types types;
  Operation sum(MPI_SUM);
  // Every third double.
  auto spaced = make_resized(*types.table.find(MPI_DOUBLE), 0, 24);
  Operation add(
      [](void* in, void* inout, int* length, MPI_Datatype*) {
        for (int i = 0; i < *length; ++i)
          static_cast<double*>(inout)[3 * i] += static_cast<double*>(in)[3 * i];
      },
      true);
  Job job({.size = 3, .bound_bytes = 4096});
  Findings findings;
  auto ended = job.run([&](Rank& rank) {
    for (std::size_t count : {1, 100, 3000}) {
      std::vector<double> own(3 * count, rank.self()), result(3 * count, -1);
      auto status = allreduce(rank.channel, rank.waiter, {add, *spaced.get()},
                              Data::of(own.data(), count, *spaced.get()),
                              Data::of(result.data(), count, *spaced.get()));
      bool good = bool(status);
      for (std::size_t i = 0; i < 3 * count; ++i) good = good && result[i] == (i % 3 == 0 ? 3 : -1);
      findings.expect(good, fmt::format("{} elements", count));
    }
  });
  CHECK(ended == "");
  CHECK(findings.found() == "");
}
