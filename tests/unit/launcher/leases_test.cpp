#include "leases.hpp"

#include "llamada/base/random.hpp"
#include "test.hpp"

// Leases under a time of their own: looks are told, findings are looked at, nobody waits.

using namespace llamada;
using namespace llamada::launcher;
using namespace std::chrono_literals;

namespace {

using State = LifeSign::State;
using Kind = LeaseFinding::Kind;

constexpr auto automatic = qos::LivelinessKind::automatic;
constexpr auto manual = qos::LivelinessKind::manual_by_participant;

/// One rank under a lease of 1 s.
struct Watched {
  explicit Watched(qos::LivelinessKind kind = automatic, std::chrono::nanoseconds lease = 1s)
      : leases({kind, lease}) {}

  /// A look so much later.
  std::optional<LeaseFinding> look(std::chrono::nanoseconds later, bool held = false) {
    now += later;
    leases.begin_look(now, held);
    return leases.see(3, sign);
  }
  /// Looks at the usual times for so long; the first finding.
  std::optional<LeaseFinding> looks(std::chrono::nanoseconds length, bool held = false) {
    for (const auto end = now + length; now < end;)
      if (auto found = look(leases.look_interval(), held)) return found;
    return std::nullopt;
  }

  Leases leases;
  Leases::TimePoint now{};
  LifeSign sign{.pid = 7};
};

}  // namespace

TEST_CASE("leases: a rank that sleeps in the kernel lives, however long", "[launcher]") {
  Watched rank;
  CHECK_FALSE(rank.looks(1h));
}

