#include <algorithm>

#include "job_coordinator.hpp"

// Checkpoints, which the ranks write themselves.

namespace llamada::launcher {
namespace {

std::string begin_of(const node::Reached& message) {
  if (message.checkpoint == 0) return "a checkpoint";
  return fmt::format("its standby of {:.1f} s ago", message.checkpoint / 1000.0);
}

}  // namespace

/// A rank is about to write its part of one, or to leave a standby.
void JobCoordinator::written_output(const JobRank& rank, std::uint64_t question, bool is_for_checkpoint) {
  if (!is_for_checkpoint) return tell_node_(node::AnswerReach{question, rank.output.written()});
  if (auto made = checkpoints_.make(); !made)
    say(fmt::format("mpirun: checkpoints cannot be written: {}\n", made.error().text()));
  if (record_.recorder) record_.recorder->written(rank.slot, rank.output.written());
  tell_node_(node::AnswerReach{question, rank.output.written()});
}

/// The first rank that says so is believed: all have written their parts before.
void JobCoordinator::checkpoint_written(std::uint32_t number, std::uint64_t question) {
  if (!record_.recorder) return tell_node_(node::AnswerReach{question});
  if (number > record_.checkpoint) record_.recorder->checkpoint(record_.checkpoint = number);
  record_.recorder->hold(question);
}

void JobCoordinator::restored(JobRank& rank, const node::Reached& message) {
  for (int stream = 0; stream < 2; ++stream) {
    std::string late = rank.output.go_on_from(stream, message.written[static_cast<std::size_t>(stream)]);
    if (!late.empty()) show({rank.slot, static_cast<std::uint8_t>(stream + 1), std::move(late)});
  }
  if (job_.verbose)
    say(fmt::format("mpirun: {} (incarnation {}) goes on from {}.\n", name_of(rank), rank.incarnation,
                    begin_of(message)));
  tell_node_(node::AnswerReach{message.question});
}

/// The last one of which all files are there: an earlier one than was taken last if some are gone.
std::uint32_t JobCoordinator::checkpoint_to_go_on_from(std::uint32_t last) {
  const std::uint32_t found = last == 0 ? 0 : checkpoints_.newest_whole(last, ranks_.size());
  if (found < last)
    say(fmt::format("mpirun: files of checkpoint {} are gone; all ranks go on from {}.\n", last,
                    found == 0 ? "the beginning" : fmt::format("checkpoint {}", found)));
  return found;
}

/// Why all ranks can neither go on from a checkpoint nor from the beginning; empty: they can. What they
/// recorded before the last two checkpoints is no longer kept.
std::string JobCoordinator::obstacle_in_checkpoints(const JobPast& past) const {
  const std::uint32_t least = past.checkpoint_min;
  if (least == 0 || checkpoints_.newest_whole(past.checkpoint, past.plan.rank_count) >= least) return {};
  return fmt::format("files of the checkpoints from {} on are gone, and the job cannot begin anew", least);
}

/// Whether all ranks can start again without this checkpoint. Each such start leaves one checkpoint less to
/// go on from; otherwise it would not help.
bool JobCoordinator::give_up_checkpoint(std::uint32_t number) {
  if (!record_.recorder && !record_.store) return false;
  if (!obstacle_to_restart().empty()) return false;
  const std::uint32_t earlier = checkpoints_.newest_whole(number - 1, ranks_.size());
  if (record_.recorder && earlier < record_.recorder->checkpoint_min()) return false;
  const bool is_known = number <= std::max(resumed_.checkpoint, record_.checkpoint);
  if (!checkpoints_.remove_checkpoint(number) && !is_known) return false;
  return !record_.recorder || leave_record().empty();
}

/// A rank has found its file of this checkpoint damaged. If it gets an answer it ends the job.
void JobCoordinator::checkpoint_unusable(std::uint32_t number, std::uint64_t question) {
  if (!give_up_checkpoint(number)) return tell_node_(node::AnswerReach{question});
  say(fmt::format("mpirun: checkpoint {} is given up; all ranks are stopped, to start again without it.\n",
                  number));
  stop_to_start_again({});
}

}  // namespace llamada::launcher
