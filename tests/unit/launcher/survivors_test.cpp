#include <signal.h>

#include <deque>
#include <map>
#include <optional>
#include <set>

#include "job_coordinator.hpp"
#include "job_nodes.hpp"
#include "llamada/base/random.hpp"
#include "llamada/launcher/exit_codes.hpp"
#include "llamada/qos/serialization.hpp"
#include "test.hpp"

// Agreements of ranks on several nodes while ranks and nodes are lost: the real coordinator and the real
// JobNodes, with nodes, streams and ranks that are simulated. Each stream keeps its order; all else is drawn.

using namespace llamada;
using namespace llamada::launcher;

namespace {

constexpr std::uint32_t rounds = 5;

class SimulatedJob {
 public:
  SimulatedJob(Random& random, std::uint32_t node_count, std::uint32_t rank_count) : random_(random) {
    nodes_.resize(node_count);
    ranks_.resize(rank_count);
    control::Start job;
    job.rank_count = rank_count;
    job.job_number = 0xabc;
    job.program = "/bin/program";
    qos::Profile profile;
    profile.rank_replacement.kind = qos::RankReplacementKind::blank;
    job.profile = qos::serialize(profile);
    for (std::uint32_t node = 0; node < node_count; ++node)
      job.nodes.push_back({std::string(1, static_cast<char>('a' + node)),
                           node == 0 ? std::vector<std::string>{} : std::vector<std::string>{"ssh"}});
    for (std::uint32_t slot = 0; slot < rank_count; ++slot) {
      ranks_[slot].node = slot % node_count;
      job.node_of_rank.push_back(slot % node_count);
    }
    begin(job);
  }

  /// Anything happens; with `deaths`, also what takes ranks and nodes away.
  void step(bool deaths) {
    const auto node = static_cast<std::uint32_t>(random_.below(nodes_.size()));
    const auto slot = static_cast<std::uint32_t>(random_.below(ranks_.size()));
    const std::uint64_t what = random_.below(deaths ? 100 : 90);
    if (what < 35)
      deliver_up(node);
    else if (what < 70)
      deliver_down(node);
    else if (what < 90)
      act(slot);
    else if (what < 94)
      kill_rank(slot);
    else if (what == 94 && node != 0)
      nodes_[node].has_power = false;
    else if (what == 95 && node != 0 && random_.chance(1, 3))
      give_up(node);
    else if (what == 96 && node != 0 && !nodes_[node].has_power)
      give_up(node);
  }
  /// Whatever was to come has come: a node without power has been given up.
  void settle() {
    for (std::uint32_t node = 0; node < nodes_.size(); ++node)
      if (!nodes_[node].has_power) give_up(node);
    for (bool goes_on = true; std::exchange(goes_on, false);) {
      for (std::uint32_t node = 0; node < nodes_.size(); ++node)
        while (deliver_up(node) || deliver_down(node)) goes_on = true;
      for (std::uint32_t slot = 0; slot < ranks_.size(); ++slot) goes_on = act(slot) || goes_on;
    }
    coordinator_.look_for_the_end();
  }

  void check_end() const {
    bool any_lives = false, any_left = false;
    for (const Rank& rank : ranks_) {
      any_left |= rank.has_left;
      if (!rank.lives || nodes_[rank.node].is_given_up) continue;
      any_lives = true;
      CHECK(rank.decided == rounds);
    }
    for (const auto& [sequence, decision] : decisions_) check(decision, taken_.at(sequence));
    REQUIRE(coordinator_.finished());
    REQUIRE(exit_code_);
    if (any_lives || !any_left) CHECK((*exit_code_ == 0) == any_lives);
  }
  std::size_t decision_count() const { return decisions_.size(); }
  std::size_t lost_count() const { return decisions_.empty() ? 0 : decisions_.rbegin()->second.lost.size(); }