TEST_CASE("leases: a stopped rank is dead after its lease, and within two looks of it", "[launcher]") {
  for (const State state : {State::stopped, State::frozen, State::runnable}) {
    Watched rank;
    rank.looks(10s);
    rank.sign.state = state;
    const auto stopped_at = rank.now;
    const auto found = rank.looks(10s);
    REQUIRE(found);
    CHECK(found->kind == Kind::over);
    CHECK(found->silence == (state == State::stopped  ? Silence::stopped
                             : state == State::frozen ? Silence::frozen
                                                      : Silence::starved));
    CHECK(found->silent_for_ns >= 1'000'000'000);
    CHECK(rank.now - stopped_at >= 1s);
    CHECK(rank.now - stopped_at <= 1200ms);
  }
}

TEST_CASE("leases: a rank that was stopped for less than its lease lives", "[launcher]") {
  Watched rank;
  rank.looks(1s);
  for (int round = 0; round < 100; ++round) {
    rank.sign.state = State::stopped;
    REQUIRE_FALSE(rank.looks(900ms));
    rank.sign.state = State::runnable;  // it has not had a processor yet
    REQUIRE_FALSE(rank.looks(200ms));
    ++rank.sign.progress;
  }
}

TEST_CASE("leases: a slow rank that is seen stopped at every look lives, for it moves between them",
          "[launcher]") {
  Watched rank;
  rank.sign.state = State::stopped;
  for (int look = 0; look < 1000; ++look) {
    ++rank.sign.progress;
    REQUIRE_FALSE(rank.look(100ms));
  }
}

TEST_CASE("leases: a rank that gets a little processor time in each lease is not starved", "[launcher]") {
  Watched rank;
  rank.sign.state = State::runnable;
  for (int round = 0; round < 100; ++round) {
    REQUIRE_FALSE(rank.looks(900ms));
    ++rank.sign.progress;
  }
}

TEST_CASE("leases: what the observer missed counts for nobody", "[launcher]") {
  Watched rank;
  rank.look(100ms);
  rank.sign.state = State::stopped;
  rank.look(100ms);
  // The whole node stood still, ranks and observer, and the ranks are continued after it.
  CHECK_FALSE(rank.look(1h));
  CHECK_FALSE(rank.look(100ms));
  ++rank.sign.progress;
  CHECK_FALSE(rank.looks(900ms));
  CHECK(rank.looks(300ms));
}

TEST_CASE("leases: while the job is suspended no lease runs", "[launcher]") {
  Watched rank;
  rank.looks(1s);
  rank.sign.state = State::stopped;
  CHECK_FALSE(rank.looks(500ms));
  CHECK_FALSE(rank.looks(1h, true));
  CHECK_FALSE(rank.looks(400ms));
  CHECK(rank.looks(400ms));
}

TEST_CASE("leases: a debugger suspends the lease, and is told once; then it begins anew", "[launcher]") {
  Watched rank(manual);
  rank.sign.state = State::stopped;
  rank.sign.outside_mpi = true;
  rank.sign.tracer = 99;
  const auto found = rank.looks(10s);
  REQUIRE(found);
  CHECK(found->kind == Kind::debugger);
  CHECK(found->tracer == 99);
  CHECK_FALSE(rank.looks(1h));
  rank.sign.tracer = 0;
  CHECK_FALSE(rank.looks(1s));
  CHECK(rank.looks(500ms)->kind == Kind::over);
}

TEST_CASE("leases: MANUAL_BY_PARTICIPANT finds a rank that does not enter MPI, AUTOMATIC does not",
          "[launcher]") {
  for (const auto kind : {automatic, manual}) {
    Watched rank(kind);
    rank.sign.state = State::runnable;
    rank.sign.outside_mpi = true;
    std::optional<LeaseFinding> found;
    for (int look = 0; look < 20 && !found; ++look) {
      ++rank.sign.progress;
      found = rank.look(100ms);
    }
    CHECK(found.has_value() == (kind == manual));
    if (found) CHECK(found->silence == Silence::outside_mpi);
  }
}

TEST_CASE("leases: MANUAL_BY_PARTICIPANT leaves who is in MPI, or is there often enough, alone",
          "[launcher]") {
  Watched rank(manual);
  CHECK_FALSE(rank.looks(1h));  // in a receive
  rank.sign.outside_mpi = true;
  for (int round = 0; round < 100; ++round) {
    ++rank.sign.call_index;
    REQUIRE_FALSE(rank.looks(900ms));
  }
}

TEST_CASE("leases: each process has a lease of its own", "[launcher]") {
  Watched rank;
  rank.sign.state = State::stopped;
  CHECK_FALSE(rank.looks(900ms));
  rank.sign.pid = 8;
  CHECK_FALSE(rank.looks(900ms));
  CHECK(rank.looks(300ms)->kind == Kind::over);
}

TEST_CASE("leases: a dead rank is found once, and told of when its process does not end", "[launcher]") {
  Watched rank;
  rank.sign.state = State::frozen;
  REQUIRE(rank.looks(2s)->kind == Kind::over);
  CHECK_FALSE(rank.looks(900ms));
  const auto found = rank.looks(300ms);
  REQUIRE(found);
  CHECK(found->kind == Kind::lingering);
  CHECK(found->silence == Silence::frozen);
  CHECK_FALSE(rank.looks(1h));
}

TEST_CASE("leases: nobody is found who was never still for a lease, whatever the looks miss", "[launcher]") {
  Random random(11);
  for (int round = 0; round < 2000; ++round) {
    Watched rank;
    auto still = 0ns;
    for (int look = 0; look < 100; ++look) {
      const std::chrono::nanoseconds later = std::chrono::milliseconds(random.below(400));
      const bool moves = random.chance(1, 8) || still + later > 1s;
      const auto state = static_cast<State>(random.below(4));
      still = moves || state != rank.sign.state ? 0ns : still + later;
      rank.sign.progress += moves;
      rank.sign.state = state;
      REQUIRE_FALSE(rank.look(later, random.chance(1, 10)));
    }
  }
}

TEST_CASE("leases: what happened is told in words", "[launcher]") {
  CHECK(describe_silence({Kind::over, Silence::stopped, 1'040'000'000, 0}, 1s) ==
        "was stopped for 1.0 s, longer than the LIVELINESS lease of 1 s");
  CHECK(describe_silence({Kind::over, Silence::outside_mpi, 2'540'000'000, 0}, 2500ms) ==
        "was outside MPI for 2.5 s, longer than the LIVELINESS lease of 2500 ms");
}
