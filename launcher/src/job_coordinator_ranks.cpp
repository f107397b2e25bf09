#include <utility>

#include "job_coordinator.hpp"
#include "llamada/launcher/exit_codes.hpp"

// What ranks write and say.

namespace llamada::launcher {

void JobCoordinator::on(control::Output&& message) {
  JobRank* const rank = rank_at(message.rank);
  if (!rank) return;
  const int stream = message.stream - 1;
  if (stream == 1) rank->errors.take(message.bytes);
  if (!rebuilding()) return pass_on(*rank, stream, {std::move(message.bytes), {}});
  pass_on(*rank, stream, rank->output.take(stream, message.bytes));
}

void JobCoordinator::pass_on(const JobRank& rank, int stream, RankOutput::Delivery delivery) {
  if (delivery.difference) return output_diverged(rank, *delivery.difference);
  if (delivery.bytes.empty()) return;
  show({rank.slot, static_cast<std::uint8_t>(stream + 1), std::move(delivery.bytes)});
}

void JobCoordinator::output_diverged(const JobRank& rank, const OutputJournal::Difference& difference) {
  if (ending_code_) return;
  record_.is_over = true;
  const std::string place =
      difference.first_byte == difference.last_byte
          ? fmt::format("at byte {}", difference.first_byte)
          : fmt::format("at byte {} to {}", difference.first_byte, difference.last_byte);
  begin_ending(
      exit_diverged,
      fmt::format("mpirun: replay diverged: standard output of {} {} is not what its predecessor wrote "
                  "(incarnation {}); the program depends on something that is not recorded.\n",
                  name_of(rank), place, rank.incarnation));
}

void JobCoordinator::release_output(JobRank& rank) {
  if (rebuilding()) pass_on(rank, 0, rank.output.release());
}

/// A replacement waits at this place of its replay; or a rank that is about to do something outside the job
/// waits until what led to it is kept.
void JobCoordinator::on(node::Reached&& message) {
  JobRank* const rank = rank_at(message.slot);
  if (!rank || ending_code_) return;
  if (message.place == ReplayPlace::output)
    return written_output(*rank, message.question, message.checkpoint == 0);
  if (message.place == ReplayPlace::checkpoint)
    return checkpoint_written(message.checkpoint, message.question);
  if (message.place == ReplayPlace::restored) return restored(*rank, message);
  if (message.place == ReplayPlace::unusable && message.checkpoint != 0)
    return checkpoint_unusable(message.checkpoint, message.question);
  if (message.place == ReplayPlace::effect && record_.recorder)
    return record_.recorder->hold(message.question);
  // A rank that is resumed has no predecessor in whose last call it could be. Its supervisor has heard of
  // standbys that are of no use.
  if (message.place == ReplayPlace::effect || message.place == ReplayPlace::unusable ||
      rank->incarnation == 1)
    return tell_node_(node::AnswerReach{message.question});
  const auto finding = rank->output.reached(message.place, message.writes_alone);
  if (finding == RankOutput::Finding::wrote_less) return output_diverged(*rank, rank->output.end());
  if (finding == RankOutput::Finding::wrote_more)
    return begin_ending(
        exit_diverged,
        fmt::format("mpirun: replay diverged: {} (incarnation {}) wrote more to standard output before its "
                    "MPI call {} than its predecessor had written; the program depends on something that is "
                    "not recorded.\n",
                    name_of(*rank), rank->incarnation, rank->calls));
  if (rank->output.repetition() == Repetition::over) release_output(*rank);
  if (!ending_code_) tell_node_(node::AnswerReach{message.question});
}

void JobCoordinator::on(control::InputTaken&& message) {
  input_.taken(message.size_bytes);
  give_input();
}

void JobCoordinator::on(control::Notice&& message) { say(std::move(message.text)); }

void JobCoordinator::on(node::Attached&& message) {
  JobRank* const rank = rank_at(message.slot);
  if (!rank || rank->first_attached != 0) return;
  rank->first_attached = message.pid;
  if (record_.recorder) record_.recorder->process(rank->slot, message.pid, host_of(*rank));
}

void JobCoordinator::on(node::Said&& message) {
  JobRank* const rank = rank_at(message.slot);
  if (!rank) return;
  switch (message.kind) {
    case ArenaEventKind::note:
      if (!job_.verbose) return;
      [[fallthrough]];
    case ArenaEventKind::warning:
      return say(fmt::format("mpirun: {}: {}\n", name_of(*rank), message.text));
    case ArenaEventKind::unprotected:
      return histories_lost(*rank, message.text);
    case ArenaEventKind::diverged:
      return diverged(*rank, message.text);
    case ArenaEventKind::aborted:
      return aborted(*rank, message);
    default:
      return;
  }
}

void JobCoordinator::diverged(const JobRank& rank, const std::string& text) {
  if (ending_code_) return;
  record_.is_over = true;
  begin_ending(exit_diverged, text.starts_with("replay diverged")
                                  ? fmt::format("mpirun: {}\n", text)
                                  : fmt::format("mpirun: replay diverged: {}: {}\n", name_of(rank), text));
}

void JobCoordinator::aborted(JobRank& rank, const node::Said& message) {
  rank.aborted = true;
  rank.abort_code = message.code;
  if (ending_code_) return;
  record_.is_over = true;
  begin_ending(code_of_abort(message.code),
               message.text.empty()
                   ? fmt::format("mpirun: {} called MPI_Abort with code {}.\n", name_of(rank), message.code)
                   : fmt::format("mpirun: {}: {}\n", name_of(rank), message.text));
}

std::string JobCoordinator::log_used_up() {
  if (const auto rule = injector_->memory_used_up())
    return fmt::format("--inject '{}' has used up the memory for histories", *rule);
  return fmt::format("log_bytes_per_node of the profile '{}' ({}) is used up", job_.profile_label,
                     qos::bytes_to_string(profile_.rank_replacement.log_bytes_per_node));
}

/// `why` is empty when the memory for histories is used up; else what a rank said.
void JobCoordinator::histories_lost(const JobRank& rank, const std::string& why) {
  if (!unprotected_because_.empty() || ending_code_) return;
  tell_node_(node::SetUnprotected{});
  unprotected_because_ = why.empty() ? log_used_up() : fmt::format("rank {}: {}", rank.slot, why);
  const std::string what = fmt::format("mpirun: {}: ", unprotected_because_);
  if (profile_.rank_replacement.on_unprotected == qos::OnUnprotected::stop)
    return begin_ending(exit_unprotected, what + "the job is ended, because on_unprotected is STOP.\n");
  if (record_.recorder)
    record_.recorder->end(fmt::format("its ranks could no longer be replaced: {}", unprotected_because_));
  say(what +
      "the job goes on, but a rank that dies from now on cannot be replaced (on_unprotected CONTINUE).\n");
}

/// A replacement would take over the same arena, with what the rank has sent and what it was told: nothing
/// can follow from that any more.
void JobCoordinator::on(node::Damaged&& message) {
  const JobRank* const culprit = rank_at(message.slot);
  const JobRank* const finder = rank_at(message.finder);
  if (ending_code_ || !culprit || !finder) return;
  const std::string found =
      culprit == finder ? std::string() : fmt::format("; {} found that", name_of(*finder));
  const char* const no_replacement =
      rebuilding() ? "A replacement would take over the same arena, so the rank cannot be replaced.\n" : "";
  begin_ending(exit_damaged,
               fmt::format("mpirun: the arena of {} is damaged ({}{}): a wild pointer of the program in {} "
                           "has written over memory of the MPI library; the job is ended.\n{}",
                           name_of(*culprit), message.what, found, name_of(*culprit), no_replacement));
}

void JobCoordinator::on(node::CodeChanged&& message) {
  const JobRank* const rank = rank_at(message.slot);
  if (!rank || ending_code_) return;
  begin_ending(
      exit_diverged,
      fmt::format(
          "mpirun: {} cannot be replaced: {} has changed on disk since its predecessor loaded it; the job "
          "is ended. Build under another name, or wait until the job is over.\n",
          name_of(*rank), message.path));
}

void JobCoordinator::on(node::OtherMpi&& message) { other_mpi_ = std::move(message.library); }

void JobCoordinator::on(node::NodeFailed&& message) {
  begin_ending(exit_launcher, fmt::format("mpirun: {}; the job is ended.\n", message.why));
}

}  // namespace llamada::launcher
