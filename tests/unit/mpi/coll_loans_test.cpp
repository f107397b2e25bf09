#include "coll/direct_movement.hpp"
#include "coll_numbers.hpp"
#include "coll_ranks.hpp"
#include "world/peer_memory.hpp"

using namespace llamada;
using namespace llamada::mpi;
using namespace llamada::mpi::coll;
using namespace llamada::mpi::coll::testing;

namespace {

/// From how many bytes on parts are lent here, between the sizes of flow().
constexpr std::size_t lent_min = 5000;

/// From s to r: nothing, what fits into a record, into some, or what is lent.
std::size_t flow(int s, int r, int round) {
  constexpr std::size_t lengths[] = {0, 40, 4999, 5000, 70'000, 300'001};
  return lengths[(s + 2 * r + round) % 6];
}

/// A buffer with one part for each member, and some bytes between them.
struct Buffer {
  explicit Buffer(const std::vector<std::size_t>& lengths) {
    std::size_t total = 8;
    for (const std::size_t length : lengths) {
      places.push_back(total);
      total += length + 8;
    }
    bytes.resize(total, std::byte{0x77});
    for (std::size_t i = 0; i < lengths.size(); ++i)
      list.push_back(Data::of(std::span<const std::byte>(bytes.data() + places[i], lengths[i])));
  }
  void fill(std::size_t part, const std::vector<std::byte>& with) {
    std::copy(with.begin(), with.end(), bytes.begin() + static_cast<std::ptrdiff_t>(places[part]));
  }
  /// Whether there is this, and nothing was written behind it.
  bool holds(std::size_t part, const std::vector<std::byte>& what) const {
    const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(places[part]);
    const auto end = begin + static_cast<std::ptrdiff_t>(what.size());
    return std::equal(what.begin(), what.end(), begin) && *end == std::byte{0x77} &&
           *(begin - 1) == std::byte{0x77};
  }

  std::vector<std::byte> bytes;
  std::vector<std::size_t> places;
  std::vector<Data> list;
};

Status exchange(Rank& rank, std::span<const Data> given, std::span<const Data> taken,
                Kind kind = Kind::alltoall) {
  const Parts from(given), to(taken);
  Alltoall machine(rank.channel, from, to, false, lent_min, kind);
  return run(rank.channel, rank.waiter, machine);
}

void check_exchange(Rank& rank, int round, bool in_place, Findings& findings) {
  const int self = rank.self();
  std::vector<std::size_t> there, back;
  for (int other = 0; other < rank.size(); ++other) {
    // In place both directions are as long as each other.
    const int low = in_place ? std::min(self, other) : self, high = in_place ? std::max(self, other) : other;
    there.push_back(flow(low, high, round));
    back.push_back(in_place ? there.back() : flow(other, self, round));
  }
  Buffer given(there), taken(back);
  for (std::size_t other = 0; other < there.size(); ++other)
    (in_place ? taken : given).fill(other, pattern(self, static_cast<int>(other), there[other]));
  const Parts from(given.list), to(taken.list);
  Alltoall machine(rank.channel, from, to, in_place, lent_min);
  bool good = bool(run(rank.channel, rank.waiter, machine));
  for (int other = 0; other < rank.size(); ++other) {
    const auto index = static_cast<std::size_t>(other);
    good = good && taken.holds(index, pattern(other, self, back[index]));
  }
  findings.expect(good, fmt::format("round {} of {}{}", round, rank.size(), in_place ? " in place" : ""));
}

/// Each other member's part of this length goes to the root, alone or as it is asked to.
void check_gather(Rank& rank, std::size_t bytes, int root, Findings& findings) {
  const auto size = static_cast<std::size_t>(rank.size());
  const auto own = pattern(rank.self(), 3, bytes);
  const auto data = Data::of(std::span<const std::byte>(own));
  if (rank.self() != root) {
    std::vector<Data> given(size);
    given[static_cast<std::size_t>(root)] = data;
    findings.expect(bool(exchange(rank, given, std::vector<Data>(size), Kind::gather)), "part of a gather");
    return;
  }
  Buffer taken(std::vector<std::size_t>(size, bytes));
  const Parts results(taken.list);
  Gather machine(rank.channel, data, results, root, false);
  bool good = bool(run(rank.channel, rank.waiter, machine));
  for (int other = 0; other < rank.size(); ++other)
    good = good && taken.holds(static_cast<std::size_t>(other), pattern(other, 3, bytes));
  findings.expect(good, fmt::format("gather of {}", bytes));
}

void check_scatter(Rank& rank, int root, Findings& findings) {
  std::vector<std::size_t> lengths;
  for (int other = 0; other < rank.size(); ++other) lengths.push_back(flow(root, other, root));
  Buffer given(lengths);
  for (std::size_t other = 0; other < lengths.size(); ++other)
    given.fill(other, pattern(root, static_cast<int>(other), lengths[other]));
  std::vector<std::byte> own(lengths[static_cast<std::size_t>(rank.self())]);
  const Parts parts(given.list);
  Scatter machine(rank.channel, parts, Data::of(std::span<const std::byte>(own)), root, false, lent_min);
  const auto status = run(rank.channel, rank.waiter, machine);
  findings.expect(status && own == pattern(root, rank.self(), own.size()), "scatter");
}

void check_all(Rank& rank, Findings& findings) {
  for (int round = 0; round < 12; ++round) check_exchange(rank, round, round % 3 == 0, findings);
  for (const std::size_t bytes : {5000, 70'000, 300'001})
    for (const int root : {0, rank.size() - 1}) check_gather(rank, bytes, root, findings);
  for (const int root : {0, rank.size() - 1}) check_scatter(rank, root, findings);
}

}  // namespace

