#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "llamada/log/cuts.hpp"
#include "llamada/log/journal.hpp"
#include "llamada/log/log_reader.hpp"
#include "llamada/log/log_writer.hpp"
#include "llamada/topics/observe.hpp"

// Readers of an arena that its owner has written over, and its successor. An input is a row of stores of 12
// bytes: where (u32, counted in words of 8 bytes from the arena's start, and again from there behind the last
// one) and what (u64). The arena lies in a file that ends where it is no longer used; its mapping is longer.

namespace {

using namespace llamada::topics;
using namespace llamada::log;

constexpr std::size_t arena_bytes = 16 << 20;
constexpr std::size_t page_bytes = 4096;
constexpr std::size_t records_max = 100'000;
constexpr LogKey key{7, 9}, journal_key{7, 10};

ArenaOptions options() {
  ArenaOptions options;
  options.log_count_max = options.cursor_count_max = 8;
  options.endpoint_count_max = options.match_count_max = options.grant_count_max = 4;
  return options;
}

void expect(bool condition) {
  if (!condition) std::abort();
}

std::span<std::byte> map(int flags, int file) {
  void* const mapped = ::mmap(nullptr, arena_bytes, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, file, 0);
  expect(mapped != MAP_FAILED);
  return {static_cast<std::byte*>(mapped), arena_bytes};
}

/// An arena as it is before the stores: the part that is in use.
std::vector<std::byte> make_arena() {
  const auto memory = map(MAP_PRIVATE | MAP_ANONYMOUS, -1);
  auto arena = ArenaWriter::create(memory, options());
  expect(arena.has_value());
  auto writer = LogWriter::create(**arena, key, {.retention = Retention::keep_all});
  expect(writer.has_value());
  std::vector<std::byte> payload(900, std::byte{7});
  for (std::size_t number = 0; number < 40; ++number)
    expect(writer->publish(1, 0, number, std::span(payload).first(number * 37 % payload.size())).has_value());
  expect((*arena)->add_cursor(key, 1, 0).has_value());
  expect((*arena)->add_endpoint({.topic = "ranks", .type = "MPI", .qos = "RELIABLE"}).has_value());
  auto journal = Journal::open(**arena, journal_key);
  expect(journal.has_value());
  for (std::uint32_t number = 1; number < 300; ++number) expect(journal->append({number, 0, 0}).has_value());
  const std::size_t used = (*arena)->pool() + (*arena)->pool_used();
  std::vector<std::byte> content((used + page_bytes - 1) / page_bytes * page_bytes);
  std::copy_n(memory.begin(), content.size(), content.begin());
  ::munmap(memory.data(), memory.size());
  return content;
}

struct Stage {
  Stage() : content(make_arena()), file(::memfd_create("llamada-fuzz", MFD_CLOEXEC)) {
    expect(file >= 0 && ::ftruncate(file, static_cast<off_t>(content.size())) == 0);
    shared = map(MAP_SHARED, file);
    whole = map(MAP_PRIVATE | MAP_ANONYMOUS, -1);
  }
  std::vector<std::byte> content;
  int file;
  std::span<std::byte> shared;  // the readers' view: behind the file's end is nothing
  std::span<std::byte> whole;   // a successor's
};

void store(std::span<std::byte> memory, std::span<const std::uint8_t> stores) {
  constexpr std::size_t store_bytes = 12;
  for (; stores.size() >= store_bytes; stores = stores.subspan(store_bytes)) {
    std::uint32_t place = 0;
    std::memcpy(&place, stores.data(), sizeof(place));
    std::memcpy(memory.data() + place % (memory.size() / 8) * 8, stores.data() + sizeof(place), 8);
  }
}

volatile std::uint64_t sum;

void look_at(std::span<const std::byte> bytes) {
  std::uint64_t all = 0;
  for (std::byte byte : bytes) all += static_cast<std::uint64_t>(byte);
  sum = all;
}

void read_all(const PeerArena& peer) {
  for (std::uint32_t index = 0; index < peer.log_count(); ++index) {
    LogReader reader = LogReader::open(peer, index);
    std::size_t records = 0;
    for (auto record = reader.peek(); record; record = reader.peek()) {
      look_at(record->payload);
      look_at(record->extra);
      reader.advance();
      expect(++records < records_max);
    }
    if (const auto announced = reader.peek_announced())
      look_at(announced->payload.first(reader.announced_bytes(*announced)));
  }
  CutReader journal(peer, journal_key);
  for (std::uint64_t cut = 1; cut < 4; ++cut) (void)journal.read(cut);
  std::uint32_t scanned = 0;
  (void)find_cursor(peer, key, 1, scanned);
  (void)observe(peer, 1, 0);
}

void take_over(std::span<std::byte> memory, bool is_written_over) {
  auto arena = ArenaWriter::open(memory, options());
  if (!arena) return;
  // What adoption does not look at, the records of logs, is found here.
  expect((*arena)->find_damage().empty() || is_written_over);
  auto log = LogWriter::open(**arena, key, {.retention = Retention::keep_all});
  if (log) (void)log->publish(1, 0, 0, std::vector<std::byte>(100));
  auto journal = Journal::open(**arena, journal_key);
  while (journal && journal->read_next()) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Stage stage;
  std::copy(stage.content.begin(), stage.content.end(), stage.shared.begin());
  store(stage.shared.first(stage.content.size()), {data, size});
  read_all({stage.shared.data(), stage.shared.size()});
  std::copy_n(stage.shared.begin(), stage.content.size(), stage.whole.begin());
  take_over(stage.whole, size > 0);
  // What it has written behind the content.
  ::madvise(stage.whole.data(), stage.whole.size(), MADV_DONTNEED);
  return 0;
}
