#include "node_lease.hpp"

#include <deque>
#include <optional>

#include "llamada/base/random.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::launcher;
using namespace std::chrono_literals;

using Deed = NodeLease::Deed;
using TimePoint = NodeLease::TimePoint;
using std::chrono::nanoseconds;

namespace {

const TimePoint start = TimePoint() + 1h;

}  // namespace

TEST_CASE("node leases: as long as the profile's, within bounds", "[launcher]") {
  const auto of = [](qos::Duration lease) {
    qos::Liveliness policy;
    policy.lease_duration = lease;
    return node_lease(policy);
  };
  CHECK(node_lease({}) == 8s);
  CHECK(of(5s) == 5s);
  CHECK(of(10ms) == 2s);
  CHECK(of(1h) == 16s);
}

TEST_CASE("node leases: a node whose questions are answered never stops its ranks", "[launcher]") {
  NodeLease lease(10s);
  for (TimePoint now = start; now < start + 100s; now += 1s) {
    REQUIRE(lease.look(now) == Deed::none);
    REQUIRE(lease.answered(lease.ask(now), now + 500ms) == Deed::none);
  }
}

TEST_CASE(
    "node leases: without answers a node stops its ranks after half a lease, and kills them a lease later",
    "[launcher]") {
  NodeLease lease(10s);
  CHECK(lease.look(start) == Deed::none);
  CHECK(lease.answered(lease.ask(start), start) == Deed::none);
  CHECK(lease.look(start + 4900ms) == Deed::none);
  CHECK(lease.look(start + 5s) == Deed::freeze);
  CHECK(lease.is_frozen());
  std::optional<TimePoint> end;
  for (TimePoint now = start + 6s; !end && now < start + 1min; now += 1s)
    if (lease.look(now) == Deed::end) end = now;
  CHECK(end == start + 15s);
}

TEST_CASE("node leases: an answer lets the ranks go on if its question is younger than half a lease",
          "[launcher]") {
  NodeLease lease(10s);
  lease.look(start);
  const auto old = lease.ask(start + 1s);
  const auto young = lease.ask(start + 5s);
  CHECK(lease.look(start + 5s) == Deed::freeze);
  SECTION("it is") {
    CHECK(lease.answered(young, start + 9s) == Deed::thaw);
    CHECK(lease.look(start + 9500ms) == Deed::none);
    CHECK(lease.look(start + 10s) == Deed::freeze);
  }
  SECTION("it is not") {
    CHECK(lease.answered(old, start + 7s) == Deed::none);
    CHECK(lease.answered(young, start + 10s) == Deed::none);
    CHECK(lease.answered(young, start + 10s) == Deed::none);
    CHECK(lease.answered(99, start + 10s) == Deed::none);
    CHECK(lease.is_frozen());
  }
}

TEST_CASE("node leases: a node that was paused as a whole asks before it kills", "[launcher]") {
  NodeLease lease(10s);
  lease.look(start);
  lease.answered(lease.ask(start), start);
  CHECK(lease.look(start + 1h) == Deed::freeze);
  const auto question = lease.ask(start + 1h);
  CHECK(lease.look(start + 1h + 1s) == Deed::none);
  CHECK(lease.look(start + 2h) == Deed::none);  // paused again
  CHECK(lease.answered(question, start + 2h) == Deed::none);
  CHECK(lease.answered(lease.ask(start + 2h), start + 2h + 1s) == Deed::thaw);
}

TEST_CASE("node leases: the coordinator gives up a node that was silent for a lease and a quarter",
          "[launcher]") {
  NodeLeases leases(8s);
  leases.look(start);
  leases.asked(1, start);
  leases.asked(2, start);
  std::vector<NodeLeases::Over> over;
  for (TimePoint now = start; over.empty() && now < start + 1min; now += 800ms) {
    leases.asked(2, now - 100ms);
    over = leases.look(now);
    if (now < start + 10s) CHECK(over.empty());
  }
  REQUIRE(over.size() == 1);
  CHECK(over[0].node == 1);
  CHECK(over[0].silent_for >= 10s);
  CHECK(over[0].silent_for < 11s);
  CHECK(leases.look(start + 40s).empty());
}

