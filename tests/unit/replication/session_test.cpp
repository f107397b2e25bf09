#include "llamada/replication/session.hpp"

#include <deque>
#include <vector>

#include "llamada/replication/held_datagrams.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::replication;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t size_bytes = 1000;

void send(Session& session, int count, Time now) {
  for (int i = 0; i < count; ++i) {
    REQUIRE(session.may_send(size_bytes));
    session.sent(size_bytes, now);
  }
}

Session::Applied acknowledge(Session& session, std::uint64_t all, std::uint64_t more, Time now) {
  return session.acknowledged({all, more}, true, now);
}

}  // namespace

TEST_CASE("session: an acknowledgement names what was applied, once and without a gap", "[replication]") {
  Session session({});
  send(session, 5, 0ns);
  CHECK(session.next_number() == 6);
  auto applied = acknowledge(session, 3, 0, 10us);
  CHECK((applied.first == 1 && applied.last == 3));
  applied = acknowledge(session, 2, 0, 11us);  // an older one
  CHECK(applied.last < applied.first);
  applied = acknowledge(session, 9, 0, 12us);  // of what was never sent
  CHECK(applied.last < applied.first);
  applied = acknowledge(session, 5, 0, 13us);
  CHECK((applied.first == 4 && applied.last == 5));
  CHECK(!session.is_anything_under_way());
  CHECK(session.due() == never);
}

TEST_CASE("session: a datagram is lost when three that were sent later have come, and again after a resend",
          "[replication]") {
  Session session({});
  send(session, 10, 0ns);
  acknowledge(session, 0, 0b11, 20us);  // 2 and 3
  CHECK_FALSE(session.lost(20us));
  acknowledge(session, 0, 0b111, 21us);
  CHECK(session.lost(21us) == 1);
  CHECK_FALSE(session.lost(21us));
  session.resent(1, 21us);
  acknowledge(session, 0, 0b1111, 22us);  // 5 was sent before the resend
  CHECK_FALSE(session.lost(22us));
  send(session, 3, 23us);  // 11, 12, 13
  acknowledge(session, 0, 0b111100001111, 40us);
  CHECK(session.lost(40us) == 1);
  session.resent(1, 40us);
  const auto applied = acknowledge(session, 5, 0, 60us);
  CHECK((applied.first == 1 && applied.last == 5));
}

TEST_CASE("session: without an acknowledgement the oldest one is sent again, ever more seldom",
          "[replication]") {
  Session session({});
  send(session, 3, 0ns);
  acknowledge(session, 1, 0, 50us);
  Time before = 50us, gap_before{};
  for (int i = 0; i < 12; ++i) {
    const Time due = session.due();
    CHECK_FALSE(session.lost(due - 1ns));
    CHECK(session.lost(due) == 2);
    CHECK_FALSE(session.lost(due));
    session.resent(2, due);
    CHECK(due - before >= gap_before);
    CHECK(due - before <= 200ms);
    gap_before = due - before;
    before = due;
  }
  CHECK(gap_before == 200ms);
  acknowledge(session, 3, 0, before);
  send(session, 1, before);
  CHECK(session.due() - before < 10ms);
}

TEST_CASE("session: to a peer that computes patience is longer", "[replication]") {
  Session waits({}), computes({});
  send(waits, 2, 0ns);
  send(computes, 2, 0ns);
  waits.acknowledged({1, 0}, true, 20us);
  computes.acknowledged({1, 0}, false, 20us);
  CHECK(waits.due() <= 20us + 300us);
  CHECK(computes.due() >= 5ms);
}

TEST_CASE("session: the window halves once for a loss episode, and grows again", "[replication]") {
  Session session({.window_datagrams_first = 32});
  send(session, 32, 0ns);
  CHECK_FALSE(session.may_send(size_bytes));
  acknowledge(session, 0, 0xffff0ff0, 30us);
  const auto window = session.window_datagrams();
  int lost = 0;
  while (const auto number = session.lost(30us)) {
    session.resent(*number, 30us);
    ++lost;
  }
  CHECK(lost == 9);
  CHECK(session.window_datagrams() == window / 2);
  acknowledge(session, 32, 0, 60us);
  Time now = 60us;
  const auto halved = session.window_datagrams();
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t last = session.next_number() - 1 + session.window_datagrams();
    while (session.next_number() <= last) send(session, 1, now);
    acknowledge(session, last, 0, now += 30us);
  }
  CHECK(session.window_datagrams() >= halved + 8);
  CHECK(session.window_datagrams() <= halved + 12);
}

