#include "node_hearing.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "llamada/base/random.hpp"
#include "node_lease.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::launcher;
using namespace std::chrono_literals;

using Nodes = std::vector<std::uint32_t>;
using TimePoint = NodeHearing::TimePoint;

namespace {

const TimePoint start = TimePoint() + 1h;

}  // namespace

TEST_CASE(
    "node hearing: a node tells of another that was silent for a lease and a quarter, and of its return",
    "[launcher]") {
  NodeHearing hearing(8s, 1, 4);
  std::map<std::chrono::nanoseconds, Nodes> told;
  for (auto at = 0ms; at < 30s; at += 800ms) {
    Nodes heard{0, 2, 3};
    if (at > 4s && at < 20s) heard = {0, 3, 9};
    if (auto unheard = hearing.look(start + at, heard)) told[at] = *unheard;
  }
  REQUIRE(told.size() == 2);
  CHECK(told.begin()->first == 14400ms);
  CHECK(told.begin()->second == Nodes{2});
  CHECK(std::next(told.begin())->first == 20s);
  CHECK(std::next(told.begin())->second.empty());
}

TEST_CASE("node hearing: nobody is to blame for the time in which a node itself stood still", "[launcher]") {
  NodeHearing hearing(8s, 0, 2);
  const Nodes nothing;
  CHECK_FALSE(hearing.look(start, nothing));
  CHECK_FALSE(hearing.look(start + 1h, nothing));
  CHECK_FALSE(hearing.look(start + 2h, Nodes{1}));
}

namespace {

/// What the coordinator decides when these complaints come at once; it has heard of nothing before.
Nodes given_up(std::uint32_t own_node, const std::map<std::uint32_t, Nodes>& complaints) {
  NodeComplaints judge(8s, own_node);
  judge.look(start);
  for (const auto& [node, unheard] : complaints) judge.take(node, unheard);
  Nodes lost;
  for (auto now = start; now < start + 20s; now += 800ms)
    while (const auto verdict = judge.look(now)) {
      CHECK(now >= start + 2s);
      lost.push_back(verdict->lost);
      judge.forget(verdict->lost);
    }
  return lost;
}

}  // namespace

TEST_CASE("node hearing: of two nodes that do not hear each other one is given up", "[launcher]") {
  CHECK(given_up(0, {}).empty());
  CHECK(given_up(0, {{1, {2}}, {2, {1}}}) == Nodes{2});
  CHECK(given_up(0, {{1, {2}}}) == Nodes{2});
  CHECK(given_up(2, {{1, {2}}}) == Nodes{1});
  CHECK(given_up(3, {{1, {2}}, {2, {1}}}) == Nodes{2});
  SECTION("the one that hears the fewest others") {
    CHECK(given_up(0, {{0, {1}}, {1, {0, 2, 3}}, {2, {1}}, {3, {1}}}) == Nodes{1});
    CHECK(given_up(0, {{2, {1}}, {3, {1}}}) == Nodes{1});
  }
  SECTION("as few as possible of two halves") {
    CHECK(given_up(0, {{0, {3}}, {1, {3}}, {2, {3}}, {3, {0, 1, 2}}}) == Nodes{3});
    CHECK(given_up(0, {{1, {3, 4}}, {2, {3, 4}}, {0, {3, 4}}}) == Nodes{4, 3});
  }
}

TEST_CASE("node hearing: a complaint that is taken back in time is forgotten", "[launcher]") {
  NodeComplaints judge(8s, 0);
  judge.look(start);
  judge.take(1, {2});
  CHECK_FALSE(judge.look(start + 800ms));
  judge.take(1, {});
  CHECK_FALSE(judge.look(start + 1600ms));
  judge.take(1, {2});
  CHECK_FALSE(judge.look(start + 2400ms));
  CHECK_FALSE(judge.look(start + 3200ms));
  CHECK_FALSE(judge.look(start + 1h));  // it stood still itself
  CHECK(judge.look(start + 1h + 800ms).has_value());
}

namespace {

constexpr auto lease = 8s;

/// Nodes, their coordinator, and the network in virtual time. Directions of it are cut for a while, and nodes
/// stand still.
class Network {
 public:
  Network(std::uint64_t seed, std::uint32_t node_count)
      : random_(seed), count_(node_count), nodes_(node_count), judge_(lease, 0) {
    for (std::uint32_t node = 0; node < count_; ++node) nodes_[node].hearing.emplace(lease, node, count_);
  }

  void run() {
    for (now_ = start; now_ < start + 300s; now_ += 100ms) {
      disturb();
      for (std::uint32_t node = 0; node < count_; ++node) act(node);
      judge();
      check_nothing_waits();
    }
  }
  bool has_lost() const { return !lost_.empty(); }

