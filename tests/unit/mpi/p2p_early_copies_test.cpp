#include "p2p/early_copies.hpp"

#include <algorithm>
#include <cstring>

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
  explicit Fixture(std::uint64_t log_bytes_at_start = 1) {
    InProcessJob::Options options;
    options.profile.rank_replacement.log_bytes_at_start = log_bytes_at_start;
    job = std::move(*InProcessJob::create(std::move(options)));
    world = std::move(*job->attach(0));
    objects.add_world(0, 1, 1, 2);
    log = std::move(*log::LogWriter::create(world->arena(), key, {.retention = log::Retention::keep_all}));
    reader = log::LogReader::open(world->arena().reading(), log.index());
    sender = std::make_unique<EarlyCopies>(*world);
    receiver = std::make_unique<EarlyCopies>(*world);
    request.buffer = Buffer{taken.data(), taken.size(), objects.datatypes.find(MPI_BYTE)};
    REQUIRE(log.publish(1, 0, 0, {}).has_value());
    REQUIRE(reader.peek().has_value());
    reader.advance();
  }

  log::Reservation announce(const MessageSource& source) {
    auto room = std::move(*log.reserve(size, log::LogWriter::Filling::by_fill));
    std::memcpy(room.extra().data(), &source, sizeof(source));
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
  bool copy() { return receiver->copy(0, reader, *reader.peek_announced(), request); }
  std::size_t take() { return receiver->take(0, reader, *reader.peek(), request); }

  std::unique_ptr<InProcessJob> job;
  std::unique_ptr<World> world;
  Runtime objects;
  log::LogWriter log;
  log::LogReader reader;
  std::unique_ptr<EarlyCopies> sender, receiver;
  std::vector<std::byte> sent = std::vector<std::byte>(size, std::byte{7}),
                         taken = std::vector<std::byte>(size);
  Request request;
};

}  // namespace

TEST_CASE("early copies: what is announced comes out of the sender's memory, once") {
  Fixture all;
  auto room = all.announce(all.sender->source(all.sent));
  CHECK_FALSE(all.receiver->has_begun(all.request));
  CHECK(all.copy());
  CHECK((all.taken == all.sent));
  CHECK(all.receiver->has_begun(all.request));
  all.taken[0] = std::byte{0};
  CHECK_FALSE(all.copy());
  CHECK(all.taken[0] == std::byte{0});
  all.commit(std::move(room));
  CHECK(all.take() == size);
  CHECK(all.take() == 0);
  CHECK_FALSE(all.receiver->has_begun(all.request));
}

TEST_CASE("early copies: what is in the log comes out of it, wherever it was sent from") {
  Fixture all;
  MessageSource source = all.sender->source(all.sent);
  source.card.process = 0;
  auto room = all.announce(source);
  CHECK_FALSE(all.copy());
  all.log.fill(room, all.sent);
  all.sent[5] = std::byte{9};
  CHECK(all.copy());
  CHECK((all.taken == std::vector<std::byte>(size, std::byte{7})));
  CHECK_FALSE(all.copy());
  all.commit_filled(std::move(room));
  CHECK(all.take() == size);
}

TEST_CASE("early copies: memory is proposed for large messages, where the log was made at the start") {
  const std::vector<std::byte> large(256 << 10);
  const auto proposes = [](Fixture& all, std::span<const std::byte> message) {
    const MessageSource source = all.sender->source(message);
    CHECK(source.address == reinterpret_cast<std::uint64_t>(message.data()));
    return source.card.process != 0;
  };
  Fixture made, grows(0);
  CHECK(proposes(made, large));
  CHECK_FALSE(proposes(made, std::span(large).first(large.size() - 1)));
  CHECK_FALSE(proposes(grows, large));
}

TEST_CASE("early copies: nothing counts that was not announced to be there") {
  Fixture all;
  MessageSource source = all.sender->source(all.sent);
  SECTION("by a process of the same number in another namespace") {
    source.card.probe_value += 1;
    auto room = all.announce(source);
    CHECK_FALSE(all.copy());
    all.commit(std::move(room));
    CHECK(all.take() == 0);
  }
  SECTION("by no process") {
    source.card.process = 0;
    auto room = all.announce(source);
    CHECK_FALSE(all.copy());
    all.commit(std::move(room));
    CHECK(all.take() == 0);
  }
  SECTION("by one that is gone") {
    source.card.process = 0x7fffffff;
    auto room = all.announce(source);
    CHECK_FALSE(all.copy());
    all.commit(std::move(room));
    CHECK(all.take() == 0);
  }
  SECTION("by memory that is not whole") {
    source.address = 64;
    auto room = all.announce(source);
    CHECK_FALSE(all.copy());
    all.commit(std::move(room));
    CHECK(all.take() == 0);
  }
  SECTION("by a predecessor of who has sent it") {
    auto room = all.announce(source);
    CHECK(all.copy());
    room.drop();
    room = all.announce(source);
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
    source.card.process = 0;
    log::Reservation room;
    REQUIRE(all.log.reserve_again(kept, room).has_value());
    std::memcpy(room.extra().data(), &source, sizeof(source));
    all.log.announce(room, 1, 0, 0);
    CHECK_FALSE(all.copy());
    CHECK_FALSE(all.log.equals(room, all.sent));
    CHECK(all.copy());
    room.drop();
    room = all.announce(source);
    all.log.fill(room, all.sent);
    all.commit_filled(std::move(room));
    CHECK(all.take() == 0);
  }
  SECTION("for another receive") {
    auto room = all.announce(source);
    CHECK(all.copy());
    all.commit(std::move(room));
    Request other;
    CHECK(all.receiver->take(0, all.reader, *all.reader.peek(), other) == 0);
  }
  SECTION("for a message that came otherwise") {
    auto room = all.announce(source);
    CHECK(all.copy());
    all.receiver->forget(0);
    CHECK_FALSE(all.receiver->has_begun(all.request));
    all.commit(std::move(room));
    CHECK(all.take() == 0);
  }
  SECTION("as another record, with the same memory") {
    auto room = all.announce(source);
    CHECK(all.copy());
    all.commit(std::move(room));
    all.reader.advance();
    REQUIRE(all.log.publish(1, 0, 0, all.sent).has_value());
    CHECK(all.take() == 0);
  }
}