TEST_CASE("session: the window bounds bytes, too, but never the only datagram", "[replication]") {
  Session session({.window_bytes_max = 2500});
  CHECK(session.may_send(10000));
  send(session, 2, 0ns);
  CHECK_FALSE(session.may_send(size_bytes));
  CHECK(session.may_send(500));
}

TEST_CASE("session: arrivals are sorted, and acknowledged as they were applied", "[replication]") {
  using Arrival = Session::Arrival;
  Session session({});
  CHECK_FALSE(session.owes_acknowledgement(0ns));
  CHECK(session.arrives(1, 0ns) == Arrival::next);
  session.applied(0ns);
  CHECK_FALSE(session.owes_acknowledgement(99us));
  CHECK(session.owes_acknowledgement(100us));
  CHECK(session.due() == 100us);
  session.acknowledgement_sent();
  CHECK_FALSE(session.has_unacknowledged());
  // Sent again by a stranger, a thousand times, they cost one acknowledgement.
  for (int i = 0; i < 1000; ++i) CHECK(session.arrives(1, 300us) == Arrival::before);
  CHECK(session.has_unacknowledged());
  CHECK_FALSE(session.owes_acknowledgement(399us));
  CHECK(session.owes_acknowledgement(400us));
  session.acknowledgement_sent();
  CHECK_FALSE(session.has_unacknowledged());
  CHECK(session.arrives(3, 0ns) == Arrival::ahead);
  session.came(3, 0ns);
  CHECK(session.owes_acknowledgement(0ns));
  CHECK(session.arrives(3, 0ns) == Arrival::before);
  CHECK(session.seen() == Seen{1, 0b1});
  CHECK(session.arrives(66, 0ns) == Arrival::ahead);
  session.came(66, 0ns);
  CHECK(session.seen() == Seen{1, 1ULL << 63 | 1});
  CHECK(session.arrives(1026, 0ns) == Arrival::too_far);
  session.applied(0ns);
  // 3 is held by the owner, and applied by itself.
  CHECK(session.seen().all == 2);
  session.applied(0ns);
  CHECK(session.seen() == Seen{3, 1ULL << 61});
}

TEST_CASE("session: delivered as they come, a gap that closes takes what is behind it along",
          "[replication]") {
  Session session({.delivery = SessionOptions::Delivery::as_they_come});
  for (const std::uint64_t number : {2, 3, 5}) session.came(number, 0ns);
  session.applied(0ns);
  CHECK(session.seen() == Seen{3, 0b1});
  session.applied(0ns);
  CHECK(session.seen() == Seen{5, 0});
  // The bits are used again after a round of all numbers.
  for (std::uint64_t number = 6; number < 5000; ++number) {
    REQUIRE(session.arrives(number, 0ns) == Session::Arrival::next);
    session.applied(0ns);
  }
  CHECK(session.seen() == Seen{4999, 0});
}

TEST_CASE("held datagrams: at most 64 of a session, and no more than the pool has", "[replication]") {
  DatagramPool pool(70, 100);
  const std::vector<std::byte> bytes(50, std::byte{7}), long_bytes(101);
  {
    HeldDatagrams one(pool), other(pool);
    CHECK_FALSE(one.hold(4, 1, long_bytes));
    CHECK_FALSE(one.hold(1, 1, bytes));
    CHECK_FALSE(one.hold(66, 1, bytes));
    for (std::uint64_t number = 2; number <= 65; ++number) CHECK(one.hold(number, 1, bytes));
    CHECK(one.hold(65, 1, bytes));
    CHECK(pool.free_count() == 6);
    for (std::uint64_t number = 12; number < 18; ++number) CHECK(other.hold(number, 10, bytes));
    CHECK_FALSE(other.hold(18, 10, bytes));
    REQUIRE(one.find(30));
    CHECK(one.find(30)->size() == 50);
    one.give_back(30);
    CHECK_FALSE(one.find(30));
    CHECK(other.hold(18, 10, bytes));
  }
  CHECK(pool.free_count() == 70);
}
