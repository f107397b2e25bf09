#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>

#include "arena_memory.hpp"
#include "llamada/llamanet/driver_page.hpp"
#include "llamada/llamanet/memory_source.hpp"
#include "test.hpp"

// How far the memory of an arena exists, and is accessible, as it grows: in files of a tmpfs and in memfds.

using namespace llamada;
using namespace llamada::llamanet;

namespace {

constexpr std::uint64_t arena_bytes = std::uint64_t{8} << 30;
constexpr std::uint64_t step_bytes = ArenaMemory::opened_bytes;

const std::array<MemorySource, 2>& sources() {
  static const std::array<MemorySource, 2> both{MemorySource::open(), MemorySource()};
  return both;
}

FileDescriptor new_file(const MemorySource& source) {
  auto file = source.create_growing("llamada-test", arena_bytes, arena_bytes_at_first);
  REQUIRE(file);
  return std::move(*file);
}

std::unique_ptr<ArenaMemory> map(FileDescriptor file) {
  auto memory = ArenaMemory::map(std::move(file), arena_bytes, [] { return false; });
  REQUIRE(memory);
  return std::move(*memory);
}

/// How many bytes from `begin` on can be read and written, in one piece.
std::uint64_t accessible_bytes(const std::byte* begin) {
  std::uintptr_t end = reinterpret_cast<std::uintptr_t>(begin);
  std::FILE* const maps = std::fopen("/proc/self/maps", "r");
  REQUIRE(maps != nullptr);
  std::uintptr_t from = 0, to = 0;
  char rights[5], line[512];
  while (std::fgets(line, sizeof line, maps) != nullptr)
    if (std::sscanf(line, "%lx-%lx %4s", &from, &to, rights) == 3 && from == end && rights[1] == 'w')
      end = to;
  std::fclose(maps);
  return std::min<std::uint64_t>(end - reinterpret_cast<std::uintptr_t>(begin),
                                 arena_bytes);  // others may follow
}

std::uint64_t size_of_file(const ArenaMemory& memory) { return size_of(memory.file()).value_or(0); }

/// The code of a child process that does this; it has no bugs if that is 0.
int in_child(const std::function<int()>& act) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(act());
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

constexpr int refused = 77;

std::uint64_t resident_bytes() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return static_cast<std::uint64_t>(used.ru_maxrss) << 10;
}

/// As a program that locks its memory before and after its arena has grown, beside a peer's that has not.
int locks_little(const MemorySource& source) {
  auto memory = map(new_file(source));
  const FileDescriptor peer = new_file(source);
  const auto reading = Mapping::map(peer.get(), arena_bytes, Mapping::Access::read_only);
  if (!reading || !memory->prepare(memory->bytes().subspan(20 << 20, 1 << 20))) return 1;
  if (::mlockall(MCL_CURRENT | MCL_FUTURE) != 0) return refused;
  if (!memory->prepare(memory->bytes().subspan(60 << 20, 1 << 20))) return 2;
  memory->bytes()[(61 << 20) - 1] = std::byte{1};
  return resident_bytes() < (std::uint64_t{1} << 30) ? 0 : 3;
}

}  // namespace

TEST_CASE("arena memory: it is accessible as far as its file goes, in steps", "[llamanet]") {
  for (const MemorySource& source : sources()) {
    auto memory = map(new_file(source));
    CHECK(memory->size() == arena_bytes);
    CHECK(accessible_bytes(memory->data()) == step_bytes);
    REQUIRE(memory->prepare(memory->bytes().subspan(100 << 10, 4096)));
    CHECK(accessible_bytes(memory->data()) == step_bytes);
    CHECK(size_of_file(*memory) == arena_bytes_at_first);

    const auto prepared = memory->bytes().subspan(2 * step_bytes + 5, 300'000);
    REQUIRE(memory->prepare(prepared));
    CHECK(accessible_bytes(memory->data()) == 3 * step_bytes);
    CHECK(size_of_file(*memory) < 3 * step_bytes);
    std::ranges::fill(prepared, std::byte{1});

    const std::vector<std::byte> payload(3'000'000, std::byte{3});
    const auto room = memory->bytes().subspan(5 * step_bytes - 1'000'000, payload.size());
    for (std::size_t stored = 0; stored < payload.size();)
      stored += memory->store(room.subspan(stored), std::span(payload).subspan(stored));
    CHECK(std::ranges::equal(room, payload));
    CHECK(accessible_bytes(memory->data()) == 6 * step_bytes);

    REQUIRE(memory->reach(memory->data() + 9 * step_bytes));
    CHECK(accessible_bytes(memory->data()) == 9 * step_bytes);
    CHECK(size_of_file(*memory) == 9 * step_bytes);
    REQUIRE(memory->populate(memory->bytes().subspan(9 * step_bytes, 4096)));
    CHECK(accessible_bytes(memory->data()) == 10 * step_bytes);
    REQUIRE(memory->reach(memory->data() + memory->size()));
    CHECK(accessible_bytes(memory->data()) == arena_bytes);
  }
}

TEST_CASE("arena memory: a successor can access what its predecessor's file has", "[llamanet]") {
  for (const MemorySource& source : sources()) {
    const FileDescriptor file = new_file(source);
    auto before = map(FileDescriptor(::dup(file.get())));
    REQUIRE(before->prepare(before->bytes().subspan(3 * step_bytes, 64)));
    before->bytes()[3 * step_bytes] = std::byte{5};
    before.reset();
    const auto after = map(FileDescriptor(::dup(file.get())));
    CHECK(accessible_bytes(after->data()) == 4 * step_bytes);
    CHECK(after->bytes()[3 * step_bytes] == std::byte{5});
  }
}

TEST_CASE("arena memory: what a child of a fork writes is its own, and does not grow", "[llamanet]") {
  for (const MemorySource& source : sources()) {
    auto memory = map(new_file(source));
    memory->bytes()[0] = memory->bytes()[step_bytes - 1] = std::byte{1};
    CHECK(in_child([&] {
            memory->seal();
            memory->bytes()[0] = std::byte{2};
            if (memory->bytes()[step_bytes - 1] != std::byte{1}) return 1;
            if (memory->prepare(memory->bytes().subspan(step_bytes, 100'000))) return 2;
            if (!memory->prepare(memory->bytes().first(100'000))) return 3;
            return memory->bytes()[0] == std::byte{2} ? 0 : 4;
          }) == 0);
    CHECK(memory->bytes()[0] == std::byte{1});
    CHECK(size_of_file(*memory) == arena_bytes_at_first);
  }
}

TEST_CASE("arena memory: a program that locks its memory locks what is used", "[llamanet]") {
  for (const MemorySource& source : sources()) {
    const int code = in_child([&] { return locks_little(source); });
    if (code == refused)
      WARN("SKIPPED: this user may not lock so much memory (ulimit -l)");
    else
      CHECK(code == 0);
  }
}
