#include <algorithm>
#include <filesystem>
#include <utility>

#include "job_coordinator.hpp"
#include "llamada/launcher/exit_codes.hpp"

// A node is lost or drained: all ranks start again, those of the node elsewhere, and repeat what they had
// done.

namespace llamada::launcher {
/// Why the job cannot go on without a node; empty: it can.
std::string JobCoordinator::obstacle_to_restart() const {
  if (!unprotected_because_.empty()) return "its ranks can no longer be replaced: " + unprotected_because_;
  if (input_.is_lost()) return "its standard input is longer than the 256 MiB that mpirun keeps";
  const std::uint32_t max = profile_.rank_replacement.max_replacements_per_rank;
  if (report_.lost_nodes.size() > max)
    return fmt::format("it has lost {} nodes, and max_replacements_per_rank of the profile '{}' is {}",
                       report_.lost_nodes.size(), job_.profile_label, max);
  return {};
}

void JobCoordinator::on(node::NodeLost&& message) {
  const std::string what = fmt::format("mpirun: the node {} is lost: {}; ", message.title, message.why);
  // A node that is being drained need not live until its ranks are stopped.
  if (restart_.is_on && std::ranges::find(restart_.left, message.node) != restart_.left.end()) return;
  if (ending_code_ && !restart_.is_on) return begin_ending(exit_launcher, what + "the job is ended.\n");
  report_.lost_nodes.push_back({message.node, message.title, message.why, std::nullopt});
  if (survivors_go_on()) return go_on_without_node(message);
  if (!record_.recorder && !record_.store) return begin_ending(exit_launcher, what + "the job is ended.\n");
  std::string obstacle = obstacle_to_restart();
  if (obstacle.empty() && record_.recorder) obstacle = leave_record();
  if (!obstacle.empty())
    return begin_ending(exit_launcher, what + fmt::format("the job is ended, since {}.\n", obstacle));
  say(what + "all ranks are stopped, to start again without it.\n");
  stop_to_start_again({message.node});
}

/// The ranks of these nodes start elsewhere then.
void JobCoordinator::stop_to_start_again(const std::vector<std::uint32_t>& left) {
  restart_.left.insert(restart_.left.end(), left.begin(), left.end());
  if (!restart_.lost_at) restart_.lost_at = std::chrono::steady_clock::now();
  if (std::exchange(restart_.is_on, true)) return;
  ending_code_ = exit_launcher;
  drain_stopping_nodes();
  injector_->job_ends();
  tell_node_(node::KillAll{});
  if (ranks_.empty()) finish();
}

/// Ends the recorder. Why the store is of no use; empty: it has all that is needed.
std::string JobCoordinator::leave_record() {
  auto left = record_.recorder->leave();
  record_.recorder.reset();
  if (!left) return fmt::format("its record is not complete ({})", left.error().text());
  record_.store = std::move(left->store);
  record_.given = std::move(left->given);
  return {};
}

void JobCoordinator::take(JobRestart restart) {
  record_.store = std::move(restart.store);
  record_.past = std::move(restart.past);
  input_ = std::move(restart.input);
  report_ = std::move(restart.report);
  user_signals_.seen = restart.user_signals;
  restart_.lost_at = restart.lost_at;
  start(std::move(restart.job));
  checkpoints_ = std::move(restart.checkpoints);
}

std::string JobCoordinator::own_llamanetd() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).string();
}

/// All ranks are gone. Nothing: the job ends after all.
std::optional<JobRestart> JobCoordinator::next_start() {
  JobRestart next;
  next.job = job_;
  Status status = plan_restart(next.job, restart_.left, restart_.moves, own_llamanetd());
  if (status) {
    auto past = read_past(*record_.store, record_.given);
    const std::string obstacle = past ? obstacle_in_checkpoints(*past) : std::string();
    if (!past)
      status = propagate(past);
    else if (!obstacle.empty())
      status = failure(Errc::unsupported, "{}", obstacle);
    else
      next.past = std::move(*past);
  }
  if (!status) {
    restart_.is_on = false;
    say(fmt::format("mpirun: the job cannot start again: {}; it is ended.\n", status.error().text()));
    return std::nullopt;
  }
  next.job.storing.is_resumed = 1;
  next.job.storing.token = token_;
  next.job.inject_rules = injector_->rules_left();
  next.store = std::move(record_.store);
  next.input = std::move(input_);
  next.checkpoints = std::move(checkpoints_);
  for (InjectionRecord& rule : injector_->records())
    if (rule.fired) report_.injections.push_back(std::move(rule));
  next.report = std::move(report_);
  next.user_signals = user_signals_.seen;
  next.lost_at = *restart_.lost_at;
  return next;
}

/// One more rank is where it had been before.
void JobCoordinator::caught_up() {
  if (restart_.ranks_behind == 0 || --restart_.ranks_behind > 0) return;
  const std::chrono::duration<double> total = std::chrono::steady_clock::now() - *restart_.lost_at;
  const auto is_open = [](const auto& record) { return !record.total_s; };
  const bool was_lost = std::ranges::any_of(report_.lost_nodes, is_open);
  for (LostNodeRecord& lost : report_.lost_nodes)
    if (is_open(lost)) lost.total_s = total.count();
  for (DrainedNodeRecord& drained : report_.drained_nodes)
    if (is_open(drained) && !drained.ranks.empty()) drained.total_s = total.count();
  say(fmt::format("mpirun: all ranks have caught up, {:.3f} s after {}.\n", total.count(),
                  was_lost ? "the loss" : "they were stopped"));
}

}  // namespace llamada::launcher
