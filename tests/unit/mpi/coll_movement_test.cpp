#include "coll_ranks.hpp"

using namespace llamada;
using namespace llamada::mpi;
using namespace llamada::mpi::coll;
using namespace llamada::mpi::coll::testing;

namespace {

const std::vector<std::size_t> sizes = {0, 1, 8, 48, 49, 1000, 65536, 65537, 300'000, 3'000'000};

Data data_of(std::vector<std::byte>& bytes) { return Data::of(std::span<const std::byte>(bytes)); }

std::vector<Data> data_of(std::vector<std::vector<std::byte>>& parts) {
  std::vector<Data> data;
  for (auto& part : parts) data.push_back(data_of(part));
  return data;
}

void check_bcast(Rank& rank, std::size_t bytes, int root, Findings& findings) {
  auto expected = pattern(root, 1, bytes);
  auto data = rank.self() == root ? expected : std::vector<std::byte>(bytes);
  findings.expect(bool(broadcast(rank.channel, rank.waiter, data_of(data), root)) && data == expected,
                  fmt::format("bcast of {} bytes", bytes));
}

void check_gather(Rank& rank, std::size_t bytes, int root, Findings& findings) {
  auto own = pattern(rank.self(), 2, bytes + rank.self());
  std::vector<std::vector<std::byte>> results;
  for (int member = 0; member < rank.size(); ++member) results.emplace_back(bytes + member);
  auto data = rank.self() == root ? data_of(results) : std::vector<Data>{};
  bool good = bool(gather(rank.channel, rank.waiter, data_of(own), data, root));
  for (int member = 0; rank.self() == root && member < rank.size(); ++member)
    good = good && (member == root || results[member] == pattern(member, 2, bytes + member));
  findings.expect(good, fmt::format("gather of {} bytes", bytes));
}

void check_scatter(Rank& rank, std::size_t bytes, int root, Findings& findings) {
  std::vector<std::vector<std::byte>> contributions;
  for (int member = 0; member < rank.size(); ++member)
    contributions.push_back(pattern(member, 3, bytes + member));
  std::vector<std::byte> result(bytes + rank.self());
  auto data = rank.self() == root ? data_of(contributions) : std::vector<Data>{};
  bool good = bool(scatter(rank.channel, rank.waiter, data, data_of(result), root));
  findings.expect(good && (rank.self() == root || result == contributions[rank.self()]),
                  fmt::format("scatter of {} bytes", bytes));
}

void check_allgather(Rank& rank, std::size_t bytes, Findings& findings) {
  auto own = pattern(rank.self(), 4, bytes);
  std::vector<std::vector<std::byte>> results(rank.size(), std::vector<std::byte>(bytes));
  bool good = bool(allgather(rank.channel, rank.waiter, data_of(own), data_of(results)));
  for (int member = 0; member < rank.size(); ++member)
    good = good && (member == rank.self() || results[member] == pattern(member, 4, bytes));
  findings.expect(good, fmt::format("allgather of {} bytes", bytes));
}

void check_alltoall(Rank& rank, std::size_t bytes, Findings& findings) {
  std::vector<std::vector<std::byte>> contributions, results;
  for (int member = 0; member < rank.size(); ++member) {
    contributions.push_back(pattern(rank.self(), member, bytes + rank.self() + member));
    results.emplace_back(bytes + rank.self() + member);
  }
  bool good = bool(alltoall(rank.channel, rank.waiter, data_of(contributions), data_of(results)));
  for (int member = 0; member < rank.size(); ++member)
    good = good && (member == rank.self() ||
                    results[member] == pattern(member, rank.self(), bytes + rank.self() + member));
  findings.expect(good, fmt::format("alltoall of {} bytes", bytes));
}

void check_all(Rank& rank, std::size_t bytes, Findings& findings) {
  int root = static_cast<int>(bytes % rank.size());
  check_bcast(rank, bytes, root, findings);
  check_gather(rank, bytes, root, findings);
  findings.expect(bool(barrier(rank.channel, rank.waiter)), "barrier");
  check_scatter(rank, bytes, root, findings);
  check_allgather(rank, bytes, findings);
  check_alltoall(rank, bytes, findings);
}

}  // namespace

TEST_CASE("collectives move the right bytes for any size and number of ranks", "[mpi]") {
  int size = GENERATE(2, 3, 4, 5, 8);
  Job job({.size = size});
  Findings findings;
  auto ended = job.run([&](Rank& rank) {
    for (std::size_t bytes : sizes)
      if (bytes < 1'000'000 || size <= 3) check_all(rank, bytes, findings);
  });
  CHECK(ended == "");
  CHECK(findings.found() == "");
}

TEST_CASE("collectives of any size pass through a log with little room", "[mpi]") {
  Job job({.size = 4, .bound_bytes = 4096});
  Findings findings;
  auto ended = job.run([&](Rank& rank) {
    for (int round = 0; round < 3; ++round)
      for (std::size_t bytes : {std::size_t{100}, std::size_t{70'000}, std::size_t{500'000}})
        check_all(rank, bytes, findings);
  });
  CHECK(ended == "");
  CHECK(findings.found() == "");
}

TEST_CASE("a writer is not held by members that have no use for its records", "[mpi]") {
  Job job({.size = 4, .bound_bytes = 4096});
  Findings findings;
  auto ended = job.run([&](Rank& rank) {
    // Only rank 0 reads; the others' records are for nobody else.
    for (int round = 0; round < 200; ++round) check_gather(rank, 2000, 0, findings);
  });
  CHECK(ended == "");
  CHECK(findings.found() == "");
}

TEST_CASE("members that call different collectives are told so", "[mpi]") {
  Job job({.size = 2});
  std::string text;
  job.run([&](Rank& rank) {
    if (rank.self() == 0) {
      std::vector<std::byte> data(8);
      // Published, and read by nobody.
      (void)broadcast(rank.channel, rank.waiter, Data::of(std::span<const std::byte>(data)), 0);
    } else {
      auto status = barrier(rank.channel, rank.waiter);
      if (!status) text = status.error().text();
      throw RankEnded{RankEnded::Kind::aborted, 1, ""};
    }
    throw RankEnded{RankEnded::Kind::aborted, 1, ""};
  });
  CHECK(text.find("rank 0 of the communicator calls MPI_Bcast where rank 1 calls MPI_Barrier") != text.npos);
}

TEST_CASE("counts that do not fit are told", "[mpi]") {
  Job job({.size = 2});
  std::string text;
  job.run([&](Rank& rank) {
    std::vector<std::byte> data(rank.self() == 0 ? 8 : 16);
    auto status = broadcast(rank.channel, rank.waiter, Data::of(std::span<const std::byte>(data)), 0);
    if (!status) text = status.error().text();
    throw RankEnded{RankEnded::Kind::aborted, 1, ""};
  });
  CHECK(text.find("gives 8 bytes to MPI_Bcast number 1, where rank 1 expects 16:") != text.npos);
}

TEST_CASE("who takes goes by the length of each piece that comes", "[mpi]") {
  // Members may cut their data differently, as they find out at different times that histories are not kept.
  const bool keep_all = GENERATE(true, false);
  Job job({.size = 2, .keep_all = keep_all});
  Findings findings;
  const auto ended = job.run([&](Rank& rank) {
    for (const std::size_t bytes : {100'000, 131'072, 131'073, 131'120, 131'121, 400'000})
      for (const std::size_t piece_bytes : {0, 49, 30'000, 65'536, 131'072}) {
        const auto expected = pattern(0, static_cast<int>(piece_bytes), bytes);
        std::vector<std::byte> taken(rank.self() == 0 ? 0 : bytes);
        Sending sending;
        Receiving receiving;
        rank.channel.begin(Kind::bcast);
        if (rank.self() == 0)
          sending =
              Sending(rank.channel, Data::of(std::span<const std::byte>(expected)), everybody, piece_bytes);
        else
          receiving = Receiving(rank.channel, Data::of(std::span<const std::byte>(taken)), 0);
        if (!sending.step() || !receiving.step())
          rank.waiter.wait_until(
              [&] { return rank.channel.failed() || (sending.step() && receiving.step()); });
        rank.channel.end();
        findings.expect(!rank.channel.failed() && (rank.self() == 0 || taken == expected),
                        fmt::format("{} bytes by {}", bytes, piece_bytes));
      }
  });
  CHECK(ended == "");
  CHECK(findings.found() == "");
}
