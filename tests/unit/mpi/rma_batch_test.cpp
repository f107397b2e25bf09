#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <vector>

#include "llamada/base/random.hpp"
#include "rma/batch.hpp"
#include "runtime/runtime.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::mpi;
using namespace llamada::mpi::rma;

namespace {

template <typename T>
std::byte* bytes_of(T& value) {
  return reinterpret_cast<std::byte*>(&value);
}
template <typename T>
const std::byte* bytes_of(const T& value) {
  return reinterpret_cast<const std::byte*>(&value);
}
std::uint64_t address_of(const void* place) { return reinterpret_cast<std::uint64_t>(place); }

/// What an operation does when it is carried out at once.
void apply(const SmallOperation& operation, std::byte* there, std::byte* result) {
  if (operation.result) std::memcpy(result, there, operation.bytes);
  if (!operation.given) return;
  if (operation.compare && std::memcmp(there, operation.compare, operation.bytes) != 0) return;
  if (!operation.operation) {
    std::memcpy(there, operation.given, operation.bytes);
    return;
  }
  alignas(16) std::array<std::byte, Batch::operation_bytes_max> aligned;
  std::memcpy(aligned.data(), there, operation.bytes);
  operation.operation->apply(operation.given, aligned.data(), operation.bytes / operation.basic->size(),
                             *operation.basic);
  std::memcpy(there, aligned.data(), operation.bytes);
}

/// Small operations of all kinds on little memory, so that many meet in one place or reach into another.
class RandomOperations {
 public:
  static constexpr std::size_t memory_bytes = 2048;

  RandomOperations(Runtime& runtime, Random& random) : runtime_(runtime), random_(random) {}

  /// `given` and `compare` are buffers of operation_bytes_max.
  SmallOperation next(std::byte* memory, std::byte* given, std::byte* compare, std::byte* result) {
    const std::array<MPI_Datatype, 4> types{MPI_CHAR, MPI_SHORT, MPI_INT, MPI_LONG};
    const Datatype& basic = *runtime_.datatypes.find(types[random_.below(types.size())]);
    const std::size_t elements = random_.below(4) == 0 ? 1 + random_.below(8) : 1;
    SmallOperation operation;
    operation.bytes = elements * basic.size();
    const std::size_t place = random_.below((memory_bytes - operation.bytes) / basic.size()) * basic.size();
    operation.address = address_of(memory + place);
    for (std::size_t i = 0; i < operation.bytes; ++i) given[i] = static_cast<std::byte>(random_.next());
    const auto kind = random_.below(6);
    if (kind != 0) operation.given = given;                                          // else a get
    if (kind == 0 || kind == 2 || random_.below(3) == 0) operation.result = result;  // 1: a put or swap
    if (kind == 2) {
      operation.compare = compare;
      std::memcpy(compare, random_.below(2) == 0 ? memory + place : given, operation.bytes);
    }
    if (kind > 2) {
      operation.operation = runtime_.operations.find(MPI_SUM);
      operation.basic = &basic;
    }
    operation.is_accumulate = kind > 1;
    return operation;
  }

 private:
  Runtime& runtime_;
  Random& random_;
};

}  // namespace

TEST_CASE("batch: has the outcome of one operation after the other", "[mpi]") {
  Runtime runtime;
  Random random(20261122);
  RandomOperations operations(runtime, random);
  using Bytes = std::array<std::byte, Batch::operation_bytes_max>;
  std::vector<std::byte> memory(RandomOperations::memory_bytes), expected = memory;
  std::vector<Bytes> results(20'000), expected_results(results.size());
  Batch batch;
  std::size_t together = 0, together_max = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    alignas(16) Bytes given, compare;
    // What is compared is chosen by what is there, so now and then it is equal.
    auto operation = operations.next(expected.data(), given.data(), compare.data(), results[i].data());
    apply(operation, reinterpret_cast<std::byte*>(operation.address), expected_results[i].data());
    operation.address += address_of(memory.data()) - address_of(expected.data());
    if (random.below(100) == 0 || !batch.add(operation)) {
      REQUIRE(batch.carry_out(::getpid()));
      REQUIRE(batch.is_empty());
      REQUIRE(batch.add(operation));
      together = 0;
    }
    together_max = std::max(together_max, ++together);
    given.fill(std::byte{0xee});
    compare.fill(std::byte{0xee});
  }
  REQUIRE(batch.carry_out(::getpid()));
  CHECK(memory == expected);
  CHECK(results == expected_results);
  CHECK(together_max > 10);
}

