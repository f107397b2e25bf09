#include <algorithm>
#include <utility>

#include "job_coordinator.hpp"
#include "job_directory.hpp"
#include "llamada/launcher/exit_codes.hpp"
#include "llamada/launcher/job_number.hpp"
#include "llamada/qos/rank_protection.hpp"
#include "llamada/store/memory_store.hpp"
#include "llamada/store/segment_store.hpp"

// What a job goes on from when its processes are gone.

namespace llamada::launcher {
namespace {

/// Segments of the job's store: what it takes of the disk at least.
constexpr std::uint64_t store_segment_bytes = 16 << 20;
/// Entries of a journal in one message to a node.
constexpr std::size_t entries_in_message_max = 1 << 15;
/// How long the end of the job waits for mpirun to have shown everything.
constexpr std::chrono::seconds shown_wait_max{5};

}  // namespace

Status JobCoordinator::begin_record() {
  if (job_.storing.token != 0) token_ = job_.storing.token;
  if (job_.is_adopted != 0)
    return failure(Errc::unsupported, "DURABILITY {} works only if mpirun itself starts the ranks",
                   to_string(profile_.datawriter_qos.durability));
  const bool on_disk = qos::rank_protection(profile_).outlives_job;
  if (!on_disk && !record_.store) record_.store = store::make_memory_store();
  if (record_.store) return open_record(std::move(record_.store));
  if (job_.storing.directory.empty())
    return failure(Errc::invalid_argument,
                   "a job with DURABILITY PERSISTENT needs a directory for its record");
  auto opened = open_store();
  if (opened) opened = open_record(std::move(record_.store));
  if (opened && job_.storing.is_resumed == 0) opened = publish_job(job_.storing.directory);
  if (opened) return opened;
  record_.recorder.reset();
  record_.store.reset();
  if (job_.storing.is_resumed == 0)
    static_cast<void>(store::remove_store(unborn_directory(job_.storing.directory)));
  return tl::unexpected<Error>(opened.error().within(
      fmt::format("the record of the job cannot be kept in {}", job_.storing.directory)));
}

/// That of the job's directory.
Status JobCoordinator::open_store() {
  store::SegmentOptions options;
  options.segment_bytes = store_segment_bytes;
  const std::string& directory = job_.storing.directory;
  const bool is_new = job_.storing.is_resumed == 0;
  if (is_new) remove_leftovers_beside(directory);
  auto store = store::open_segment_store(is_new ? unborn_directory(directory) : directory, options);
  if (!store) return propagate(store);
  record_.store = std::move(*store);
  if (is_new) return {};
  auto past = read_past(*record_.store);
  if (!past) return propagate(past);
  std::string obstacle = past->end.empty() ? obstacle_in_checkpoints(*past) : past->end;
  if (!obstacle.empty()) return failure(Errc::unsupported, "it cannot be resumed: {}", obstacle);
  record_.past = std::move(*past);
  return {};
}

Status JobCoordinator::open_record(std::unique_ptr<store::Store> store) {
  JobRecorder::Actions actions;
  // Answers to later moves of numbers follow MakeCut: what is recorded of them lies behind this cut.
  actions.make_cut = [this] {
    record_.recorder->numbers(together_.shared.numbers());
    tell_node_(node::MakeCut{++record_.next_cut});
  };
  actions.show = [this](control::Output output) { tell_mpirun_(std::move(output)); };
  actions.go_on = [this](std::uint64_t question) { tell_node_(node::AnswerReach{question}); };
  actions.fail = [this](const std::string& why) { not_resumable(why); };
  control::Start plan = job_;
  plan.storing.is_resumed = 0;
  plan.storing.token = token_;
  plan.inject_rules.clear();
  auto recorder = JobRecorder::begin(loop_, std::move(store), plan, record_.past ? &*record_.past : nullptr,
                                     std::move(actions));
  if (!recorder) return propagate(recorder);
  record_.recorder = std::move(*recorder);
  if (record_.past) record_.code = record_.past->code;
  return {};
}

/// The ranks find what they had recorded, and repeat what they had written.
void JobCoordinator::resume() {
  const JobPast& past = *record_.past;
  for (std::uint32_t slot = 0; slot < past.ranks.size() && slot < ranks_.size(); ++slot) {
    const JobPast::Rank& rank = past.ranks[slot];
    restore(slot, RankJournal::outcomes, rank.outcomes);
    restore(slot, RankJournal::ledger, rank.ledger);
    ranks_[slot].first_attached = rank.first_pid;
    if (!rank.host.empty()) nodes_[control::node_of(job_, slot)].host = rank.host;
    for (int stream = 0; stream < 2; ++stream)
      ranks_[slot].output.restore(stream, rank.shown[stream], rank.shown_gap[stream],
                                  rank.written_behind[stream]);
  }
  together_.shared.restore(past.numbers);
  // What is recorded in this life lies behind the last cut: no other life has the number.
  resumed_.life = static_cast<std::uint32_t>(past.last_cut + 1);
  const std::uint64_t outcomes = past.outcome_count();
  if (restart_.lost_at) {
    restart_.ranks_behind = ranks_.size();
    keep_later_input(past);
    say(fmt::format("mpirun: all ranks start again and repeat {} recorded outcomes.\n", outcomes));
  } else {
    if (!past.input.empty()) input_.add(past.input);
    if (past.input_has_ended) input_.add({});
    record_.input_has_ended = past.input_has_ended;
    say(fmt::format("mpirun: the job {} is resumed; its ranks repeat {} recorded outcomes.\n",
                    job_number_text(job_.job_number), outcomes));
  }
  resumed_.checkpoint = checkpoint_to_go_on_from(past.checkpoint);
  record_.past.reset();
}

void JobCoordinator::restore(std::uint32_t slot, RankJournal journal, const JobPast::Journal& past) {
  const std::size_t count = past.entries.size();
  for (std::size_t first = 0; first < count;) {
    // No message has entries of both sides of the gap.
    const bool is_behind_gap = first >= past.gap.begin;
    const std::size_t end = std::min(first + entries_in_message_max,
                                     is_behind_gap ? count : std::min<std::size_t>(count, past.gap.begin));
    const std::uint64_t index = is_behind_gap ? first + past.gap.end - past.gap.begin : first;
    const auto begin = past.entries.begin();
    tell_node_(node::RestoreJournal{
        {slot,
         journal,
         index,
         {begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(end)}}});
    first = end;
  }
}

/// Of rank 0's input, what came while the job had no record.
void JobCoordinator::keep_later_input(const JobPast& past) {
  const std::string_view input = input_.all();
  if (input.size() > past.input.size()) record_.recorder->input(input.substr(past.input.size()));
  if (input_.has_ended() && !past.input_has_ended) record_.recorder->input({});
}

/// To the user, when that is safe. What ranks write that are killed to start again, they write again.
void JobCoordinator::show(control::Output output) {
  if (restart_.is_on) return;
  if (record_.recorder) return record_.recorder->hold(std::move(output));
  tell_mpirun_(std::move(output));
}

void JobCoordinator::on(node::Cut&& message) {
  if (!record_.recorder) return;
  if (message.error.empty()) return record_.recorder->take(message.pieces);
  record_.recorder->cannot_take(message.error);
}

/// A file that a rank executes must be the one that it was before.
void JobCoordinator::on(node::CodeMapped&& message) {
  if (!record_.recorder || ending_code_) return;
  for (std::string& line : message.lines) {
    if (std::ranges::find(record_.code, line) != record_.code.end()) continue;
    const std::string path = line.substr(0, line.find('\t') + 1);
    const bool is_other =
        std::ranges::any_of(record_.code, [&](const std::string& known) { return known.starts_with(path); });
    if (is_other && job_.storing.is_resumed != 0)
      return begin_ending(exit_diverged,
                          fmt::format("mpirun: the job cannot repeat its record: on {}, the file {} has "
                                      "changed since its ranks ran it; the job is ended.\n",
                                      host_of(ranks_.at(message.slot)), path.substr(0, path.size() - 1)));
    record_.recorder->code(line);
    record_.code.push_back(std::move(line));
  }
}

void JobCoordinator::not_resumable(const std::string& why) {
  const std::string& directory = job_.storing.directory;
  // What the ranks do from now on is in no store: a job that resumed would do it again.
  const Status unnamed = directory.empty() ? Status() : unname_job(directory);
  if (!unnamed)
    return begin_ending(
        exit_unprotected,
        fmt::format("mpirun: the record of the job cannot be kept: {}; nor can it be marked as unusable: {}; "
                    "the job is ended. Do not resume the job: remove its record (llamada job rm {}).\n",
                    why, unnamed.error().text(), job_number_text(job_.job_number)));
  if (ending_code_) return;
  const std::string what =
      directory.empty()
          ? fmt::format(
                "mpirun: the record from which the job starts again after the loss of a node cannot be kept: "
                "{}; ",
                why)
          : fmt::format("mpirun: the record of the job cannot be kept in {}: {}; ", directory, why);
  if (profile_.rank_replacement.on_unprotected == qos::OnUnprotected::stop)
    return begin_ending(exit_unprotected, what + "the job is ended, because on_unprotected is STOP.\n");
  say(what + "the job goes on, but cannot be resumed (on_unprotected CONTINUE).\n");
}

/// Whether what the ranks wrote is with mpirun, and so the job may end.
bool JobCoordinator::is_record_settled() {
  if (!record_.recorder) return true;
  if (!record_.recorder->is_idle()) return false;
  if (record_.recorder->has_ended() || !ending_code_ || job_.storing.directory.empty() ||
      record_.recorder->is_all_shown())
    return true;
  const auto now = std::chrono::steady_clock::now();
  if (!record_.waits_until) {
    record_.waits_until = now + shown_wait_max;
    loop_.after(shown_wait_max, [] {});
  }
  return now >= *record_.waits_until;
}

/// A job that has come to its end needs nothing any more; one that was ended before may go on later.
void JobCoordinator::end_record() {
  const bool has_run = !ranks_.empty();
  bool is_whole = record_.store != nullptr;
  if (record_.recorder && !record_.recorder->has_ended()) {
    is_whole = true;  // up to its last cut, whatever becomes of this one
    static_cast<void>(record_.recorder->leave());
  }
  const bool is_kept =
      ending_code_ && !record_.is_over && is_whole && (has_run || job_.storing.is_resumed != 0);
  record_.recorder.reset();
  record_.store.reset();
  const std::string& directory = job_.storing.directory;
  if (directory.empty()) return checkpoints_.remove();
  const std::string number = job_number_text(job_.job_number);
  if (is_kept)
    return say(
        fmt::format("mpirun: the record of the job is kept: mpirun --resume {} goes on with the job, llamada "
                    "job rm {} removes the record.\n",
                    number, number));
  if (auto removed = remove_job(directory); !removed && removed.error().code() != Errc::not_found)
    say(fmt::format("mpirun: the record of the job in {} cannot be removed: {}\n", directory,
                    removed.error().text()));
}

}  // namespace llamada::launcher