TEST_CASE("large parts stay in their giver's memory until they are copied", "[mpi]") {
  const int size = GENERATE(2, 3, 5);
  Job job({.size = size, .bound_bytes = 4096});
  Findings findings;
  const auto ended = job.run([&](Rank& rank) { check_all(rank, findings); });
  CHECK(ended == "");
  CHECK(findings.found() == "");
}

TEST_CASE("who does not reach a lender's memory gets the part through the log", "[mpi]") {
  const int size = GENERATE(2, 3);
  Job job({.size = size, .bound_bytes = 4096, .is_near = true});
  Findings findings;
  const auto ended = job.run([&](Rank& rank) {
    // As if the first one were elsewhere: nobody reaches it, and it reaches nobody.
    for (int other = 0; other < rank.size(); ++other)
      if (rank.self() == 0 || other == 0) rank.channel.loans().set_reached(other, own_card(), false);
    check_all(rank, findings);
    for (int other = 0; other < rank.size(); ++other) {
      if (other == rank.self()) continue;
      const bool may = rank.self() != 0 && other != 0;
      findings.expect(rank.channel.loans().may_lend_to(other) == may, "what was refused is asked for again");
    }
  });
  CHECK(ended == "");
  CHECK(findings.found() == "");
}

// Two lend to each other and have more for the third than there is room for: what they say of their loans
// lies before it in the log, where each holds the other's room until it is read.
TEST_CASE("who waits for room hears what is said of its loans", "[mpi]") {
  constexpr std::size_t part_bytes = 100'000;
  const std::size_t bound_bytes = GENERATE(4096, 20'000, 50'000);
  Job job({.size = 3, .bound_bytes = bound_bytes});
  Findings findings;
  const auto ended = job.run([&](Rank& rank) {
    for (int other = 0; other < 3; ++other)
      if (rank.self() == 1 || other == 1) rank.channel.loans().set_reached(other, own_card(), false);
    for (int round = 0; round < 100; ++round) {
      Buffer given(std::vector<std::size_t>(3, part_bytes)), taken(std::vector<std::size_t>(3, part_bytes));
      for (int other = 0; other < 3; ++other)
        given.fill(static_cast<std::size_t>(other), pattern(rank.self(), other + round, part_bytes));
      if (rank.self() == 1) std::this_thread::sleep_for(std::chrono::microseconds(20 * (round % 7)));
      bool good = bool(exchange(rank, given.list, taken.list));
      for (int other = 0; other < 3; ++other)
        good = good && (other == rank.self() || taken.holds(static_cast<std::size_t>(other),
                                                            pattern(other, rank.self() + round, part_bytes)));
      findings.expect(good, fmt::format("round {}", round));
    }
  });
  CHECK(ended == "");
  CHECK(findings.found() == "");
}