TEST_CASE("batch: nothing happens before it is carried out, and then at once", "[mpi]") {
  std::array<long, 200> there{}, results{};
  results.fill(-1);
  Batch batch;
  std::size_t recorded = 0;
  for (;; ++recorded) {
    const long value = static_cast<long>(recorded) + 1;
    if (!batch.add(
            {.address = address_of(&there[recorded]), .bytes = sizeof value, .given = bytes_of(value)}))
      break;
  }
  CHECK(recorded == Batch::operations_max);
  CHECK(there == std::array<long, 200>{});
  CHECK_FALSE(batch.has_accumulates());
  REQUIRE(batch.carry_out(::getpid()));
  for (std::size_t i = 0; i < there.size(); ++i)
    CHECK(there[i] == (i < recorded ? static_cast<long>(i) + 1 : 0));
  for (std::size_t i = 0; i < recorded; ++i)
    REQUIRE(
        batch.add({.address = address_of(&there[i]), .bytes = sizeof(long), .result = bytes_of(results[i])}));
  CHECK(results[0] == -1);
  REQUIRE(batch.carry_out(::getpid()));
  for (std::size_t i = 0; i < recorded; ++i) CHECK(results[i] == there[i]);
}

TEST_CASE("batch: as many of the largest operations as it takes have room", "[mpi]") {
  constexpr std::size_t bytes = Batch::operation_bytes_max;
  std::vector<std::byte> there(Batch::operations_max * bytes), given(bytes, std::byte{7}), old(bytes);
  Batch batch;
  for (std::size_t i = 0; i < Batch::operations_max; ++i) {
    const std::vector<std::byte> compare(bytes);
    REQUIRE(batch.add({.address = address_of(&there[i * bytes]),
                       .bytes = bytes,
                       .given = given.data(),
                       .result = old.data(),
                       .compare = compare.data(),
                       .is_accumulate = true}));
  }
  CHECK(batch.has_accumulates());
  REQUIRE(batch.carry_out(::getpid()));
  CHECK(there == std::vector<std::byte>(there.size(), std::byte{7}));
  CHECK(old == std::vector<std::byte>(bytes));
}

TEST_CASE("batch: longer puts and gets move straight, and nothing else on their places", "[mpi]") {
  constexpr std::size_t bytes = 1000;
  static_assert(bytes > Batch::operation_bytes_max);
  std::array<std::array<std::byte, bytes>, 3> there{}, given{}, got{};
  for (std::size_t i = 0; i < given.size(); ++i) given[i].fill(static_cast<std::byte>(i + 1));
  there[2].fill(std::byte{9});
  const std::byte one{1};
  Batch batch;
  const auto put = [&](std::size_t i) {
    return batch.add({.address = address_of(&there[i]), .bytes = bytes, .given = given[i].data()});
  };
  const auto get = [&](std::size_t i) {
    return batch.add({.address = address_of(&there[i]), .bytes = bytes, .result = got[i].data()});
  };
  REQUIRE(put(0));
  REQUIRE(put(1));
  REQUIRE(get(2));
  CHECK_FALSE(put(0));
  CHECK_FALSE(get(1));
  CHECK_FALSE(put(2));
  CHECK_FALSE(batch.add({.address = address_of(&there[1][bytes - 1]), .bytes = 1, .given = &one}));
  given[1].fill(std::byte{5});
  CHECK(there[0][0] == std::byte{0});
  REQUIRE(batch.carry_out(::getpid()));
  CHECK(there[0] == given[0]);
  CHECK(there[1] == given[1]);
  CHECK(got[2] == there[2]);
  CHECK(there[2][0] == std::byte{9});
  REQUIRE(get(0));
  REQUIRE(batch.carry_out(::getpid()));
  CHECK(got[0] == given[0]);
}

