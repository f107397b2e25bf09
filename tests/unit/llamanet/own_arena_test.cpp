#include "llamada/llamanet/own_arena.hpp"

#include <algorithm>

#include "bell_owner.hpp"
#include "llamada/llamanet/driver_page.hpp"
#include "llamada/log/log_reader.hpp"
#include "llamada/log/log_writer.hpp"

using namespace llamada;
using namespace llamada::llamanet;

namespace {

constexpr log::LogKey key{1, 2};
constexpr std::uint64_t size_bytes = BellOwner::arena_size_bytes;

bool never() { return false; }

log::LogOptions keep_all() {
  log::LogOptions options;
  options.retention = log::Retention::keep_all;
  return options;
}

std::vector<std::byte> payload_of(std::uint64_t number) {
  return std::vector<std::byte>(1 << 20, static_cast<std::byte>(number + 1));
}

}  // namespace

TEST_CASE("own arena: others read the logs of one that has no driver, however far they grow", "[llamanet]") {
  BellOwner owner;
  const auto seen = owner.map();  // when the file is short
  auto writer = log::LogWriter::create(owner.arena->writer(), key, keep_all());
  REQUIRE(writer);
  constexpr std::uint64_t count = 2 * arena_bytes_at_first >> 20;
  for (std::uint64_t i = 0; i < count; ++i) {
    REQUIRE(writer->publish(log::kind_data, 0, i, payload_of(i)));
    owner.arena->prepare_ahead();
  }
  std::uint32_t scanned = 0;
  const auto index = log::find_log(seen.reading(), key, scanned);
  REQUIRE(index);
  auto reader = log::LogReader::open(seen.reading(), *index);
  for (std::uint64_t i = 0; i < count; ++i, reader.advance()) {
    const auto record = reader.peek();
    REQUIRE(record);
    CHECK(std::ranges::equal(record->payload, payload_of(i)));
  }
}

TEST_CASE("own arena: a successor adopts what is there, awake and in no call", "[llamanet]") {
  FileDescriptor file;
  {
    BellOwner owner;
    file = copy_of(owner.arena->file());
    auto writer = log::LogWriter::create(owner.arena->writer(), key, keep_all());
    REQUIRE(writer);
    REQUIRE(writer->publish(log::kind_data, 0, 1, payload_of(1)));
    owner.arena->writer().header().sleeping.store(1);
    owner.arena->writer().set_call(7);
    owner.arena->writer().set_state(log::ArenaState::attached);
  }
  auto successor = OwnArena::open(std::move(file), size_bytes, never, small_arena(2));
  REQUIRE(successor);
  auto& writer = (*successor)->writer();
  CHECK(writer.adopted());
  CHECK(writer.header().sleeping.load() == 0);
  CHECK(writer.header().call_id.load() == 0);
  CHECK(writer.header().incarnation.load() == 2);
  CHECK(writer.header().pid.load() == 17);
  CHECK(writer.header().state.load() == static_cast<std::uint32_t>(log::ArenaState::none));
  auto log = log::LogWriter::open(writer, key, keep_all());
  REQUIRE(log);
  CHECK(log->published() == 1);
}

TEST_CASE("own arena: a predecessor's that is damaged is refused", "[llamanet]") {
  FileDescriptor file;
  {
    BellOwner owner;
    file = copy_of(owner.arena->file());
    owner.arena->writer().header().magic.store(0x6b6e756a);
  }
  const auto successor = OwnArena::open(std::move(file), size_bytes, never, small_arena(2));
  REQUIRE_FALSE(successor);
  CHECK(successor.error().code() == Errc::parse_error);
}

TEST_CASE("mapped arena: a file without room for a header has none", "[llamanet]") {
  auto file = create_growing_memory("test", 100);
  REQUIRE(file);
  const auto arena = MappedArena::map(file->get(), 1 << 20);
  REQUIRE(arena);
  CHECK(arena->header() == nullptr);
  CHECK_FALSE(arena->view().ready());
  CHECK_FALSE(arena->reading().ready());
  CHECK_FALSE(MappedArena().reading().ready());
}
