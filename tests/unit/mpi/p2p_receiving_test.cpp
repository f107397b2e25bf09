#include "p2p/receiving.hpp"

#include <span>
#include <string>
#include <vector>

#include "p2p_parts.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::mpi;

namespace {

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// A message from rank 1, which is only there for as long as it is handed over.
void arrive(Parts& rank, std::uint64_t ordinal, int tag, const std::string& text) {
  const std::vector<std::byte> payload = bytes_of(text);
  IncomingMessage message;
  message.context = rank.communicator().context();
  message.source = 1;
  message.tag = tag;
  message.ordinal = ordinal;
  message.payload = payload;
  message.bytes = payload.size();
  rank.receiving.message_arrived(message);
}

}  // namespace

TEST_CASE("receiving: a message goes into the buffer of the receive that is posted for it") {
  Parts rank;
  std::vector<std::byte> other(8), room(8);
  Request elsewhere, receive;
  rank.describe(elsewhere, other, 1, 6);
  rank.describe(receive, room, MPI_ANY_SOURCE, 5);
  rank.receiving.start(elsewhere);
  rank.receiving.start(receive);
  CHECK(rank.receiving.posted_count() == 2);
  arrive(rank, 1, 5, "abc");
  CHECK(receive.complete);
  CHECK_FALSE(elsewhere.complete);
  CHECK(receive.status_source == 1);
  CHECK(receive.status_tag == 5);
  CHECK(receive.status_bytes == 3);
  CHECK(std::equal(room.begin(), room.begin() + 3, bytes_of("abc").begin()));
  CHECK(rank.receiving.cancel(elsewhere));
}

TEST_CASE("receiving: a message that nobody waits for is found by probes and taken by the next receive") {
  Parts rank;
  const std::uint32_t context = rank.communicator().context();
  CHECK(rank.receiving.probe(context, any_source, 5) == nullptr);
  arrive(rank, 1, 5, "abc");
  arrive(rank, 2, 5, "defg");
  CHECK(rank.receiving.unexpected_count() == 2);
  Arrival* found = rank.receiving.probe(context, any_source, 5);
  REQUIRE(found);
  CHECK(found->bytes == 3);
  CHECK(rank.receiving.find(context, 1, 2)->bytes == 4);
  for (const std::string expected : {"abc", "defg"}) {
    std::vector<std::byte> room(expected.size());
    Request receive;
    rank.describe(receive, room, 1, 5);
    rank.receiving.start(receive);
    CHECK(receive.complete);
    CHECK(room == bytes_of(expected));
  }
  CHECK(rank.receiving.unexpected_count() == 0);
}

TEST_CASE("receiving: a matched probe takes a message away from other receives") {
  Parts rank;
  arrive(rank, 1, 5, "abc");
  arrive(rank, 2, 5, "def");
  Arrival* taken = rank.receiving.probe(rank.communicator().context(), 1, 5);
  rank.receiving.take(*taken);
  std::vector<std::byte> room(3), matched_room(3);
  Request receive, matched;
  rank.describe(receive, room, 1, 5);
  rank.receiving.start(receive);
  CHECK(room == bytes_of("def"));
  rank.describe(matched, matched_room, 1, 5);
  rank.receiving.start_matched(matched, *taken);
  CHECK(matched.complete);
  CHECK(matched_room == bytes_of("abc"));
}

TEST_CASE("receiving: a message that is longer than its buffer fills it, and is an error") {
  Parts rank;
  std::vector<std::byte> room(2);
  Request receive;
  rank.describe(receive, room, 1, 5);
  rank.receiving.start(receive);
  arrive(rank, 1, 5, "abc");
  CHECK(receive.complete);
  CHECK(receive.error == MPI_ERR_TRUNCATE);
  CHECK(receive.failed_bytes == 3);
  CHECK(receive.status_bytes == 2);
  CHECK(room == bytes_of("ab"));
}

TEST_CASE("receiving: a receive that took its message cannot be taken back") {
  Parts rank;
  std::vector<std::byte> room(3);
  Request receive;
  rank.describe(receive, room, 1, 5);
  rank.receiving.start(receive);
  arrive(rank, 1, 5, "abc");
  CHECK_FALSE(rank.receiving.cancel(receive));
  CHECK_FALSE(receive.cancelled);
}

TEST_CASE("receiving: what came from a rank that has ended is dropped") {
  Parts rank;
  arrive(rank, 1, 5, "abc");
  rank.receiving.part(1);
  CHECK(rank.receiving.unexpected_count() == 0);
  CHECK(rank.receiving.probe(rank.communicator().context(), any_source, 5) == nullptr);
}

TEST_CASE("arrivals: payloads that stay in logs are copied when the logs are reused") {
  std::vector<std::byte> log = bytes_of("abc");
  IncomingMessage message;
  message.payload = log;
  message.bytes = log.size();
  Arrivals kept(true), copied(false);
  Arrival& first = kept.add(message);
  CHECK(first.payload == log.data());
  CHECK(copied.add(message).payload != log.data());
  kept.copy_all();
  CHECK(first.payload != log.data());
  log = bytes_of("xyz");
  message.payload = log;
  CHECK(std::equal(first.payload, first.payload + 3, bytes_of("abc").begin()));
  kept.recycle(first);
  CHECK(&kept.add(message) == &first);
  CHECK(first.payload != log.data());
}
