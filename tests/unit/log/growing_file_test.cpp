#include <unistd.h>

#include <deque>

#include "arena_fixture.hpp"
#include "llamada/base/random.hpp"

namespace llamada::log {
namespace {

constexpr std::size_t size_bytes = 256 << 20;
constexpr std::size_t page_bytes = 4096;

/// An arena in a file that ends behind what has been prepared or stored: a touch of anything else is a
/// SIGBUS.
class GrowingFile {
 public:
  explicit GrowingFile(std::size_t first_bytes) : file_(::memfd_create("llamada-test", MFD_CLOEXEC)) {
    REQUIRE(file_ >= 0);
    REQUIRE(::ftruncate(file_, static_cast<off_t>(first_bytes)) == 0);
    void* mapped = ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    REQUIRE(mapped != MAP_FAILED);
    base_ = static_cast<std::byte*>(mapped);
    end_ = first_bytes;
  }
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;
  ~GrowingFile() {
    ::munmap(base_, size_bytes);
    ::close(file_);
  }

  std::span<std::byte> bytes() { return {base_, size_bytes}; }
  ArenaOptions options() {
    ArenaOptions options = small_arena();
    options.prepare = [this](std::span<std::byte> memory) {
      const auto end = static_cast<std::size_t>(memory.data() + memory.size() - base_);
      if (end > limit) return false;
      return end <= end_ || (end_ = end, ::ftruncate(file_, static_cast<off_t>(end)) == 0);
    };
    options.store = [this](std::span<std::byte> to, std::span<const std::byte> from) -> std::size_t {
      const auto size = std::min<std::size_t>(from.size(), 100'000);
      const auto at = to.data() - base_;
      end_ = std::max(end_, static_cast<std::size_t>(at) + size);
      return static_cast<std::size_t>(::pwrite(file_, from.data(), size, at));
    };
    return options;
  }

  std::size_t limit = size_bytes;

 private:
  int file_;
  std::byte* base_;
  std::size_t end_;
};

/// A log, its reader, and what the reader has not seen yet.
struct Pair {
  LogWriter writer;
  LogReader reader;
  std::deque<std::pair<std::uint64_t, std::size_t>> sent{};

