#include "ignored_entities.hpp"
#include "lead.hpp"
#include "service_sleep.hpp"
#include "shared_moment.hpp"
#include "test.hpp"
#include "waiters.hpp"

// The parts that a participant's Core is made of, each by itself.

using namespace llamada;
using namespace llamada::dcps;
using namespace llamada::dcps::detail;
using namespace std::chrono_literals;

namespace {

/// Each reading is one nanosecond later than the one before.
struct CountedClock final : Clock {
  mutable int readings = 0;
  std::chrono::nanoseconds monotonic() const override { return std::chrono::nanoseconds(++readings); }
  std::chrono::nanoseconds realtime() const override { return std::chrono::nanoseconds(++readings); }
  Both both() const override {
    const auto now = monotonic();
    return {now, 1h + now};
  }
};

}  // namespace

TEST_CASE("ignored entities: an endpoint is ignored by its handle, its participant or its topic", "[dcps]") {
  topics::EndpointInfo endpoint;
  endpoint.id = {7, 3};
  endpoint.topic = "position";
  SECTION("nothing is ignored at first") { CHECK_FALSE(IgnoredEntities().has(endpoint)); }
  SECTION("others do not count") {
    IgnoredEntities ignored;
    ignored.add(handle_of({7, 4}));
    ignored.add(participant_handle(8));
    ignored.add_topic("speed");
    CHECK_FALSE(ignored.has(endpoint));
  }
  SECTION("each way suffices") {
    IgnoredEntities by_handle, by_participant, by_topic;
    by_handle.add(handle_of(endpoint.id));
    by_participant.add(participant_handle(7));
    by_topic.add_topic("position");
    CHECK(by_handle.has(endpoint));
    CHECK(by_participant.has(endpoint));
    CHECK(by_topic.has(endpoint));
  }
}

TEST_CASE("lead: the service thread's nap is long only while the same leader stays", "[dcps]") {
  Lead lead;
  CHECK_FALSE(lead.has_stayed());
  lead.take(false);
  CHECK_FALSE(lead.has_stayed());
  lead.note();
  CHECK(lead.has_stayed());
  lead.give_up();
  CHECK_FALSE(lead.has_stayed());
  lead.take(false);
  CHECK_FALSE(lead.has_stayed());
}

TEST_CASE("lead: looks of the application count until they are noted; giving up is one", "[dcps]") {
  Lead lead;
  CHECK_FALSE(lead.has_been_looked());
  lead.looked();
  CHECK(lead.has_been_looked());
  lead.note();
  CHECK_FALSE(lead.has_been_looked());
  lead.take(true);
  CHECK(lead.is_service_threads());
  lead.give_up();
  CHECK_FALSE(lead.is_service_threads());
  CHECK(lead.has_been_looked());
}

TEST_CASE("service sleep: it outlasts earlier moments only, and nothing once it has ended", "[dcps]") {
  ServiceSleep sleep;
  CHECK_FALSE(sleep.outlasts(0ns));
  sleep.begin(100ns);
  CHECK(sleep.outlasts(99ns));
  CHECK_FALSE(sleep.outlasts(100ns));
  CHECK(sleep.left(40ns, sleep_max) == 60ns);
  CHECK(sleep.left(40ns, 10ns) == 10ns);
  CHECK(sleep.left(200ns, sleep_max) == 0ns);
  sleep.end();
  CHECK_FALSE(sleep.outlasts(0ns));
}

TEST_CASE("waiters: each is done once its condition holds; a leader is woken its own way", "[dcps]") {
  Waiters waiters;
  int leader_wakes = 0;
  const auto wake_leader = [&] { ++leader_wakes; };
  bool holds = false;
  const std::function<bool()> condition = [&] { return holds; };
  {
    const Waiters::Place leader(waiters, condition, true);
    const Waiters::Place follower(waiters, condition, false);
    waiters.ask(wake_leader);
    CHECK_FALSE(leader.is_done());
    holds = true;
    waiters.ask(wake_leader);
    waiters.ask(wake_leader);
    CHECK(leader.is_done());
    CHECK(follower.is_done());
    CHECK(leader_wakes == 1);
  }
  CHECK(waiters.is_empty());
}

TEST_CASE("shared moment: a look reads the clock once, and again after so many uses", "[dcps]") {
  const CountedClock clock;
  SharedMoment moment(clock);
  CHECK(clock.readings == 0);
  for (std::uint32_t use = 0; use < SharedMoment::uses_max; use += 2) {
    CHECK(moment.use().monotonic == 1ns);
    CHECK(moment.use().realtime == 1h + 1ns);
  }
  CHECK(clock.readings == 1);
  CHECK(moment.use().monotonic == 2ns);
  CHECK(clock.readings == 2);
}

TEST_CASE("shared moment: the next look reads the clock anew, once it needs a moment", "[dcps]") {
  const CountedClock clock;
  SharedMoment moment(clock);
  CHECK(moment.use().monotonic == 1ns);
  moment.renew();
  moment.renew();
  CHECK(clock.readings == 1);
  CHECK(moment.use().monotonic == 2ns);
  CHECK(moment.use().monotonic == 2ns);
}