 private:
  struct Node {
    std::optional<NodeHearing> hearing;
    std::set<std::uint32_t> heard;
    TimePoint next_look = start;
    TimePoint stands_until = start;
    TimePoint stood_at = TimePoint();  // last
    std::optional<Nodes> said;         // on its way to the coordinator
  };
  using Direction = std::pair<std::uint32_t, std::uint32_t>;  // from, to
  struct Silence {
    TimePoint since = start;
    std::vector<std::pair<TimePoint, std::chrono::nanoseconds>>
        over;  // when others were, and how long they were
  };

  bool is_cut(std::uint32_t from, std::uint32_t to) const {
    const auto cut = cut_until_.find({from, to});
    return cut != cut_until_.end() && now_ < cut->second;
  }
  bool stands_still(std::uint32_t node) const { return now_ < nodes_[node].stands_until; }

  void disturb() {
    if (random_.below(200) != 0) return;
    const auto from = static_cast<std::uint32_t>(random_.below(count_));
    const auto to = static_cast<std::uint32_t>(random_.below(count_));
    const auto until = now_ + std::chrono::milliseconds(random_.below(30000));
    if (from == to) {
      if (random_.below(4) == 0) nodes_[from].stands_until = now_ + (until - now_) / 4;
      return;
    }
    cut_until_[{from, to}] = until;
    if (random_.below(2) == 0) cut_until_[{to, from}] = until;
  }

  void act(std::uint32_t number) {
    Node& node = nodes_[number];
    if (stands_still(number)) node.stood_at = now_;
    for (std::uint32_t other = 0; other < count_; ++other) {
      const bool passes = other != number && !is_cut(other, number) && !stands_still(other);
      if (!passes || nodes_[other].next_look > now_ + 100ms) continue;
      // What comes while it stands still waits there.
      node.heard.insert(other);
      Silence& silence = silences_[{other, number}];
      silence.over.emplace_back(now_, now_ - silence.since);
      silence.since = now_;
    }
    if (lost_.contains(number) || stands_still(number) || now_ < node.next_look) return;
    node.next_look = now_ + node_look_interval(lease) + std::chrono::milliseconds(random_.below(100));
    const Nodes heard(node.heard.begin(), node.heard.end());
    node.heard.clear();
    if (auto unheard = node.hearing->look(now_, heard)) node.said = std::move(unheard);
  }

  void judge() {
    for (std::uint32_t node = 0; node < count_; ++node)
      if (nodes_[node].said && !stands_still(node) && random_.below(3) == 0) {
        judge_.take(node, *nodes_[node].said);
        nodes_[node].said.reset();
      }
    if (stands_still(0) || now_ < next_judgement_) return;
    next_judgement_ = now_ + node_look_interval(lease);
    while (const auto verdict = judge_.look(now_)) {
      if (verdict->lost == 0) FAIL("the coordinator's own node was given up");
      const bool have_heard =
          silence(verdict->lost, verdict->other) < lease && silence(verdict->other, verdict->lost) < lease;
      // A node that stood still could not take back what it had said.
      if (have_heard && !has_stood_of_late(verdict->lost, verdict->other, 5s))
        FAIL("one of two nodes was given up that have heard each other");
      lost_.insert(verdict->lost);
      judge_.forget(verdict->lost);
    }
  }

  /// The longest of late of what the first node sends, at the second one.
  std::chrono::nanoseconds silence(std::uint32_t from, std::uint32_t to) {
    const Silence& silence = silences_[{from, to}];
    std::chrono::nanoseconds longest = now_ - silence.since;
    for (const auto& [end, length] : silence.over)
      if (now_ - end < 5s) longest = std::max(longest, length);
    return longest;
  }

  bool has_stood_of_late(std::uint32_t one, std::uint32_t other, std::chrono::nanoseconds within) {
    const auto stood_at = [this](std::uint32_t node) { return nodes_[node].stood_at; };
    return now_ - std::max({stood_at(one), stood_at(other), stood_at(0)}) < within;
  }

  void check_nothing_waits() {
    for (std::uint32_t one = 0; one < count_; ++one)
      for (std::uint32_t other = 0; other < count_; ++other) {
        if (one == other) continue;
        if (now_ - silences_[{one, other}].since > 2 * lease && !has_stood_of_late(one, other, 3 * lease) &&
            !lost_.contains(one) && !lost_.contains(other))
          FAIL("two nodes do not hear each other for long, and both are kept");
      }
  }

  Random random_;
  std::uint32_t count_;
  std::vector<Node> nodes_;
  NodeComplaints judge_;
  TimePoint now_ = start, next_judgement_ = start;
  std::map<Direction, TimePoint> cut_until_;
  std::map<Direction, Silence> silences_;
  std::set<std::uint32_t> lost_;
};

}  // namespace

TEST_CASE("node hearing: whatever is cut, nobody is given up without need, and nobody is kept for ever",
          "[launcher]") {
  int with_losses = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    Network network(seed, 2 + static_cast<std::uint32_t>(seed % 5));
    network.run();
    with_losses += network.has_lost();
  }
  CHECK(with_losses > 100);
  CHECK(with_losses < 300);
}