 private:
  struct Rank {
    std::uint32_t node = 0;
    bool lives = true;
    bool has_left = false;      ///< it has ended well
    std::uint32_t decided = 0;  ///< agreements
    std::optional<std::uint64_t> asks;
    std::optional<AgreementVote> vote;
    std::uint64_t seen_changes = 0;
  };
  struct Node {
    bool has_power = true;
    bool is_given_up = false;
    std::set<std::uint32_t> lost;  ///< as its page has it
    std::uint64_t changes = 0;
    std::deque<node::FromNode> up;
    std::deque<node::ToNode> down;
  };

  void begin(const control::Start& job) {
    job_nodes_.begin(job);
    coordinator_.take(control::Message(job));
    pump();
    for (std::uint32_t node = 1; node < nodes_.size(); ++node) job_nodes_.joined(node);
    for (std::uint32_t node = 0; node < nodes_.size(); ++node) job_nodes_.take(node, node::Ready{"h", "e"});
    const node::Probed probed{{"", std::vector<PairProbe>(nodes_.size(), {1472, 1496, 100})}};
    for (std::uint32_t node = 0; node < nodes_.size(); ++node) job_nodes_.take(node, probed);
    for (std::uint32_t node = 0; node < nodes_.size(); ++node) job_nodes_.take(node, node::Met{});
    pump();
  }

  void pump() {
    while (!to_nodes_.empty() || !to_coordinator_.empty()) {
      if (!to_nodes_.empty()) {
        job_nodes_.take(std::move(to_nodes_.front()));
        to_nodes_.pop_front();
        continue;
      }
      coordinator_.take(std::move(to_coordinator_.front()));
      to_coordinator_.pop_front();
    }
  }

  /// Also of a node that was given up, whose stream may be late to end.
  bool deliver_up(std::uint32_t number) {
    Node& node = nodes_[number];
    if (node.up.empty()) return false;
    const node::FromNode message = std::move(node.up.front());
    node.up.pop_front();
    if (const auto* question = std::get_if<node::AgreementWanted>(&message); question && !node.is_given_up)
      taken_[question->question.vote.sequence][question->slot] = question->question.vote;
    job_nodes_.take(number, message);
    pump();
    return true;
  }

  bool deliver_down(std::uint32_t number) {
    Node& node = nodes_[number];
    if (node.down.empty()) return false;
    node::ToNode message = std::move(node.down.front());
    node.down.pop_front();
    if (!node.has_power) return true;
    if (const auto* start = std::get_if<node::StartRanks>(&message))
      for (const node::RankStart& rank : start->ranks) say(number, node::Started{rank.slot, 100});
    if (const auto* lost = std::get_if<node::SetLost>(&message)) {
      node.lost.insert(lost->lost);
      ++node.changes;
    }
    if (std::holds_alternative<node::AskAgain>(message)) ++node.changes;
    if (const auto* drained = std::get_if<node::Drain>(&message)) {
      node::Done done;
      done.slot = drained->slot;
      done.node = number;
      say(number, done);
    }
    if (auto* answer = std::get_if<node::AnswerAgreement>(&message)) take(node, *answer);
    return true;
  }

  void take(const Node& node, const node::AnswerAgreement& answer) {
    Rank& rank = ranks_[asked_.at(answer.question)];
    if (!rank.lives || rank.asks != answer.question) return;
    rank.asks.reset();
    if (!answer.is_decided) return;
    // The same for all, and nobody hears of a loss in it that its own node has not been told before.
    const auto [known, is_new] = decisions_.emplace(++rank.decided, answer.decision);
    CHECK(known->second == answer.decision);
    for (const std::uint32_t lost : answer.decision.lost) CHECK(node.lost.contains(lost));
    rank.vote.reset();
  }

  bool act(std::uint32_t slot) {
    Rank& rank = ranks_[slot];
    Node& node = nodes_[rank.node];
    if (!rank.lives || rank.has_left || !node.has_power || rank.asks) return false;
    if (rank.decided == rounds) return leave(slot);
    if (rank.vote && rank.seen_changes == node.changes) return false;
    if (!rank.vote) {
      rank.vote =
          AgreementVote{.group = 1, .sequence = rank.decided + 1, .flags = ~(1u << slot), .own = slot};
      for (std::uint32_t member = 0; member < ranks_.size(); ++member) rank.vote->members.push_back(member);
      rank.vote->known_lost.assign(node.lost.begin(), node.lost.end());
    }
    rank.seen_changes = node.changes;
    rank.asks = ++last_question_;
    asked_[last_question_] = slot;
    say(rank.node, node::AgreementWanted{slot, {*rank.vote, last_question_}});
    return true;
  }

