#include "p2p/early_copies.hpp"

#include "llamada/log/log_writer.hpp"
#include "object/datatype.hpp"
#include "runtime/runtime.hpp"
#include "test.hpp"
#include "world/in_process.hpp"

using namespace llamada;
using namespace llamada::mpi;

namespace {

constexpr log::LogKey key{5, 6};
constexpr std::size_t size = 600000;

/// One rank, whose log it reads itself, as its sender and its receiver.
struct Fixture {
  Fixture() {
    job = std::move(*InProcessJob::create({}));
    world = std::move(*job->attach(0));
    objects.add_world(0, 1, 1, 2);
    log = std::move(*log::LogWriter::create(world->arena(), key, {.retention = log::Retention::keep_all}));
    reader = log::LogReader::open(world->arena().reading(), log.index());
    request.buffer = Buffer{taken.data(), taken.size(), objects.datatypes.find(MPI_BYTE)};
    REQUIRE(log.publish(1, 0, 0, {}).has_value());
    REQUIRE(reader.peek().has_value());
    reader.advance();
  }

  log::Reservation announce() {
    auto room = std::move(*log.reserve(size, log::LogWriter::Filling::by_fill));
    log.announce(room, 1, 0, 0);
    CHECK_FALSE(reader.peek().has_value());  // goes to the chunk that the record has for itself
    REQUIRE(reader.is_announced());
    return room;
  }
  void commit(log::Reservation room) {
    log.fill(room, sent);
    commit_filled(std::move(room));
  }
  void commit_filled(log::Reservation room) { log.commit(std::move(room), 1, 0, 0); }
  bool copy() { return receiver.copy(0, reader, *reader.peek_announced(), request); }
  std::size_t take() { return receiver.take(0, reader, *reader.peek(), request); }

  std::unique_ptr<InProcessJob> job;
  std::unique_ptr<World> world;
  Runtime objects;
  log::LogWriter log;
  log::LogReader reader;
  EarlyCopies receiver;
  std::vector<std::byte> sent = std::vector<std::byte>(size, std::byte{7}),
                         taken = std::vector<std::byte>(size);
  Request request;
};

}  // namespace

TEST_CASE("early copies: what is in the log comes out of it, once") {
  Fixture all;
  auto room = all.announce();
  CHECK_FALSE(all.copy());
  CHECK_FALSE(all.receiver.has_begun(Request{}));
  all.log.fill(room, all.sent);
  all.sent[5] = std::byte{9};
  CHECK(all.copy());
  CHECK(all.receiver.has_begun(all.request));
  CHECK((all.taken == std::vector<std::byte>(size, std::byte{7})));
  all.taken[0] = std::byte{0};
  CHECK_FALSE(all.copy());
  CHECK(all.taken[0] == std::byte{0});
  all.commit_filled(std::move(room));
  CHECK(all.take() == size);
  CHECK(all.take() == 0);
  CHECK_FALSE(all.receiver.has_begun(all.request));
}

TEST_CASE("early copies: nothing counts that was not of this record") {
  Fixture all;
  SECTION("by a predecessor of who has sent it") {
    auto room = all.announce();
    all.log.fill(room, all.sent);
    CHECK(all.copy());
    room.drop();
    room = all.announce();
    all.commit(std::move(room));
    CHECK(all.take() == 0);
  }
  SECTION("by who shows an earlier payload, and finds that it is not this one") {
    std::vector<std::byte> almost = all.sent;
    almost.back() = std::byte{8};
    REQUIRE(all.log.publish(1, 0, 0, almost).has_value());
    REQUIRE(all.reader.peek().has_value());
    const auto kept = all.reader.peek()->payload;
    all.reader.advance();
    log::Reservation room;
    REQUIRE(all.log.reserve_again(kept, room).has_value());
    all.log.announce(room, 1, 0, 0);
    CHECK_FALSE(all.copy());
    CHECK_FALSE(all.log.equals(room, all.sent));
    CHECK(all.copy());
    room.drop();
    room = all.announce();
    all.log.fill(room, all.sent);
    all.commit_filled(std::move(room));
    CHECK(all.take() == 0);
  }
  SECTION("for another receive") {
    auto room = all.announce();
    all.log.fill(room, all.sent);
    CHECK(all.copy());
    all.commit(std::move(room));
    Request other;
    CHECK(all.receiver.take(0, all.reader, *all.reader.peek(), other) == 0);
  }
  SECTION("for a message that came otherwise") {
    auto room = all.announce();
    all.log.fill(room, all.sent);
    CHECK(all.copy());
    all.receiver.forget(0);
    CHECK_FALSE(all.receiver.has_begun(all.request));
    all.commit(std::move(room));
    CHECK(all.take() == 0);
  }
  SECTION("as another record, with the same memory") {
    auto room = all.announce();
    all.log.fill(room, all.sent);
    CHECK(all.copy());
    all.commit(std::move(room));
    all.reader.advance();
    REQUIRE(all.log.publish(1, 0, 0, all.sent).has_value());
    CHECK(all.take() == 0);
  }
}
