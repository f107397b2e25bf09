// Pieces of records on the link for bulk, which come in another order than what the small link brings.
#include <utility>

#include "carrier_processes.hpp"

using namespace llamada;
using namespace llamada::replication;

namespace {

const LogName name{1, {1, 5}};
constexpr std::size_t many = 20000;  // bytes, in so many pieces that they leave in trains

struct Log {
  explicit Log(Process& writer) : log(writer.log(5, log::Retention::recycle)) {
    const auto published = writer.carrier->publish_to(log, name.key, 2);
    REQUIRE(published.has_value());
    own = *published;
  }
  LogWriter log;
  Carrier::OwnLog own = 0;
};

void check_next(LogReader& reader, std::uint64_t number, std::size_t size) {
  const auto record = reader.peek();
  REQUIRE(record.has_value());
  CHECK(log::holds(record->payload, number, size));
  reader.advance();
}

void check_idle(const Two& job) {
  CHECK((job.one.carrier->is_idle() && job.other.carrier->is_idle()));
  CHECK(job.other.carrier->held_datagrams() == 0);
  CHECK(job.other.carrier->faults(FrameFault::malformed) == 0);
  CHECK(job.other.heard.gones.empty());
}

/// Counts what was taken from a link. With `other`, a look finds nothing unless that link was looked at since
/// the last one: as if what has come had come between the looks at the two.
struct LateLink final : Link {
  explicit LateLink(Link& behind, const LateLink* behind_other = nullptr)
      : link(behind), other(behind_other) {}
  LinkLimits limits() const override { return link.limits(); }
  Status meet(EndpointNumber endpoint, const Address& address) override {
    return link.meet(endpoint, address);
  }
  std::size_t send(EndpointNumber to, std::span<const Datagram> datagrams) override {
    return link.send(to, datagrams);
  }
  std::span<const std::span<const std::byte>> receive() override {
    ++looks;
    if (other != nullptr && std::exchange(seen_looks, other->looks) == other->looks) return {};
    const auto received = link.receive();
    taken += received.size();
    return received;
  }
  int descriptor() const override { return link.descriptor(); }

  Link& link;
  const LateLink* other;
  std::size_t looks = 0, seen_looks = 0, taken = 0;
};

}  // namespace

TEST_CASE("carrier: a payload in pieces delays the records behind it, and no other log", "[replication]") {
  Two two;
  LogWriter large = two.one.log(5, log::Retention::recycle), small = two.one.log(6, log::Retention::recycle);
  REQUIRE(two.one.carrier->publish_to(large, {1, 5}, 2).has_value());
  REQUIRE(two.one.carrier->publish_to(small, {1, 6}, 2).has_value());
  LogReader large_reader = two.other.reader(two.follow({1, {1, 5}}));
  LogReader small_reader = two.other.reader(two.follow({1, {1, 6}}));
  two.pass(1ms);
  two.cut_bulk(two.one, two.other);
  publish(large, 1, 20000);
  publish(small, 1, 8);
  two.one.carrier->push(2, two.now);
  two.pass(3ms);
  CHECK(small_reader.peek());
  CHECK(!large_reader.peek());
  two.network.heal_all();
  publish(large, 2, 8);
  two.one.carrier->push(2, two.now);
  two.pass(100ms);
  for (const std::uint64_t number : {1, 2}) {
    const auto record = large_reader.peek();
    REQUIRE(record.has_value());
    CHECK(log::holds(record->payload, number, number == 1 ? 20000 : 8));
    large_reader.advance();
  }
  CHECK((two.one.carrier->is_idle() && two.other.carrier->held_datagrams() == 0));
}

TEST_CASE("carrier: pieces that overtake the beginning of their record come again", "[replication]") {
  Two two;
  Log log(two.one);
  LogReader reader = two.other.reader(two.follow(name));
  two.pass(1ms);
  two.cut_small(two.one, two.other);
  publish(log.log, 1, many);
  two.one.carrier->grown(log.own, two.now);
  two.pass(5ms);
  CHECK(!two.one.carrier->is_idle());
  two.network.heal_all();
  two.pass(200ms);
  check_next(reader, 1, many);
  check_idle(two);
}

TEST_CASE("carrier: pieces that come together with their record, after the look for it, come once",
          "[replication]") {
  Two two;
  Log log(two.one);
  LateLink bulk(*two.other.bulk), small(*two.other.small, &bulk);
  two.other.carrier = std::make_unique<Carrier>(
      CarrierOptions{.identity = {.job = 9, .endpoint = 2, .incarnation = 1, .key = {1, 2}},
                     .eager_bytes_max = eager_bytes_max},
      small, bulk, *two.other.arena);
  REQUIRE(two.other.carrier->meet(1, two.one.state).has_value());
  LogReader reader = two.other.reader(two.follow(name));
  two.pass(1ms);
  constexpr std::size_t pieces = many / 1300;  // at most so many bytes in each, and no fewer datagrams
  for (std::uint64_t number = 1; number <= 20; ++number) {
    publish(log.log, number, many);
    two.one.carrier->grown(log.own, two.now);
    two.pass(5ms);
    check_next(reader, number, many);
  }
  // One frame may have been overtaken by its pieces on the way.
  CHECK(bulk.taken <= 21 * (pieces + 1));
}