  bool leave(std::uint32_t slot) {
    ranks_[slot].has_left = true;
    node::Ended end;
    end.slot = slot;
    end.view.state = RankState::finalized;
    say(ranks_[slot].node, end);
    return true;
  }
  void kill_rank(std::uint32_t slot) {
    Rank& rank = ranks_[slot];
    if (!rank.lives || rank.has_left || !nodes_[rank.node].has_power) return;
    rank.lives = false;
    node::Ended end;
    end.slot = slot;
    end.root_status = SIGKILL;
    end.view.state = RankState::in_program;
    say(rank.node, end);
  }
  /// A node that has power and its ranks go on: they cannot know.
  void give_up(std::uint32_t number) {
    if (std::exchange(nodes_[number].is_given_up, true)) return;
    job_nodes_.lost(number, "it is silent");
    pump();
  }
  void say(std::uint32_t node, node::FromNode message) { nodes_[node].up.push_back(std::move(message)); }

  static void check(const AgreementDecision& decision, const std::map<std::uint32_t, AgreementVote>& votes) {
    std::uint32_t flags = ~std::uint32_t{0};
    bool all_knew = true;
    for (const auto& [slot, vote] : votes) {
      flags &= vote.flags;
      for (const std::uint32_t lost : decision.lost)
        all_knew &= std::ranges::count(vote.known_lost, lost) == 1;
    }
    CHECK(decision.flags == flags);
    CHECK(decision.all_knew == all_knew);
    // Who is not lost has voted.
    const std::size_t size = votes.empty() ? 0 : votes.begin()->second.members.size();
    for (std::uint32_t slot = 0; slot < size; ++slot)
      CHECK((votes.contains(slot) || std::ranges::count(decision.lost, slot) == 1));
  }

  Random& random_;
  std::vector<Node> nodes_;
  std::vector<Rank> ranks_;
  std::map<std::uint64_t, std::uint32_t> asked_;  ///< slots by question
  std::uint64_t last_question_ = 0;
  std::map<std::uint32_t, AgreementDecision> decisions_;  ///< by number; all ranks make the same agreements
  std::map<std::uint32_t, std::map<std::uint32_t, AgreementVote>> taken_;  ///< votes, by number and slot
  std::optional<int> exit_code_;
  std::deque<node::ToNode> to_nodes_;
  std::deque<node::FromNode> to_coordinator_;
  EventLoop loop_;
  JobNodes job_nodes_{
      [this](std::uint32_t node, node::ToNode message) { nodes_[node].down.push_back(std::move(message)); },
      [this](node::FromNode message) { to_coordinator_.push_back(std::move(message)); }};
  JobCoordinator coordinator_{loop_,
                              [this](control::Message message) {
                                if (const auto* finished = std::get_if<control::Finished>(&message))
                                  exit_code_ = finished->exit_code;
                              },
                              [this](node::ToNode message) { to_nodes_.push_back(std::move(message)); }};
};

}  // namespace

TEST_CASE("survivors: whatever ranks and nodes are lost, all that live agree, and none waits for ever",
          "[launcher]") {
  std::size_t decisions = 0, losses = 0;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const auto nodes = static_cast<std::uint32_t>(2 + random.below(3));
    SimulatedJob job(random, nodes, nodes + static_cast<std::uint32_t>(random.below(5)));
    const std::uint64_t steps = 50 + random.below(1500);
    for (std::uint64_t step = 0; step < steps; ++step) job.step(true);
    job.settle();
    job.check_end();
    decisions += job.decision_count();
    losses += job.lost_count();
  }
  // The seeds are such that both happen often.
  CHECK(decisions > 1000);
  CHECK(losses > 500);
}
