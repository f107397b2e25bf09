#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <vector>

#include "llamada/base/random.hpp"
#include "object/type_builder.hpp"
#include "rma/accumulate.hpp"
#include "rma/reach.hpp"
#include "runtime/runtime.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::mpi;
using namespace llamada::mpi::rma;

namespace {

constexpr std::size_t room_bytes = 400'000;

/// Derived types with integers at all sorts of places, each of 40 of them an element.
std::vector<Reference<Datatype>> shapes(Runtime& runtime) {
  Datatype& one = *runtime.datatypes.find(MPI_INT);
  std::vector<Reference<Datatype>> made;
  made.push_back(make_contiguous(40, one));
  made.push_back(make_vector(20, 2, 12, one, {}));
  made.push_back(make_vector(40, 1, -8, one, {}));
  std::array<MPI_Count, 4> lengths{10, 1, 20, 9};
  std::array<MPI_Aint, 4> places{160, 0, 40, 400};
  made.push_back(make_indexed(lengths, places, one, {}));
  made.push_back(make_resized(*made[1], -16, 300));
  return made;
}

/// Where an element's address may be so that elements before and behind it fit.
constexpr std::size_t origin_offset = 100'000;

std::vector<std::byte> random_bytes(Random& random) {
  std::vector<std::byte> bytes(room_bytes);
  for (auto& byte : bytes) byte = static_cast<std::byte>(random.next());
  return bytes;
}

Target target_in(std::vector<std::byte>& memory, std::size_t count, const Datatype& type, bool direct) {
  return {reinterpret_cast<std::uint64_t>(memory.data() + origin_offset), count, &type, ::getpid(), direct};
}

}  // namespace

TEST_CASE("transfer: through the kernel moves the same bytes as through mapped memory", "[mpi]") {
  Runtime runtime;
  Random random(20261122);
  const auto types = shapes(runtime);
  const Operation& sum = *runtime.operations.find(MPI_SUM);
  const Datatype& basic = *runtime.datatypes.find(MPI_INT);
  for (std::size_t count : {1u, 3u, 200u})
    for (const auto& from : types)
      for (const auto& to : types) {
        auto origin = random_bytes(random), direct = random_bytes(random), remote = direct;
        const Operand operand{origin.data() + origin_offset, count, from.get()};
        REQUIRE(put(operand, target_in(direct, count, *to, true)));
        REQUIRE(put(operand, target_in(remote, count, *to, false)));
        CHECK(direct == remote);
        REQUIRE(accumulate(operand, target_in(direct, count, *to, true), MPI_SUM, sum, basic));
        REQUIRE(accumulate(operand, target_in(remote, count, *to, false), MPI_SUM, sum, basic));
        CHECK(direct == remote);
        auto got = random_bytes(random), got_remote = got;
        REQUIRE(get({got.data() + origin_offset, count, from.get()}, target_in(direct, count, *to, true)));
        REQUIRE(get({got_remote.data() + origin_offset, count, from.get()},
                    target_in(remote, count, *to, false)));
        CHECK(got == got_remote);
        // What was put comes back as twice what it was: it was added to itself.
        std::vector<std::byte> packed(operand.bytes()), back(operand.bytes());
        from->pack(operand.base, count, 0, packed);
        from->pack(got.data() + origin_offset, count, 0, back);
        for (std::size_t i = 0; i < packed.size(); i += sizeof(std::uint32_t)) {
          std::uint32_t was = 0, is = 0;
          std::memcpy(&was, &packed[i], sizeof was);
          std::memcpy(&is, &back[i], sizeof is);
          if (is != 2 * was) FAIL("element " << i / 4 << ": " << is << " is not twice " << was);
        }
      }
}

TEST_CASE("transfer: a part of the stream is what the datatype's own walk gives", "[mpi]") {
  Runtime runtime;
  Random random(7);
  for (const auto& type : shapes(runtime)) {
    auto memory = random_bytes(random);
    const auto target = target_in(memory, 50, *type, false);
    std::vector<std::byte> whole(target.bytes());
    type->pack(memory.data() + origin_offset, 50, 0, whole);
    for (int round = 0; round < 50; ++round) {
      const std::size_t first = random.below(whole.size());
      std::vector<std::byte> part(1 + random.below(whole.size() - first));
      REQUIRE(fetch(target, first, part));
      CHECK(std::equal(part.begin(), part.end(), whole.begin() + static_cast<std::ptrdiff_t>(first)));
    }
  }
}

TEST_CASE("accumulate: pairs with a gap keep it as it was", "[mpi]") {
  struct Pair {
    double value;
    int place;
    int gap;
  };
  Runtime runtime;
  const Datatype& type = *runtime.datatypes.find(MPI_DOUBLE_INT);
  const Operation& maximum = *runtime.operations.find(MPI_MAXLOC);
  for (bool direct : {true, false}) {
    Pair given[2] = {{5, 1, 11}, {1, 2, 22}}, there[2] = {{4, 7, 33}, {4, 8, 44}};
    const Target target{reinterpret_cast<std::uint64_t>(there), 2, &type, ::getpid(), direct};
    REQUIRE(accumulate({given, 2, &type}, target, MPI_MAXLOC, maximum, type));
    CHECK((there[0].value == 5 && there[0].place == 1 && there[0].gap == 33));
    CHECK((there[1].value == 4 && there[1].place == 8 && there[1].gap == 44));
  }
}

TEST_CASE("accumulate: the basic type of a derived one, or none", "[mpi]") {
  Runtime runtime;
  Datatype& integer = *runtime.datatypes.find(MPI_INT);
  Datatype& real = *runtime.datatypes.find(MPI_DOUBLE);
  const auto inner = make_contiguous(3, integer);
  const auto outer = make_contiguous(2, *inner);
  CHECK(basic_type_of(*outer) == &integer);
  CHECK(basic_type_of(real) == &real);
  const std::array<MPI_Count, 2> lengths{1, 1};
  const std::array<MPI_Aint, 2> places{0, 8};
  const std::array<Datatype*, 2> parts{&integer, &real};
  CHECK(basic_type_of(*make_struct(lengths, places, parts, {})) == nullptr);
  CHECK_FALSE(may_accumulate(MPI_BAND, *runtime.operations.find(MPI_BAND), real));
  CHECK(may_accumulate(MPI_REPLACE, *runtime.operations.find(MPI_REPLACE), real));
}

TEST_CASE("reach: what a process does not have, and a process that is gone", "[mpi]") {
  std::byte byte{1};
  void* hole = ::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const Piece unreachable{&byte, reinterpret_cast<std::uint64_t>(hole), 1};
  auto read = read_process(::getpid(), {&unreachable, 1});
  REQUIRE_FALSE(read);
  CHECK(read.error().code() == Errc::invalid_argument);
  ::munmap(hole, 4096);
  const auto child = ::fork();
  if (child == 0) ::_exit(0);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  const Piece piece{&byte, reinterpret_cast<std::uint64_t>(&byte), 1};
  auto written = write_process(child, {&piece, 1});
  REQUIRE_FALSE(written);
  CHECK(written.error().code() == Errc::closed);
}

TEST_CASE("reach: the probe tells whether the system allows it, in one sentence", "[mpi]") {
  CHECK(probe_process(own_card()));
  const std::uint64_t other = 0;
  ProcessCard card = own_card();
  card.probe_address = reinterpret_cast<std::uint64_t>(&other);
  auto probed = probe_process(card);
  REQUIRE_FALSE(probed);
  CHECK(probed.error().code() == Errc::unsupported);
  CHECK(probed.error().text().find("ptrace_scope") != std::string::npos);
}