TEST_CASE("carrier: a history ends behind the pieces of its last record", "[replication]") {
  Three job;
  Log log(job.one);
  LogWriter& copy = job.follow(name);
  LogReader reader = job.other.reader(copy);
  publish(log.log, 1, 8);
  publish(log.log, 2, 40000);
  job.cut_bulk(job.driver, job.other);
  REQUIRE(job.catch_up(name));
  job.pass_silently(1ms);
  CHECK(copy.published() == 1);
  // The end has come, and waits for the pieces.
  CHECK(job.other.heard.ends.empty());
  CHECK(job.other.carrier->held_datagrams() == 1);
  job.network.heal_all();
  job.pass_silently(200ms);
  CHECK(copy.published() == 2);
  CHECK(job.other.heard.ends == std::vector<std::uint64_t>{2});
  // It is over: more may be asked for.
  publish(log.log, 3, many);
  REQUIRE(job.catch_up(name));
  job.pass_silently(5ms);
  CHECK(job.other.heard.ends == std::vector<std::uint64_t>{2, 3});
  check_next(reader, 1, 8);
  check_next(reader, 2, 40000);
  check_next(reader, 3, many);
  job.pass_all(200ms);
  check_idle(job);
}

TEST_CASE("carrier: pieces from two holders, cut at places of their own, make one payload", "[replication]") {
  Three job;
  Log log(job.one);
  LogReader reader = job.other.reader(job.follow(name));
  job.pass_all(1ms);
  publish(log.log, 1, 100000);
  job.one.carrier->grown(log.own, job.now);
  REQUIRE(job.catch_up(name));
  // Half of each one's pieces.
  job.pass_all(20us);
  job.cut_bulk(job.one, job.other);
  job.pass_all(3ms);
  job.network.heal_all();
  job.cut_bulk(job.driver, job.other);
  publish(log.log, 2, many);
  job.one.carrier->grown(log.own, job.now);
  job.pass_all(200ms);
  check_next(reader, 1, 100000);
  check_next(reader, 2, many);
  job.network.heal_all();
  job.pass_all(400ms);
  check_idle(job);
}

TEST_CASE("carrier: pieces that were sent to an older FOLLOW are neither lost nor sent for ever",
          "[replication]") {
  Three job;
  Log log(job.one);
  LogWriter& copy = job.follow(name);
  LogReader reader = job.other.reader(copy);
  job.pass_all(1ms);
  publish(log.log, 1, 8);
  REQUIRE(job.catch_up(name));
  job.pass_silently(1ms);
  CHECK(copy.published() == 1);
  // Records 1 and 2 leave in one frame, with which a FOLLOW from record 2 cannot begin.
  publish(log.log, 2, many);
  job.cut_small(job.one, job.other);
  job.one.carrier->grown(log.own, job.now);
  job.pass_all(1ms);
  job.follow(name);
  job.pass_all(1ms);
  job.network.heal_all();
  publish(log.log, 3, many);
  job.one.carrier->grown(log.own, job.now);
  job.pass_all(200ms);
  check_next(reader, 1, 8);
  check_next(reader, 2, many);
  check_next(reader, 3, many);
  check_idle(job);
}

TEST_CASE("carrier: pieces that come while their log is followed elsewhere wait for their record's frame",
          "[replication]") {
  Three job;
  Log log(job.one);
  LogReader reader = job.other.reader(job.follow(name));
  job.pass(1ms);
  job.cut_small(job.one, job.other);
  publish(log.log, 1, many);
  publish(log.log, 2, 8);
  job.one.carrier->grown(log.own, job.now);
  // The driver does not answer. Then the writer is followed again, from the record of the frame that is late.
  REQUIRE(job.other.carrier->follow(driver_endpoint(0), name, {}).has_value());
  job.pass(1ms);
  job.follow(name);
  job.pass(1ms);
  job.network.heal_all();
  job.pass(200ms);
  check_next(reader, 1, many);
  check_next(reader, 2, 8);
  CHECK(job.one.carrier->is_idle());
  CHECK(job.other.carrier->held_datagrams() == 0);
}

TEST_CASE("carrier: nothing is held for pieces of a peer that is lost", "[replication]") {
  Two two;
  Log log(two.one);
  [[maybe_unused]] const LogReader reader = two.other.reader(two.follow(name));
  two.pass(1ms);
  two.cut_bulk(two.one, two.other);
  publish(log.log, 1, many);
  publish(log.log, 2, 8);
  two.one.carrier->grown(log.own, two.now);
  two.pass(1ms);
  CHECK(two.other.carrier->held_datagrams() == 1);
  PeerState lost = two.one.state;
  lost.is_lost = true;
  REQUIRE(two.other.carrier->meet(1, lost).has_value());
  CHECK(two.other.carrier->held_datagrams() == 0);
}
