#include "job_coordinator.hpp"

#include <signal.h>
#include <sys/random.h>
#include <sys/wait.h>

#include <algorithm>
#include <utility>

#include "llamada/launcher/exit_codes.hpp"
#include "llamada/launcher/job_number.hpp"
#include "llamada/qos/rank_protection.hpp"
#include "llamada/qos/serialization.hpp"
#include "node_lease.hpp"
#include "other_mpi.hpp"

namespace llamada::launcher {

JobCoordinator::JobCoordinator(EventLoop& loop, TellMpirun tell_mpirun, TellNode tell_node,
                               IsMpiFunction is_mpi_function)
    : loop_(loop),
      tell_mpirun_(std::move(tell_mpirun)),
      tell_node_(std::move(tell_node)),
      is_mpi_function_(std::move(is_mpi_function)) {
  static_cast<void>(getrandom(&token_, sizeof token_, 0));
}

void JobCoordinator::take(control::Message message) {
  if (auto* start_message = std::get_if<control::Start>(&message)) return start(std::move(*start_message));
  if (auto* input = std::get_if<control::Input>(&message)) {
    if (record_.input_has_ended) return;
    if (record_.recorder) record_.recorder->input(input->bytes);
    input_.add(input->bytes);
    return give_input();
  }
  if (auto* signal = std::get_if<control::Signal>(&message)) return forward_signal(signal->number);
  if (auto* shown = std::get_if<control::OutputShown>(&message)) {
    if (record_.recorder) record_.recorder->shown(*shown);
    return;
  }
  if (auto* end = std::get_if<control::End>(&message)) {
    if (end->explain != 0 && end->kill == 0)
      return explain("mpirun: this is what the ranks wait for:\n",
                     [this, code = end->exit_code] { begin_ending(code, {}); });
    begin_ending(end->exit_code, {});
    if (end->kill != 0) tell_node_(node::KillAll{});
  }
}

void JobCoordinator::take(node::FromNode message) {
  std::visit([this](auto& each) { on(std::move(each)); }, message);
}

void JobCoordinator::start(control::Start start) {
  if (job_.rank_count != 0 || start.rank_count == 0) return;
  job_ = std::move(start);
  checkpoints_ = CheckpointDirectory(job_.storing.checkpoints);
  if (auto status = prepare(); !status) return on(node::NotReady{status.error().text()});
  node::Prepare message{job_.rank_count, job_.job_number, job_.profile, job_.binding, job_.mapping};
  message.makes_cuts = record_.recorder != nullptr;
  message.node_of_rank = job_.node_of_rank;
  if (!job_.nodes.empty()) {
    message.programs = job_.programs;
    message.environment = job_.environment;
    message.working_directory = job_.working_directory;
    message.link = job_.link;
    message.node_lease_ns = node_lease(profile_.datawriter_qos.liveliness).count();
  }
  tell_node_(std::move(message));
}

Status JobCoordinator::prepare() {
  auto profile = qos::deserialize(job_.profile);
  if (!profile) return propagate(profile);
  profile_ = std::move(*profile);
  if (rebuilding()) input_.keep();
  const qos::RankProtection protection = qos::rank_protection(profile_);
  if (protection.outlives_job || (protection.outlives_nodes && !job_.nodes.empty()))
    if (auto status = begin_record(); !status) return status;
  if (auto status = prepare_injections(); !status) return status;
  begin_watching();
  report_.job_number = job_.job_number;
  report_.rank_count = job_.rank_count;
  report_.profile = job_.profile_label;
  return {};
}

bool JobCoordinator::rebuilding() const { return qos::rank_protection(profile_).records_outcomes; }

JobRank* JobCoordinator::rank_at(std::uint32_t slot) {
  return slot < ranks_.size() ? &ranks_[slot] : nullptr;
}

void JobCoordinator::say(std::string text) {
  if (!text.empty()) tell_mpirun_(control::Notice{std::move(text)});
}

void JobCoordinator::signal_ranks(int number) {
  for (const JobRank& rank : ranks_)
    if (rank.phase != RankPhase::finished && !(rank.held_signals >> number & 1))
      tell_node_(node::SignalRank{rank.slot, number, true});
}

void JobCoordinator::give_held_signals(JobRank& rank) {
  for (const int number : {SIGUSR1, SIGUSR2})
    if (rank.held_signals >> number & 1) tell_node_(node::SignalRank{rank.slot, number, true});
  rank.held_signals = 0;
}

void JobCoordinator::forward_signal(int number) {
  user_signals_.seen |= std::uint64_t{1} << (number & 63);
  if (number == SIGUSR1) explain("mpirun: this is what the ranks wait for (SIGUSR1):\n", [] {});
  const bool ends = number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT;
  if (number == SIGUSR1 || number == SIGUSR2)
    for (JobRank& rank : ranks_)
      if (rank.is_being_replaced()) rank.held_signals |= std::uint64_t{1} << number;
  if (number == SIGTSTP || number == SIGCONT) {
    tell_node_(node::HoldLeases{number == SIGTSTP});
    if (injector_) injector_->hold(number == SIGTSTP);
  }
  if (!ends) return signal_ranks(number);
  restart_.stopping.clear();  // the nodes were sent it with the whole job
  // There is no rank that could do something about it.
  if (ends && (restart_.is_on || ranks_.empty())) return begin_ending(exit_signal_base + number, {});
  if (++user_signals_.endings > 1) {
    begin_ending(exit_signal_base + number, {});
    return tell_node_(node::KillAll{});
  }
  signal_ranks(number);
  // A stopped process takes the signal only when it continues.
  signal_ranks(SIGCONT);
}

/// Gives rank 0 what it may be given now, and tells mpirun what it has taken.
void JobCoordinator::give_input() {
  for (auto part = input_.next(); part; part = input_.next()) tell_node_(control::Input{std::move(*part)});
  if (const std::uint64_t size_bytes = input_.acknowledge(); size_bytes > 0)
    tell_mpirun_(control::InputTaken{size_bytes});
  if (input_.is_lost() && !std::exchange(told_.input_loss, true))
    say("mpirun: standard input is longer than the 256 MiB that mpirun keeps for a replacement: rank 0 "
        "cannot be replaced from now on.\n");
}

void JobCoordinator::begin_ending(int exit_code, std::string_view why) {
  say(std::string(why));
  if (std::exchange(restart_.is_on, false)) ending_code_.reset();
  if (ending_code_) return;
  ending_code_ = exit_code;
  if (injector_) injector_->job_ends();
  tell_node_(node::EndJob{});
}

void JobCoordinator::look_for_the_end() {
  if (finished_ || ranks_.empty()) return;
  const bool all = std::all_of(ranks_.begin(), ranks_.end(),
                               [](const JobRank& rank) { return rank.phase == RankPhase::finished; });
  if (all && (restart_.is_on || is_record_settled())) finish();
}

void JobCoordinator::finish() {
  finished_ = true;
  if (restart_.is_on) restart_.next = next_start();
  if (restart_.next) return;
  complete_report();
  tell_of_injections();
  tell_of_other_mpi();
  if (job_.print_exit_codes) say(exit_codes_text());
  if (record_.recorder || record_.store)
    end_record();
  else
    checkpoints_.remove();
  const int exit_code = ending_code_.value_or(code_if_all_are_lost().value_or(first_failure_));
  tell_mpirun_(control::Finished{exit_code, report_to_json(report_)});
}

void JobCoordinator::complete_report() {
  report_.ranks.clear();
  for (const JobRank& rank : ranks_) report_.ranks.push_back(rank.view);
  report_.spawned_world_count = spawned_count_;
  if (injector_)
    for (InjectionRecord& rule : injector_->records()) report_.injections.push_back(std::move(rule));
}

/// Programs without MPI are started by mpirun, too, so only one with another MPI library is spoken of.
void JobCoordinator::tell_of_other_mpi() {
  const bool came_to_mpi = std::any_of(report_.ranks.begin(), report_.ranks.end(), [](const RankView& view) {
    return view.state != RankState::none && view.state != RankState::attached;
  });
  if (came_to_mpi || job_.rank_count == 1 || report_.ranks.empty()) return;
  if (other_mpi_.empty())
    other_mpi_ = other_mpi_of_program(job_.program, job_.environment, job_.working_directory);
  if (!other_mpi_.empty()) say(describe_other_mpi(other_mpi_, job_.rank_count));
}

std::string JobCoordinator::exit_codes_text() const {
  std::string text = "mpirun: exit codes:";
  for (const JobRank& rank : ranks_) {
    const int status = rank.root_status;
    const int code = WIFSIGNALED(status) ? exit_signal_base + WTERMSIG(status) : WEXITSTATUS(status);
    text += fmt::format("{} rank {}: {}", rank.slot == 0 ? "" : ",", rank.slot, code);
  }
  return text + "\n";
}

}  // namespace llamada::launcher