  void read_some(std::size_t left) {
    while (sent.size() > left) {
      const auto record = reader.peek();
      REQUIRE(record.has_value());
      REQUIRE(record->label == sent.front().first);
      REQUIRE(holds(record->payload, sent.front().first, sent.front().second));
      reader.advance();
      reader.release(reader.position_chunk());
      sent.pop_front();
    }
  }
};

TEST_CASE("log: memory that was neither prepared nor stored into is not touched", "[log]") {
  Random random(20261125);
  GrowingFile file(16 * page_bytes);
  auto arena = ArenaWriter::create(file.bytes(), file.options());
  REQUIRE(arena.has_value());
  std::vector<Pair> pairs;
  for (std::uint64_t i = 0; i < 3; ++i) {
    auto writer = LogWriter::create(**arena, {i, 1}, {.retention = Retention::keep_all});
    auto cursor = (*arena)->cursor({i, 2}, 0);
    REQUIRE(writer.has_value());
    REQUIRE(cursor.has_value());
    writer->add_reader(*cursor);
    auto reader = LogReader::open((*arena)->reading(), writer->index(), *cursor);
    pairs.push_back({std::move(*writer), std::move(reader)});
  }
  constexpr std::size_t sizes[] = {0, 40, 300, 3000, 20'000, 40'000, 131'072, 300'000, 1'000'000};
  for (std::uint64_t number = 0; number < 1500; ++number) {
    Pair& pair = pairs[random.below(pairs.size())];
    // As when the log's memory is used up: from then on chunks are used again, whole or not.
    if (number == 500)
      for (Pair& each : pairs) each.writer.set_retention(Retention::recycle);
    std::size_t size = sizes[random.below(std::size(sizes))];
    if (size != 0) size -= random.below(size / 8 + 1);
    const auto payload = pattern(number, size);
    switch (random.below(4)) {
      case 0: {
        // The first of a run, of which no more comes.
        const auto whole = pattern(number, size = stored_whole_bytes);
        pair.read_some(pair.writer.may_reserve(size) ? pair.sent.size() : 0);
        Reservation room;
        REQUIRE(pair.writer
                    .reserve(size, room, LogWriter::Filling::by_fill,
                             LogWriter::run_bytes_min + random.below(size))
                    .has_value());
        pair.writer.fill(room, whole);
        pair.writer.commit(std::move(room), 1, 0, number);
        break;
      }
      case 1:
        if (pair.writer.try_publish(1, 0, number, payload)) break;
        [[fallthrough]];
      case 2:
        pair.read_some(pair.writer.may_reserve(size) ? pair.sent.size() : 0);
        REQUIRE(pair.writer.publish(1, 0, number, payload).has_value());
        break;
      default:
        pair.read_some(pair.writer.may_reserve(size) ? pair.sent.size() : 0);
        auto room = pair.writer.reserve(size);
        REQUIRE(room.has_value());
        std::copy(payload.begin(), payload.end(), room->payload().begin());
        pair.writer.commit(std::move(*room), 1, 0, number);
    }
    pair.sent.emplace_back(number, size);
    pair.read_some(random.below(20));
  }
  for (Pair& pair : pairs) pair.read_some(0);
}

TEST_CASE("arena: a chunk that was given back before its room was filled is whole when it is used again",
          "[log]") {
  GrowingFile file(16 * page_bytes);
  auto arena = ArenaWriter::create(file.bytes(), file.options());
  REQUIRE(arena.has_value());
  constexpr ChunkShape shape{64, 1 << 20};
  auto first = (*arena)->allocate(shape, 0, 0, ArenaWriter::Prepared::header_and_cells);
  REQUIRE(first.has_value());
  (*arena)->free(*first);
  auto second = (*arena)->allocate(shape, 0);
  REQUIRE(second.has_value());
  REQUIRE(second->offset == first->offset);
  std::memset((*arena)->base() + second->payload(), 7, second->payload_bytes);
}

TEST_CASE("log: a successor writes on where its predecessor's file ends", "[log]") {
  Random random(20261127);
  constexpr std::size_t sizes[] = {0, 40, 300, 3000, 20'000, 40'000, 131'072, 300'000, 1'000'000};
  GrowingFile file(16 * page_bytes);
  auto arena = ArenaWriter::create(file.bytes(), file.options());
  REQUIRE(arena.has_value());
  REQUIRE(LogWriter::create(**arena, {1, 1}, {.retention = Retention::keep_all}).has_value());
  std::vector<std::size_t> published;
  for (int incarnation = 0; incarnation < 60; ++incarnation) {
    arena->reset();
    arena = ArenaWriter::adopt(file.bytes(), file.options());
    REQUIRE(arena.has_value());
    auto writer = LogWriter::adopt(**arena, 0, {.retention = Retention::keep_all});
    REQUIRE(writer.has_value());
    REQUIRE(writer->published() == published.size());
    for (auto more = random.below(12); more > 0; --more) {
      const std::size_t size = sizes[random.below(std::size(sizes))];
      const auto payload = pattern(published.size(), size);
      if (random.below(2) == 0) {
        REQUIRE(writer->publish(1, 0, published.size(), payload).has_value());
      } else {
        auto room = writer->reserve(size);
        REQUIRE(room.has_value());
        std::copy(payload.begin(), payload.end(), room->payload().begin());
        writer->commit(std::move(*room), 1, 0, published.size());
      }
      published.push_back(size);
    }
    // It dies with room that it has not filled.
    Reservation room;
    REQUIRE(writer->reserve(sizes[random.below(std::size(sizes))], room, LogWriter::Filling::by_fill)
                .has_value());
  }
  auto reader = LogReader::open((*arena)->reading(), 0);
  for (std::size_t number = 0; number < published.size(); ++number, reader.advance()) {
    const auto record = reader.peek();
    REQUIRE(record.has_value());
    CHECK(holds(record->payload, number, published[number]));
  }
  CHECK_FALSE(reader.peek().has_value());
}

TEST_CASE("log: where the file may not be longer there is no more room", "[log]") {
  GrowingFile file(16 * page_bytes);
  auto arena = ArenaWriter::create(file.bytes(), file.options());
  REQUIRE(arena.has_value());
  auto writer = LogWriter::create(**arena, {1, 1}, {.retention = Retention::keep_all});
  REQUIRE(writer.has_value());
  REQUIRE(writer->publish(1, 0, 0, pattern(0, 100)).has_value());
  file.limit = 0;
  Status published;
  std::uint64_t number = 0;
  while (published && number < 10'000) {
    ++number;
    published = writer->publish(1, 0, number, pattern(number, 100));
  }
  REQUIRE(!published);
  CHECK(published.error().code() == Errc::out_of_resources);
  file.limit = size_bytes;
  CHECK(writer->publish(1, 0, number, pattern(number, 100)).has_value());
  LogReader reader = LogReader::open((*arena)->reading(), writer->index());
  for (std::uint64_t read = 0; read <= number; ++read) {
    const auto record = reader.peek();
    REQUIRE(record.has_value());
    CHECK(holds(record->payload, read, 100));
    reader.advance();
  }
}

}  // namespace
}  // namespace llamada::log
