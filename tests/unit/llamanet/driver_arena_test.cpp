// The driver as an application of its own: logs that others follow, and logs of others that it follows.
#include <fcntl.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "llamada/base/check.hpp"
#include "llamada/llamanet/inspector.hpp"
#include "llamada/log/log_reader.hpp"
#include "llamada/log/log_writer.hpp"
#include "node.hpp"

using namespace llamada;
using namespace llamada::llamanet;

// LLAMADA_CHECK stands where another thread may run REQUIRE at the same time.
namespace {

constexpr log::LogKey drivers_log{20, 1}, ranks_log{21, 1};
constexpr std::uint64_t records = 20'000;

std::span<const std::byte> bytes_of(const std::uint64_t& value) {
  return std::as_bytes(std::span(&value, 1));
}
std::uint64_t value_of(const log::Record& record) {
  std::uint64_t value = 0;
  LLAMADA_CHECK(record.payload.size() == sizeof(value));
  std::memcpy(&value, record.payload.data(), sizeof(value));
  return value;
}

log::LogReader follow(const log::PeerArena& arena, log::LogKey key, log::CursorEntry* cursor) {
  std::uint32_t scanned = 0;
  const auto index = log::find_log(arena, key, scanned);
  LLAMADA_CHECK(index);
  return log::LogReader::open(arena, *index, cursor);
}

/// Takes what is there; gives the next value that is to come.
std::uint64_t take_all(log::LogReader& reader, std::uint64_t next) {
  while (const auto record = reader.peek()) {
    LLAMADA_CHECK(value_of(*record) == next);
    ++next;
    reader.advance();
  }
  reader.release(reader.position_chunk());
  return next;
}

/// A log of which only a little is kept, so that its writer needs the reader's cursor again and again.
log::LogOptions short_log() {
  log::LogOptions options;
  options.live_bytes_max = 32 << 10;
  return options;
}

std::unique_ptr<Application> attach(const ApplicationOptions& options) {
  auto application = Application::attach(options);
  REQUIRE(application);
  return std::move(*application);
}

/// The application of slot 0, which follows its driver's logs. The node's thread runs only meanwhile.
std::unique_ptr<Application> attach_follower(Node& node) {
  node.driver().expect(0, 7, 1);
  node.start();
  auto options = node.options(0, 7);
  options.follows_driver = true;
  auto rank = attach(options);
  node.stop();
  return rank;
}

std::size_t mappings_of_arenas() {
  std::size_t count = 0;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) count += line.find("llamada-") != line.npos ? 1 : 0;
  return count;
}
std::size_t descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

Driver open_driver(const std::string& name) {
  auto options = on_demand();
  options.name = name;
  options.arena_size_bytes = 64 << 20;
  auto driver = Driver::open(options);
  REQUIRE(driver);
  return std::move(*driver);
}

/// What an application asks of a driver whose thread this is.
template <typename Ask>
void while_polling(Driver& driver, Ask ask) {
  std::atomic<bool> is_done{false};
  std::thread asker([&] {
    ask();
    is_done = true;
  });
  while (!is_done) driver.poll(std::chrono::milliseconds(1));
  asker.join();
}

}  // namespace

TEST_CASE("driver's arena: a rank follows a log of its driver, which wakes it", "[llamanet]") {
  Node node({}, 1);
  auto arena = node.driver().arena();
  REQUIRE(arena);
  const auto rank = attach_follower(node);

  auto writer = log::LogWriter::create(**arena, drivers_log, short_log());
  REQUIRE(writer);
  auto cursor = rank->arena().cursor(drivers_log, driver_slot);
  REQUIRE(cursor);
  // As the driver sees the rank's cursor.
  const auto mapped = node.driver().map(0);
  REQUIRE(mapped);
  std::uint32_t scanned = 0;
  const auto* const seen = log::find_cursor(mapped->reading(), drivers_log, driver_slot, scanned);
  REQUIRE(seen != nullptr);
  writer->add_reader(seen);

  std::thread reading([&] {
    auto reader = follow(rank->roster().driver(), drivers_log, *cursor);
    for (std::uint64_t next = 0; next < records; next = take_all(reader, next))
      LLAMADA_CHECK(rank->bell().sleep([&] { return reader.ready(); }));
  });
  for (std::uint64_t value = 0; value < records; ++value) {
    while (!writer->may_reserve(sizeof(value))) std::this_thread::yield();
    LLAMADA_CHECK(writer->publish(log::kind_data, 0, 0, bytes_of(value)));
    node.driver().wake(0);
  }
  reading.join();
  // The reader's cursor has given back what it has read.
  CHECK(writer->live_bytes() < records * sizeof(log::Cell) / 2);
}