TEST_CASE("node leases: the time in which the coordinator itself stood still is nobody's silence",
          "[launcher]") {
  NodeLeases leases(8s);
  leases.look(start);
  leases.asked(1, start);
  CHECK(leases.look(start + 1h).empty());
  leases.asked(1, start + 1h);
  CHECK(leases.look(start + 1h + 9s).empty());
}

namespace {

/// One node, its coordinator, and the network between them in virtual time. Anything may be late, cut for a
/// while in one direction, or stand still; both sides look at times that drift.
class Simulation {
 public:
  explicit Simulation(std::uint64_t seed) : random_(seed) {}

  void run() {
    for (now_ = start; now_ < start + 200s; now_ += 10ms) {
      disturb();
      deliver();
      node_acts();
      coordinator_acts();
      // The ranks begin elsewhere with the loss.
      if (lost_ && ranks_run()) FAIL("the ranks of a node that was given up run");
    }
  }
  bool was_lost() const { return lost_; }

 private:
  struct Message {
    TimePoint due;
    std::uint64_t question;
  };
  struct Side {
    TimePoint next_look = start;
    TimePoint stands_still_until = start;
  };

  bool one_in(std::uint64_t times) { return random_.below(times) == 0; }
  nanoseconds up_to(nanoseconds most) {
    return nanoseconds(random_.below(static_cast<std::uint64_t>(most.count())));
  }
  TimePoint arrival() {
    if (one_in(200)) return now_ + up_to(15s);
    return now_ + (one_in(20) ? up_to(3s) : up_to(5ms));
  }
  void disturb() {
    const auto extend = [this](TimePoint& until) {
      if (!one_in(20000)) return;
      until = now_ + (one_in(2) ? up_to(20s) : up_to(5s));
    };
    extend(cut_to_node_);
    extend(cut_to_coordinator_);
    extend(node_.stands_still_until);
    extend(coordinator_.stands_still_until);
  }
  bool is_up(const Side& side) const { return now_ >= side.stands_still_until; }
  /// Ranks of a node that stands still do so, too. When it wakes, it looks before they have done anything.
  bool ranks_run() const { return is_up(node_) && !ended_ && !lease_.is_frozen(); }

  void deliver() {
    // A stream keeps its order; what a cut holds up comes behind it.
    while (is_up(coordinator_) && now_ >= cut_to_coordinator_ && !questions_.empty() &&
           questions_.front().due <= now_) {
      if (!lost_) {
        leases_.asked(0, now_);
        answers_.push_back({arrival(), questions_.front().question});
      }
      questions_.pop_front();
    }
    while (is_up(node_) && now_ >= node_.next_look - 800ms && now_ >= cut_to_node_ && !answers_.empty() &&
           answers_.front().due <= now_) {
      obey(lease_.answered(answers_.front().question, now_));
      answers_.pop_front();
    }
  }
  void node_acts() {
    if (!is_up(node_) || ended_ || now_ < node_.next_look) return;
    node_.next_look = now_ + 800ms;
    obey(lease_.look(now_));
    questions_.push_back({arrival(), lease_.ask(now_)});
  }
  void coordinator_acts() {
    if (!is_up(coordinator_) || now_ < coordinator_.next_look) return;
    coordinator_.next_look = now_ + 800ms + up_to(100ms);
    if (!leases_.look(now_).empty()) lost_ = true;
  }
  void obey(Deed deed) {
    if (deed == Deed::end) ended_ = true;
    if (deed == Deed::thaw) REQUIRE_FALSE(lost_);
  }

  Random random_;
  TimePoint now_ = start;
  NodeLease lease_{8s};
  NodeLeases leases_{8s};
  Side node_, coordinator_;
  TimePoint cut_to_node_ = start, cut_to_coordinator_ = start;
  std::deque<Message> questions_, answers_;
  bool lost_ = false, ended_ = false;
};

}  // namespace

TEST_CASE("node leases: ranks never run in two places, whatever is cut, late or stands still", "[launcher]") {
  int lost = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    Simulation simulation(seed);
    simulation.run();
    lost += simulation.was_lost();
  }
  CHECK(lost > 30);
  CHECK(lost < 270);
}
