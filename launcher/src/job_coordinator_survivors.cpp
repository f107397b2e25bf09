#include <utility>

#include "job_coordinator.hpp"
#include "llamada/launcher/exit_codes.hpp"

// Ranks die, and the others go on without them (rank_replacement BLANK, SHRINK). What these agree on is
// decided here, whatever their node: docs/decisions/0054-survivors-on-several-nodes.md.

namespace llamada::launcher {

bool JobCoordinator::survivors_go_on() const { return qos::survivors_go_on(profile_.rank_replacement); }

void JobCoordinator::go_on_without(JobRank& rank, int exit_code) {
  rank.lost_code = exit_code;
  tell_node_(node::SetLost{rank.slot});
  drain(rank);
}

/// All ranks of the node are lost together: no decision counts one of them as living that was made because
/// another one was lost.
void JobCoordinator::go_on_without_node(const node::NodeLost& message) {
  std::vector<std::uint32_t> lost;
  for (JobRank& rank : ranks_) {
    if (node_of(job_, rank.slot) != message.node) continue;
    // Nobody is to wait for what its llamanetd would send of a rank that has ended before, either.
    tell_node_(node::SetLost{rank.slot, true});
    if (rank.phase != RankPhase::running) continue;
    lost.push_back(rank.slot);
    rank.lost_code = exit_launcher;
    rank.root_status = exit_launcher << 8;  // as wait() has it
    rank.died_at = JobRank::TimePoint::clock::now();
    // Whoever has asked for it is not to wait for its start.
    if (rank.pid == 0 && rank.world != 0) world_runs(rank.world);
    report_.deaths.push_back(death_with_node(rank, message));
    drain(rank);
  }
  say(fmt::format("mpirun: the node {} is lost: {}; {}.\n", message.title, message.why,
                  describe_lost_with_node(lost)));
  end_in_agreements(lost);
}

DeathRecord JobCoordinator::death_with_node(const JobRank& rank, const node::NodeLost& message) const {
  DeathRecord record = begin_record(rank);
  record.pid = rank.pid;
  record.state = RankState::in_program;
  record.lost_with_node = message.title;
  return record;
}

std::string JobCoordinator::describe_lost_with_node(const std::vector<std::uint32_t>& lost) const {
  if (lost.empty()) return "none of its ranks ran any more";
  std::string names;
  for (std::size_t i = 0; i < lost.size(); ++i)
    names += fmt::format("{}{}", i == 0 ? "" : i + 1 == lost.size() ? " and " : ", ", lost[i]);
  return fmt::format("{} lost with it, and the others go on without {} (rank_replacement {}, profile '{}')",
                     lost.size() == 1 ? "rank " + names + " is" : "ranks " + names + " are",
                     lost.size() == 1 ? "it" : "them", to_string(profile_.rank_replacement.kind),
                     job_.profile_label);
}

void JobCoordinator::end_in_agreements(const std::vector<std::uint32_t>& ended) {
  const std::uint64_t before = together_.agreements.decision_count();
  together_.agreements.end_members(ended);
  if (together_.agreements.decision_count() != before) tell_node_(node::AskAgain{});
}

void JobCoordinator::on(node::AgreementWanted&& message) {
  const std::uint64_t before = together_.agreements.decision_count();
  auto decision = together_.agreements.vote(message.slot, message.question.vote);
  tell_node_(node::AnswerAgreement{message.question.number, decision.has_value(),
                                   decision.value_or(AgreementDecision())});
  if (together_.agreements.decision_count() != before) tell_node_(node::AskAgain{});
}

/// The job has failed when nobody is left: with the code of the rank that died last.
std::optional<int> JobCoordinator::code_if_all_are_lost() const {
  const JobRank* last = nullptr;
  for (const JobRank& rank : ranks_) {
    if (rank.discarded) continue;
    if (!rank.lost_code) return std::nullopt;
    if (last == nullptr || rank.died_at >= last->died_at) last = &rank;
  }
  return last ? last->lost_code : std::nullopt;
}

}  // namespace llamada::launcher
