// A process is killed at every step of publishing, consuming, recycling and recording; a successor adopts
// what is left, finds everything whole that had been acknowledged, and carries on.

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <optional>
#include <random>

#include "arena_fixture.hpp"
#include "crash_points.hpp"
#include "llamada/log/journal.hpp"
#include "llamada/log/journal_reader.hpp"

namespace llamada::log {
namespace {

using test::log_crash_points;

constexpr std::size_t arena_bytes = 8 << 20;
constexpr LogKey kept_key{1, 1}, stream_key{1, 2}, journal_key{1, 3};
constexpr std::uint64_t round_count = 400;

/// What the worker has acknowledged, in memory that outlives it.
struct Progress {
  std::atomic<std::uint64_t> kept{0}, streamed{0}, read{0}, recorded{0};
};

std::size_t size_of(std::uint64_t number) { return number % 5 == 0 ? number * 31 % 4000 : number % 49; }

/// Of the log that keeps all: some records have the payload of the one before.
std::uint64_t content_of(std::uint64_t number) {
  const bool repeats = number % 10 == 1 && size_of(number - 1) > inline_payload_max;
  return repeats ? number - 1 : number;
}

/// With a payload that is in the log already; false if it is not that one.
bool publish_again(LogWriter& log, std::uint64_t label, std::span<const std::byte> payload,
                   std::span<const std::byte> kept) {
  Reservation room;
  if (!log.reserve_again(kept, room)) return false;
  log.announce(room, 1, 0, label);
  if (!log.equals(room, payload)) return false;
  log.commit(std::move(room), 1, 0, label);
  return true;
}

/// Announced where it can be.
bool publish_announced(LogWriter& log, std::uint64_t label, std::span<const std::byte> payload) {
  auto room = log.reserve(payload.size(), LogWriter::Filling::by_fill);
  if (!room) return false;
  if (!room->extra().empty()) log.announce(*room, 1, 0, label);
  log.fill(*room, payload);
  log.commit(std::move(*room), 1, 0, label);
  return true;
}

/// What another process reads of the journal of one that has died, at whatever step.
bool is_readable(std::span<std::byte> memory, std::uint64_t recorded) {
  JournalReader reader({memory.data(), memory.size()}, journal_key);
  while (const auto entry = reader.read_next())
    if (entry->head != reader.read_count()) return false;
  return !reader.is_damaged() && reader.read_count() >= recorded;
}

/// Does its rounds from wherever a predecessor stopped. False when something was not as it must be.
bool work(std::span<std::byte> memory, Progress& progress) {
  if (!is_readable(memory, progress.recorded)) return false;
  auto arena = ArenaWriter::open(memory, small_arena());
  if (!arena) return false;
  if ((*arena)->reading().endpoint_count() == 0 && !(*arena)->add_endpoint({.topic = "t", .type = "t"}))
    return false;
  auto kept = LogWriter::open(**arena, kept_key, {.retention = Retention::keep_all});
  auto stream = LogWriter::open(**arena, stream_key, {.live_bytes_max = 40000});
  auto cursor = (*arena)->cursor(stream_key, 0);
  auto journal = Journal::open(**arena, journal_key);
  if (!kept || !stream || !cursor || !journal) return false;
  if (kept->published() < progress.kept || journal->size() < progress.recorded) return false;
  if (stream->published() < progress.streamed) return false;

  LogReader history = LogReader::open((*arena)->reading(), kept->index());
  std::span<const std::byte> last;
  for (std::uint64_t number = 0; number < kept->published(); ++number, history.advance()) {
    auto record = history.peek();
    const auto content = content_of(number);
    if (!record || record->label != number || !holds(record->payload, content, size_of(content)))
      return false;
    last = record->payload;
  }
  if (history.peek()) return false;
  for (std::uint64_t number = 0; auto entry = journal->read_next(); ++number)
    if (entry->head != number + 1) return false;

  stream->add_reader(*cursor);
  LogReader reader = LogReader::open((*arena)->reading(), stream->index(), *cursor);
  auto read_all = [&] {
    for (auto record = reader.peek(); record; record = reader.peek()) {
      const auto number = record->label;
      if (number > progress.read || !holds(record->payload, number, size_of(number))) return false;
      progress.read = std::max<std::uint64_t>(progress.read, number + 1);
      reader.advance();
      reader.release(reader.position_chunk());
    }
    return !reader.failed();
  };
  if (!read_all()) return false;
  for (std::uint64_t round = kept->published(); round < round_count; ++round) {
    const auto content = content_of(round);
    const auto payload = pattern(content, size_of(content));
    const bool seems_to_repeat = round % 10 == 2 && last.size() > inline_payload_max;
    if (seems_to_repeat && publish_again(*kept, round, pattern(round, last.size()), last)) return false;
    if (content != round ? !publish_again(*kept, round, payload, last)
                         : !publish_announced(*kept, round, payload))
      return false;
    last = history.peek()->payload;
    history.advance();
    progress.kept = kept->published();
    for (int i = 0; i < 4; ++i) {
      const auto number = stream->published();
      if (!stream->publish(1, 0, number, pattern(number, size_of(number)))) return false;
      progress.streamed = stream->published();
    }
    if (!read_all()) return false;
    for (int i = 0; i < 4; ++i) {
      if (!journal->append({static_cast<std::uint32_t>(journal->size() + 1), 0, 0})) return false;
      progress.recorded = journal->size();
      journal->set_last_count(7);
      journal->set_last_value(8);
    }
  }
  return read_all() && progress.read == stream->published();
}

struct Shared {
  Shared() {
    void* mapped =
        ::mmap(nullptr, arena_bytes + 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(mapped != MAP_FAILED);
    base = static_cast<std::byte*>(mapped);
    progress = new (base + arena_bytes) Progress;
  }
  ~Shared() { ::munmap(base, arena_bytes + 4096); }
  std::span<std::byte> arena() { return {base, arena_bytes}; }
  std::byte* base;
  Progress* progress;
};

/// Runs the work in a process that dies at the `count`th pass of the step; returns its wait status.
int run_to_death(Shared& shared, std::string_view step, std::uint64_t count) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    arm_crash_point(step, count);
    ::_exit(work(shared.arena(), *shared.progress) ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return status;
}

TEST_CASE("crash: at whatever step an application dies, its successor finds all it had acknowledged",
          "[log][crash]") {
  {
    Shared shared;
    REQUIRE(work(shared.arena(), *shared.progress));
  }
  CHECK(std::ranges::equal(crash_points_passed(), log_crash_points));
  std::vector<std::pair<std::string_view, std::uint64_t>> deaths;
  for (std::string_view step : log_crash_points) {
    const auto passes = crash_point_passes(step);
    REQUIRE(passes > 0);
    for (std::uint64_t count : {std::uint64_t{1}, std::uint64_t{2}, passes / 2, passes - 1, passes})
      if (count >= 1 && count <= passes) deaths.emplace_back(step, count);
  }
  for (const auto& [step, count] : deaths) {
    INFO(step << " at its pass " << count);
    Shared shared;
    const int status = run_to_death(shared, step, count);
    REQUIRE(WIFSIGNALED(status));
    REQUIRE(WTERMSIG(status) == SIGKILL);
    // A second incarnation dies at the same step, if it comes there again; the third ends the work.
    const int second = run_to_death(shared, step, count);
    REQUIRE((WIFSIGNALED(second) || WEXITSTATUS(second) == 0));
    REQUIRE(work(shared.arena(), *shared.progress));
  }
}

// Memory that changes its shape: only in children, so that log_crash_points stays what work() passes.

/// Chunks of many shapes come and go.
void join_and_split(ArenaWriter& arena) {
  std::mt19937 random(1);
  std::vector<Chunk> used;
  for (int round = 0; round < 2000; ++round) {
    if (used.size() > 12) {
      std::swap(used[random() % used.size()], used.back());
      arena.release(used.back());
      used.pop_back();
    }
    const std::uint32_t cell_count = random() % 2 == 0 ? 0 : static_cast<std::uint32_t>(2 + random() % 30);
    if (auto chunk = arena.allocate({cell_count, 64 * (1 + random() % 40)}, 0)) used.push_back(*chunk);
  }
}

TEST_CASE("crash: at whatever step memory changes its shape, the pool is whole", "[log][crash]") {
  for (std::string_view step :
       {"join:header-behind-written", "join:cells-dropped", "join:left-joined", "join:right-joined",
        "split:rest-written", "split:rest-parted", "split:header-behind-written", "split:payload-shortened",
        "split:cells-made", "recycle:header-written", "recycle:reused"}) {
    for (const std::uint64_t count : {1, 2, 10, 50}) {
      INFO(step << " at its pass " << count);
      Shared shared;
      const pid_t child = ::fork();
      REQUIRE(child >= 0);
      if (child == 0) {
        auto arena = ArenaWriter::open(shared.arena(), small_arena());
        arm_crash_point(step, count);
        join_and_split(**arena);
        ::_exit(0);
      }
      int status = 0;
      REQUIRE(::waitpid(child, &status, 0) == child);
      REQUIRE(WIFSIGNALED(status));
      auto adopted = ArenaWriter::adopt(shared.arena(), small_arena());
      REQUIRE(adopted);
      CHECK((*adopted)->pool_live() == 0);
      CHECK((*adopted)->find_damage().empty());
      join_and_split(**adopted);
    }
  }
}

// A journal of which what lies between the first chunk and a later one is given back, again and again.

constexpr std::uint64_t interval_count = 10000, entries_count = 60000;

/// The number of the last entry. Nothing if one is missing that must be there: the first, all since the last
/// interval began, and all that were recorded before the death.
std::optional<std::uint64_t> look_through(Journal& journal, std::uint64_t recorded) {
  std::uint64_t last = 0, whole_since = 1, count = 0;
  while (const auto entry = journal.read_next()) {
    if (entry->value <= last || (last == 0 && entry->value != 1)) return std::nullopt;
    if (entry->value != last + 1) whole_since = entry->value;
    last = entry->value;
    ++count;
  }
  const std::uint64_t interval_begin = std::max<std::uint64_t>(last / interval_count * interval_count, 1);
  const bool is_whole =
      last >= recorded && count == journal.size() && (last == 0 || whole_since <= interval_begin);
  return is_whole ? std::optional(last) : std::nullopt;
}

/// Goes on where a predecessor stopped.
bool record_intervals(ArenaWriter& arena, std::atomic<std::uint64_t>& recorded) {
  auto journal = Journal::open(arena, journal_key);
  if (!journal) return false;
  const auto last = look_through(*journal, recorded);
  if (!last) return false;
  for (std::uint64_t number = *last + 1; number <= entries_count; ++number) {
    if (!journal->append({1, 0, number})) return false;
    recorded = number;
    if (number % interval_count == 0) journal->give_back(0, journal->last_chunk());
  }
  return arena.pool_live() < 16 * interval_count + (200 << 10);
}

TEST_CASE("crash: at whatever step a journal gives memory back, its successor finds what it needs",
          "[log][crash]") {
  for (std::string_view step :
       {"shorten:link-opened", "shorten:linked-over", "shorten:chunk-freed", "recycle:header-written",
        "journal:chunk-initialised", "journal:link-written"}) {
    for (const std::uint64_t count : {1, 2, 3, 5}) {
      INFO(step << " at its pass " << count);
      Shared shared;
      const pid_t child = ::fork();
      REQUIRE(child >= 0);
      if (child == 0) {
        auto arena = ArenaWriter::open(shared.arena(), small_arena());
        arm_crash_point(step, count);
        ::_exit(record_intervals(**arena, shared.progress->recorded) ? 0 : 1);
      }
      int status = 0;
      REQUIRE(::waitpid(child, &status, 0) == child);
      REQUIRE(WIFSIGNALED(status));
      auto adopted = ArenaWriter::adopt(shared.arena(), small_arena());
      REQUIRE(adopted);
      CHECK((*adopted)->find_damage().empty());
      CHECK(record_intervals(**adopted, shared.progress->recorded));
      JournalReader reader({shared.base, arena_bytes}, journal_key);
      std::uint64_t last = 0;
      while (const auto entry = reader.read_next()) last = entry->value;
      CHECK(last == entries_count);
      CHECK_FALSE(reader.is_damaged());
    }
  }
}

// A log that begins behind records that it does not have.

constexpr LogKey late_key{3, 5};
constexpr std::uint64_t late_begin = 500;

/// What a predecessor has left of the log is given up, and it begins anew, some times.
bool begin_late(ArenaWriter& arena) {
  if (arena.find_log(late_key)) {
    auto left = LogWriter::open(arena, late_key, {});
    if (!left || (left->published() != 0 && left->published() < late_begin)) return false;
    left->discard();
  }
  for (int round = 0; round < 3; ++round) {
    auto log = LogWriter::open(arena, late_key, {.begins_behind = late_begin});
    if (!log || !log->publish(1, 0, late_begin, pattern(late_begin, 100))) return false;
    if (log->published() != late_begin + 1) return false;
    if (round < 2) log->discard();
  }
  return true;
}

TEST_CASE("crash: at whatever step a log begins behind records, its successor finds it whole",
          "[log][crash]") {
  for (std::string_view step :
       {"directory:log-written", "directory:log-committed", "standby:copy-numbered",
        "allocate:header-written", "allocate:header-committed", "publish:chunk-allocated",
        "standby:copy-begun", "publish:committed", "discard:flagged", "discard:unlinked"}) {
    for (const std::uint64_t count : {1, 2}) {
      INFO(step << " at its pass " << count);
      Shared shared;
      const pid_t child = ::fork();
      REQUIRE(child >= 0);
      if (child == 0) {
        auto arena = ArenaWriter::open(shared.arena(), small_arena());
        arm_crash_point(step, count);
        ::_exit(begin_late(**arena) ? 0 : 1);
      }
      int status = 0;
      REQUIRE(::waitpid(child, &status, 0) == child);
      // The directory gets one entry, and the pool one chunk.
      const bool is_once = step.starts_with("directory:") || step.starts_with("allocate:");
      REQUIRE((WIFSIGNALED(status) || (count > 1 && is_once && WEXITSTATUS(status) == 0)));
      auto adopted = ArenaWriter::adopt(shared.arena(), small_arena());
      REQUIRE(adopted);
      CHECK((*adopted)->find_damage().empty());
      CHECK(begin_late(**adopted));
    }
  }
}

}  // namespace
}  // namespace llamada::log
