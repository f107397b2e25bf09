// A replacement that is killed at any step of giving back its predecessors' copies leaves what the next one
// needs.
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "llamada/base/crash_point.hpp"
#include "llamada/log/log_writer.hpp"
#include "points.hpp"
#include "test.hpp"
#include "world/past_copies.hpp"

using namespace llamada;
using namespace llamada::log;
using mpi::PastCopies;
using replication::LogName;

namespace {

constexpr std::size_t arena_bytes = std::size_t{8} << 20;
constexpr std::size_t text_bytes = 4096;

/// Memory that the children share: an arena, and a text that one of them leaves.
class Shared {
 public:
  Shared()
      : memory_(static_cast<std::byte*>(mmap(nullptr, arena_bytes + text_bytes, PROT_READ | PROT_WRITE,
                                             MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
    REQUIRE(memory_ != MAP_FAILED);
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared() { munmap(memory_, arena_bytes + text_bytes); }

  std::span<std::byte> arena() { return {memory_, arena_bytes}; }
  char* text() { return reinterpret_cast<char*>(memory_ + arena_bytes); }

 private:
  std::byte* memory_;
};

const LogName short_log{3, {1, 0}}, long_log{4, {1, 0}}, empty_log{5, {2, 7}};

/// A rank has read copies of three logs; one of them has been used again several times, one has been left.
void live_first(std::span<std::byte> memory) {
  auto arena = std::move(*ArenaWriter::open(memory, {}));
  const std::vector<std::byte> payload(1000);
  for (const auto& [name, records] :
       {std::pair(short_log, 3), std::pair(long_log, 700), std::pair(empty_log, 0)}) {
    auto* cursor = *arena->cursor(name.key, name.writer);
    auto copy = std::move(*LogWriter::open(*arena, replication::copy_key(name), {}));
    copy.add_reader(cursor);
    LogReader reader = LogReader::open(arena->own(), copy.index(), cursor);
    for (int i = 0; i < records; ++i) {
      REQUIRE(copy.publish(kind_data, 0, 0, payload));
      REQUIRE(reader.peek());
      reader.advance();
      reader.release(reader.position_chunk());
    }
    if (name == short_log) cursor->consumed = retired_cursor;
  }
  auto own = std::move(*LogWriter::open(*arena, {1, 3}, {.retention = Retention::keep_all}));
  REQUIRE(own.publish(kind_data, 0, 0, payload));
}

/// What a replacement finds; empty if that is right.
std::string take_and_look(std::span<std::byte> memory) {
  auto arena = ArenaWriter::open(memory, {});
  if (!arena) return arena.error().text();
  auto past = PastCopies::take(**arena);
  if (!past) return past.error().text();
  if (past->records_of(short_log) != 3 || past->records_of(long_log) != 700 ||
      past->records_of(empty_log) != 0)
    return fmt::format("{} and {} records", past->records_of(short_log), past->records_of(long_log));
  for (const LogName& name : {short_log, long_log, empty_log}) {
    if ((*arena)->find_log(replication::copy_key(name))) return "a copy is left";
    if ((*(*arena)->cursor(name.key, name.writer))->consumed != 0) return "a cursor does not begin again";
  }
  if (!(*arena)->find_log({1, 3})) return "the rank's own log is gone";
  return (*arena)->find_damage();
}

/// Runs this in a child; true if it was killed.
bool dies(const std::function<void()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

}  // namespace

TEST_CASE("past copies: a replacement killed at any step leaves what its predecessor had", "[crash]") {
  Shared first;
  // In a process of its own: its passes are not counted.
  REQUIRE_FALSE(dies([&] { live_first(first.arena()); }));
  const std::vector<std::byte> left(first.arena().begin(), first.arena().end());
  REQUIRE_FALSE(dies([&] {
    (void)take_and_look(first.arena());
    crash::passes_so_far().copy(first.text(), text_bytes - 1);
  }));
  int deaths = 0;
  for (const auto& [point, passes] : crash::parse_passes(first.text()))
    for (std::uint64_t pass = 1; pass <= passes; ++pass) {
      CAPTURE(point, pass);
      std::ranges::copy(left, first.arena().begin());
      deaths += dies([&] {
        arm_crash_point(point, pass);
        (void)take_and_look(first.arena());
      });
      REQUIRE(take_and_look(first.arena()) == "");
      // And once more.
      REQUIRE(take_and_look(first.arena()) == "");
    }
  CHECK(deaths > 20);
}