TEST_CASE("batch: of puts to one place the last is carried out, and gets that are the same are one",
          "[mpi]") {
  constexpr std::size_t bytes = 1000;
  std::array<std::byte, bytes> there{}, other{}, given{}, later{}, got{}, also_got{};
  given.fill(std::byte{1});
  later.fill(std::byte{2});
  Batch batch;
  const auto put = [&](auto& to, auto& from) {
    return batch.add({.address = address_of(to.data()), .bytes = bytes, .given = from.data()});
  };
  const auto get = [&](auto& from, auto& to, bool is_accumulate = false) {
    return batch.add({.address = address_of(from.data()),
                      .bytes = bytes,
                      .result = to.data(),
                      .is_accumulate = is_accumulate});
  };
  REQUIRE(put(there, given));
  REQUIRE(put(there, later));
  CHECK_FALSE(get(there, got));
  CHECK_FALSE(batch.add({.address = address_of(there.data()), .bytes = bytes - 1, .given = given.data()}));
  REQUIRE(batch.carry_out(::getpid()));
  CHECK(there == later);
  REQUIRE(get(there, got));
  REQUIRE(get(there, got));
  CHECK_FALSE(batch.has_accumulates());
  REQUIRE(get(there, got, true));
  CHECK(batch.has_accumulates());
  CHECK_FALSE(put(there, given));
  CHECK_FALSE(get(there, also_got));
  // Another operation comes between them, and may have to do with the same buffer.
  REQUIRE(get(other, got));
  CHECK_FALSE(get(there, got));
  REQUIRE(batch.carry_out(::getpid()));
  CHECK(got == other);
}

TEST_CASE("batch: who gets the same without end sees it change", "[mpi]") {
  long there = 0, got = 0;
  Batch batch;
  const SmallOperation get{.address = address_of(&there), .bytes = sizeof there, .result = bytes_of(got)};
  for (int calls = 0; got == 0; ++calls) {
    REQUIRE(calls < 1000);
    there = 1;
    if (batch.add(get)) continue;
    REQUIRE(batch.carry_out(::getpid()));
    REQUIRE(batch.add(get));
  }
}

TEST_CASE("batch: is full with a number of bytes, too, but takes any first one", "[mpi]") {
  constexpr std::size_t most = Batch::all_bytes_max / Batch::straight_bytes_max;
  std::vector<std::byte> there(Batch::all_bytes_max + 1), given(there.size(), std::byte{3});
  Batch batch;
  for (std::size_t i = 0; i < most; ++i)
    REQUIRE(batch.add({.address = address_of(there.data() + i * Batch::straight_bytes_max),
                       .bytes = Batch::straight_bytes_max,
                       .given = given.data()}));
  const SmallOperation last{
      .address = address_of(there.data() + there.size() - 1), .bytes = 1, .given = given.data()};
  CHECK_FALSE(batch.add(last));
  REQUIRE(batch.carry_out(::getpid()));
  REQUIRE(batch.add(last));
  REQUIRE(batch.carry_out(::getpid()));
  CHECK(there == given);
}