TEST_CASE("driver's arena: a driver that sleeps in its poll is woken for a rank's log, and follows it",
          "[llamanet]") {
  Node node({}, 1);
  auto arena = node.driver().arena();
  REQUIRE(arena);
  const auto rank = attach_follower(node);

  auto writer = log::LogWriter::create(rank->arena(), ranks_log, short_log());
  REQUIRE(writer);
  auto cursor = (*arena)->cursor(ranks_log, 0);
  REQUIRE(cursor);
  std::uint32_t scanned = 0;
  const auto* const seen = log::find_cursor(rank->roster().driver(), ranks_log, 0, scanned);
  REQUIRE(seen != nullptr);
  writer->add_reader(seen);

  const auto mapped = node.driver().map(0);
  REQUIRE(mapped);
  auto reader = follow(mapped->reading(), ranks_log, *cursor);
  std::thread writing([&] {
    for (std::uint64_t value = 0; value < records; ++value) {
      while (!writer->may_reserve(sizeof(value))) std::this_thread::yield();
      LLAMADA_CHECK(writer->publish(log::kind_data, 0, 0, bytes_of(value)));
      rank->wake_driver();
    }
  });
  std::uint64_t next = 0;
  while (next < records) {
    // For ever: a wake that is lost shows as a test that never ends.
    for (const auto& event : node.driver().poll(std::chrono::milliseconds(-1)))
      if (event.kind == DriverEvent::Kind::woken) next = take_all(reader, next);
  }
  writing.join();
  CHECK(node.driver().map(0)->header() != mapped->header());
  CHECK(node.driver().map(1).error().code() == Errc::not_found);
}

TEST_CASE("driver's arena: it is in no slot, and neither ranks nor tools nor participants meet it unasked",
          "[llamanet]") {
  Node node(on_demand());
  node.start();
  const auto before = attach(node.options());
  CHECK(before->roster().meet_driver());
  CHECK(before->roster().driver().base == nullptr);
  before->wake_driver();  // nobody
  node.stop();
  REQUIRE(node.driver().arena());
  node.start();
  const auto after = attach(node.options());
  REQUIRE(after->roster().refresh());
  CHECK(after->roster().slot_count() == 2);
  CHECK(after->roster().driver().base == nullptr);
  auto inspector = Inspector::open(node.socket_name(), std::chrono::seconds(10));
  REQUIRE(inspector);
  CHECK(inspector->slots().size() == 2);
  // One that was there before finds it in the page.
  REQUIRE(before->roster().meet_driver());
  REQUIRE(before->roster().driver().ready());
  CHECK(before->roster().driver().log_count() == 0);
  CHECK(before->roster().driver().endpoint_count() == 0);
  CHECK(before->roster().driver_doorbell().header->sleeping.load() == 1);
}

TEST_CASE("driver's arena: each incarnation of a rank has it at the same address", "[llamanet]") {
  Node node({}, 2);
  REQUIRE(node.driver().arena());
  node.driver().expect(0, 7, 1);
  node.start();
  std::array<std::array<const std::byte*, 3>, 2> places{};
  for (auto& place : places) {
    std::array<int, 2> ends;
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    const pid_t child = node.fork();
    if (child == 0) {
      auto options = node.options(0, 7);
      options.follows_driver = true;
      auto rank = Application::attach(options);
      if (!rank) ::_exit(1);
      const auto& roster = (*rank)->roster();
      const std::array own{roster.driver().base, roster.peer(0).base, roster.peer(1).base};
      ::_exit(::write(ends[1], own.data(), sizeof(own)) == sizeof(own) ? 0 : 1);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(status == 0);
    REQUIRE(::read(ends[0], place.data(), sizeof(place)) == sizeof(place));
    ::close(ends[0]);
    ::close(ends[1]);
    node.expect_successor(0, 7);
  }
#if !defined(__SANITIZE_ADDRESS__)  // whose allocator maps memory when it likes
  CHECK(places[0] == places[1]);
#endif
  CHECK(std::find(places[0].begin(), places[0].end(), nullptr) == places[0].end());
}

TEST_CASE("driver's arena: who joins the next driver leaves nothing of the last one's", "[llamanet]") {
  const std::string name = unique_name();
  auto driver = std::make_unique<Driver>(open_driver(name));
  REQUIRE(driver->arena());
  ApplicationOptions options;
  options.socket_name = driver->socket_name();
  options.follows_driver = options.start_driver = true;
  std::unique_ptr<Application> own;
  while_polling(*driver, [&] { own = attach(options); });
  std::size_t mapped = 0, open = 0;
  for (int restart = 0; restart < 4; ++restart) {
    const auto old = own->roster().driver();
    REQUIRE(old.ready());
    driver.reset();
    own->lose_driver();
    driver = std::make_unique<Driver>(open_driver(name));
    REQUIRE(driver->arena());
    while_polling(*driver, [&] { LLAMADA_CHECK(own->rejoin(false)); });
    REQUIRE(own->roster().driver().ready());
    CHECK(own->roster().driver().base != old.base);
    CHECK(old.ready());  // a reader may stand in it
    own->roster().release_replaced();
    if (restart == 0) {
      mapped = mappings_of_arenas();
      open = descriptors();
    }
    CHECK(mappings_of_arenas() == mapped);
    CHECK(descriptors() == open);
  }
  while_polling(*driver, [&] { own.reset(); });
}