TEST_CASE("lent parts with gaps at either end come whole", "[mpi]") {
  Types types;
  auto spaced = make_resized(*types.table.find(MPI_DOUBLE), 0, 24);
  Job job({.size = 3, .bound_bytes = 4096});
  Findings findings;
  const auto ended = job.run([&](Rank& rank) {
    constexpr std::size_t count = 20'000;
    const auto self = static_cast<std::size_t>(rank.self());
    // Whose rank is 1 has gaps in what it gives, whose is 2 in what it takes.
    const std::size_t stride = self == 1 ? 3 : 1, result_stride = self == 2 ? 3 : 1;
    const auto spread = [](double value, std::size_t apart) {
      std::vector<double> made(count * apart, -1);
      for (std::size_t i = 0; i < made.size(); i += apart) made[i] = value + static_cast<double>(i / apart);
      return made;
    };
    const auto type_of = [&](std::size_t apart) -> const Datatype& {
      return apart == 3 ? *spaced.get() : types[MPI_DOUBLE];
    };
    for (int round = 0; round < 2; ++round) {
      std::vector<std::vector<double>> given, taken;
      std::vector<Data> from, to;
      for (std::size_t other = 0; other < 3; ++other) {
        given.push_back(spread(static_cast<double>(100'000 * (3 * self + other)), stride));
        taken.emplace_back(count * result_stride, -1);
        from.push_back(Data::of(given.back().data(), count, type_of(stride)));
        to.push_back(Data::of(taken.back().data(), count, type_of(result_stride)));
      }
      findings.expect(bool(exchange(rank, from, to)), "exchange");
      for (std::size_t other = 0; other < 3; ++other)
        findings.expect(
            taken[other] == spread(static_cast<double>(100'000 * (3 * other + self)), result_stride),
            fmt::format("what {} gave to {}", other, self));
    }
  });
  CHECK(ended == "");
  CHECK(findings.found() == "");
}

TEST_CASE("who is lent more or less than it expects is told, and all others have theirs", "[mpi]") {
  const bool is_longer = GENERATE(true, false);
  Job job({.size = 3, .bound_bytes = 4096, .is_near = true});
  Findings findings;
  const auto ended = job.run([&](Rank& rank) {
    constexpr std::size_t bytes = 100'000;
    for (int round = 0; round < 4; ++round) {
      // 0 gives to 2 what it does not expect.
      std::vector<std::size_t> there(3, bytes), back(3, bytes);
      if (rank.self() == 0) there[2] = is_longer ? bytes + 5000 : bytes - 5000;
      Buffer given(there), taken(back);
      for (int other = 0; other < 3; ++other)
        given.fill(static_cast<std::size_t>(other),
                   pattern(rank.self(), other, there[static_cast<std::size_t>(other)]));
      const auto status = exchange(rank, given.list, taken.list);
      findings.expect(bool(status) == (rank.self() != 2), "who was told");
      if (!status)
        findings.expect(status.error().code() == (is_longer ? Errc::incompatible : Errc::invalid_argument) &&
                            taken.holds(0, std::vector<std::byte>(bytes, std::byte{0x77})),
                        "what was told");
      for (int other = 0; other < 3 && status; ++other)
        findings.expect(taken.holds(static_cast<std::size_t>(other), pattern(other, rank.self(), bytes)),
                        "what others gave");
      check_exchange(rank, round, false, findings);
    }
  });
  CHECK(ended == "");
  CHECK(findings.found() == "");
}

TEST_CASE("a lender does not wait for whom expects nothing", "[mpi]") {
  Job job({.size = 2, .bound_bytes = 4096});
  Findings findings;
  const auto ended = job.run([&](Rank& rank) {
    const bool gives = rank.self() == 1;
    Buffer given({gives ? std::size_t{50'000} : 0, 0}), taken({0, 0});
    findings.expect(bool(exchange(rank, given.list, taken.list)), "exchange");
    // The one who was given something is told with the next collective.
    const auto status = barrier(rank.channel, rank.waiter);
    findings.expect(bool(status) == gives, "barrier");
    check_exchange(rank, 1, false, findings);
  });
  CHECK(ended == "");
  CHECK(findings.found() == "");
}

TEST_CASE("members that call another collective than a lender do not hold it", "[mpi]") {
  Job job({.size = 2, .bound_bytes = 4096});
  Findings findings;
  (void)job.run([&](Rank& rank) {
    if (rank.self() == 0) {
      findings.expect(!barrier(rank.channel, rank.waiter), "barrier");
    } else {
      Buffer given({50'000, 0}), taken({50'000, 0});
      findings.expect(!exchange(rank, given.list, taken.list), "exchange");
    }
  });
  CHECK(findings.found() == "");
}

TEST_CASE("a buffer that is not there is told to who is to copy it, and holds nobody", "[mpi]") {
  Job job({.size = 2, .bound_bytes = 4096, .is_near = true});
  Findings findings;
  (void)job.run([&](Rank& rank) {
    const bool gives = rank.self() == 1;
    const std::span<const std::byte> nowhere(reinterpret_cast<const std::byte*>(64), 50'000);
    Buffer taken({0, gives ? std::size_t{0} : 50'000});
    const std::vector<Data> given{gives ? Data::of(nowhere) : Data{}, Data{}};
    const auto status = exchange(rank, given, taken.list);
    findings.expect(bool(status) == gives, "exchange");
    findings.expect(gives || status.error().text().find("cannot reach the buffer") != std::string::npos,
                    "what was told");
  });
  CHECK(findings.found() == "");
}