TEST_CASE("batch: what does not change is not written", "[mpi]") {
  constexpr std::size_t page = 4096;
  auto* memory =
      static_cast<int*>(::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  memory[0] = 5;
  REQUIRE(::mprotect(memory, page, PROT_READ) == 0);
  const int compare = 4, given = 6;
  int old = 0, got = 0;
  Batch batch;
  const SmallOperation swap{.address = address_of(memory),
                            .bytes = sizeof(int),
                            .given = bytes_of(given),
                            .result = bytes_of(old),
                            .compare = bytes_of(compare),
                            .is_accumulate = true};
  REQUIRE(batch.add(swap));
  REQUIRE(batch.add({.address = address_of(memory + 1), .bytes = sizeof(int), .result = bytes_of(got)}));
  CHECK(batch.carry_out(::getpid()));
  CHECK(old == 5);
  ::munmap(memory, page);
}

TEST_CASE("batch: a target without such memory is an error, and the batch is empty again", "[mpi]") {
  constexpr std::size_t page = 4096;
  void* hole = ::mmap(nullptr, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  int value = 3, there = 0;
  Batch batch;
  REQUIRE(batch.add({.address = address_of(hole), .bytes = sizeof value, .given = bytes_of(value)}));
  auto carried_out = batch.carry_out(::getpid());
  REQUIRE_FALSE(carried_out);
  CHECK(carried_out.error().code() == Errc::invalid_argument);
  CHECK(batch.is_empty());
  REQUIRE(batch.add({.address = address_of(&there), .bytes = sizeof value, .given = bytes_of(value)}));
  REQUIRE(batch.carry_out(::getpid()));
  CHECK(there == 3);
  ::munmap(hole, page);
}

namespace {

std::ptrdiff_t open_files() {
  const std::filesystem::directory_iterator files("/proc/self/fd");
  return std::distance(begin(files), end(files));
}

/// One operation by itself: what was there before.
long add_to(Batch& batch, long& there, const Operation& sum, const Datatype& type, long value) {
  long old = -1;
  REQUIRE(batch.add({.address = address_of(&there),
                     .bytes = sizeof there,
                     .given = bytes_of(value),
                     .result = bytes_of(old),
                     .operation = &sum,
                     .basic = &type,
                     .is_accumulate = true}));
  REQUIRE(batch.carry_out(::getpid()));
  return old;
}

}  // namespace

TEST_CASE("batch: one operation after the other, of more targets than there are files for", "[mpi]") {
  Runtime runtime;
  const Operation& sum = *runtime.operations.find(MPI_SUM);
  const Datatype& type = *runtime.datatypes.find(MPI_LONG);
  const auto files = open_files();
  {
    std::vector<Batch> batches(MemoryFile::open_max + 3);
    std::vector<long> there(5000);
    for (int round = 0; round < 3; ++round)
      for (std::size_t i = 0; i < there.size(); i += 7)
        CHECK(add_to(batches[i % batches.size()], there[i], sum, type, static_cast<long>(i)) ==
              round * static_cast<long>(i));
    for (std::size_t i = 0; i < there.size(); ++i) CHECK(there[i] == (i % 7 ? 0 : 3 * static_cast<long>(i)));
    CHECK(open_files() <= files + MemoryFile::open_max);
  }
  CHECK(open_files() == files);
}

TEST_CASE("batch: memory that its process cannot write is not written, though the next page is", "[mpi]") {
  constexpr std::size_t page = 4096, longs = page / sizeof(long);
  void* mapped = ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  auto* memory = static_cast<long*>(mapped);
  memory[longs] = 5;
  REQUIRE(::mprotect(memory + longs, page, PROT_READ) == 0);
  const long given = 6;
  Batch batch;
  for (int round = 0; round < 3; ++round) {
    REQUIRE(batch.add({.address = address_of(memory), .bytes = sizeof given, .given = bytes_of(given)}));
    REQUIRE(batch.carry_out(::getpid()));
    CHECK(memory[0] == 6);
    memory[0] = 0;
    REQUIRE(
        batch.add({.address = address_of(memory + longs), .bytes = sizeof given, .given = bytes_of(given)}));
    auto carried_out = batch.carry_out(::getpid());
    REQUIRE_FALSE(carried_out);
    CHECK(carried_out.error().code() == Errc::invalid_argument);
    CHECK(memory[longs] == 5);
  }
  ::munmap(mapped, 2 * page);
}
