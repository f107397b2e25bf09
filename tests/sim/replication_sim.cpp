// Two processes with real arenas, logs and carriers, and a driver that serves their logs, over a fake network
// in virtual time: the copies' readers
// see each record once, in order and with its bytes; memory stays within its bounds; all ends once the faults
// have. LLAMADA_SIM_SEED=N replays one seed; LLAMADA_SIM_SEEDS=N runs so many.

#include <fmt/format.h>

#include <algorithm>

#include "replication_node.hpp"
#include "replication_seeds.hpp"

using namespace llamada;
using namespace llamada::sim;
using namespace std::chrono_literals;
using replication::Time;

namespace {

constexpr Time calm_at = 30ms;
constexpr Time ends_within = 3s;

std::vector<SimLog> make_logs(Random& random, std::uint32_t writer, std::uint64_t count) {
  std::vector<SimLog> logs;
  for (std::uint64_t i = 0; i < count; ++i)
    logs.push_back({.name = {writer, {1, i}},
                    .keeps_all = random.chance(1, 2),
                    .record_count = random.chance(1, 8) ? 400 + random.below(800) : random.below(60),
                    .seed = random.next()});
  return logs;
}

class Simulation {
 public:
  explicit Simulation(std::uint64_t seed)
      : random_(seed),
        network_(random_.next(), make_faults()),
        frame_bytes_(300 + random_.below(1200)),
        logs_one_(make_logs(random_, 1, 1 + random_.below(3))),
        logs_other_(make_logs(random_, 2, random_.below(2))),
        one_(1, 2, network_, frame_bytes_, logs_one_, logs_other_),
        other_(2, 1, network_, frame_bytes_, logs_other_, logs_one_),
        driver_(network_, frame_bytes_ + random_.below(2) * 200),
        may_kill_(random_.chance(1, 2)),
        may_catch_up_(random_.chance(2, 3)) {
    driver_.add(1, one_);
    driver_.add(2, other_);
    for (SimNode* node : {&one_, &other_}) node->meet_driver(driver_.state());
  }

  std::string run() {
    std::string wrong = one_.begin(1, {.small = other_.state().small, .bulk = other_.state().bulk});
    if (wrong.empty()) wrong = other_.begin(1, one_.state());
    while (wrong.empty() && !(one_.is_done() && other_.is_done())) {
      if (now_ > calm_at + ends_within)
        return "not all has come after the last fault: " + one_.describe() + "; " + other_.describe();
      wrong = step();
    }
    return wrong;
  }
  std::uint64_t events() const { return events_; }

 private:
  links::FakeFaults make_faults() {
    const auto rate = [&](std::uint64_t most) {
      return random_.chance(1, 3) ? 0U : static_cast<std::uint32_t>(random_.below(most));
    };
    return {.loss = rate(200), .doubling = rate(200), .reordering = rate(400), .corruption = rate(100)};
  }

  std::string step() {
    ++events_;
    if (now_ < calm_at) {
      disturb();
    } else if (!is_calm_) {
      is_calm_ = true;
      network_.set_faults({});
      network_.heal_all();
      paused_until_ = {};
      for (SimNode* node : {&one_, &other_}) node->set_short_of_memory(false);
    }
    for (const bool is_one : {true, false}) {
      SimNode& node = is_one ? one_ : other_;
      if (!node.is_alive() && (is_calm_ || random_.chance(1, 20)))
        if (std::string wrong = revive(node, is_one); !wrong.empty()) return wrong;
      if (now_ < paused_until_ && is_one == pauses_one_) continue;
      if (random_.chance(1, 2)) node.publish(random_, now_);
      if (std::string wrong = node.work(now_); !wrong.empty()) return wrong;
      if (random_.chance(1, 3))
        if (std::string wrong = node.read(random_); !wrong.empty()) return wrong;
      if (may_catch_up_ && !is_calm_ && random_.chance(1, 20)) node.catch_up(random_);
      if (std::string wrong = node.check_bounds(); !wrong.empty()) return wrong;
    }
    driver_.work(now_);
    if (std::string wrong = driver_.check_bounds(); !wrong.empty()) return wrong;
    if (!met_.empty() && (is_calm_ || random_.chance(1, 20))) {
      // The news of a new incarnation takes its time.
      met_.back()->meet((met_.back() == &one_ ? other_ : one_).state());
      driver_.changed(met_.back() == &one_ ? 2 : 1);
      met_.pop_back();
    }
    const Time most = now_ + (random_.chance(1, 2) ? 20us : 200us);
    now_ = std::max(std::min({network_.due(), one_.due(), other_.due(), driver_.due(), most}), now_ + 200ns);
    network_.advance(now_);
    return {};
  }

  void disturb() {
    if (random_.chance(1, 300)) {
      if (random_.chance(1, 2))
        network_.heal_all();
      else
        network_.cut(static_cast<std::uint16_t>(random_.below(6)),
                     static_cast<std::uint16_t>(random_.below(6)));
    }
    if (random_.chance(1, 400)) {
      paused_until_ = now_ + Time(static_cast<std::int64_t>(random_.below(10'000'000)));
      pauses_one_ = random_.chance(1, 2);
    }
    if (random_.chance(1, 200))
      (random_.chance(1, 2) ? one_ : other_).set_short_of_memory(random_.chance(1, 2));
    if (may_kill_ && random_.chance(1, 400)) (random_.chance(1, 2) ? one_ : other_).kill();
  }

  std::string revive(SimNode& node, bool is_one) {
    const SimNode& peer = is_one ? other_ : one_;
    met_.push_back(is_one ? &other_ : &one_);
    return node.begin(static_cast<std::uint16_t>(node.state().incarnation + 1), peer.state());
  }

  Random random_;
  links::FakeNetwork network_;
  std::size_t frame_bytes_;
  std::vector<SimLog> logs_one_, logs_other_;
  SimNode one_, other_;
  SimDriver driver_;
  bool may_kill_;
  bool may_catch_up_;
  bool is_calm_ = false;
  bool pauses_one_ = false;
  Time now_{}, paused_until_{};
  std::vector<SimNode*> met_;
  std::uint64_t events_ = 0;
};

std::uint64_t events = 0;

std::string run(std::uint64_t seed) {
  Simulation simulation(seed);
  std::string wrong = simulation.run();
  events += simulation.events();
  return wrong;
}

}  // namespace

TEST_CASE("replication: copies are right whatever the network does and whoever is killed", "[sim]") {
  sim::run_seeds(run, 500);
  std::printf("%llu events\n", static_cast<unsigned long long>(events));
}
