#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "job_coordinator.hpp"
#include "llamada/launcher/exit_codes.hpp"
#include "llamada/launcher/job_number.hpp"
#include "rank_environment.hpp"
#include "world_placement.hpp"

// The ranks that mpirun asked for, and those that ranks ask for (MPI_Comm_spawn).

namespace llamada::launcher {
namespace {

/// What each node must have before a world's ranks are started there.
std::vector<node::AddRanks::Need> needs_of(const JobWorld& world) {
  std::vector<node::AddRanks::Need> needs;
  for (std::uint32_t rank = 0; rank < world.nodes.size(); ++rank) {
    const Command& command = world.command(rank);
    node::AddRanks::Need need{world.nodes[rank], command.file, command.working_directory};
    if (std::ranges::find(needs, need) == needs.end()) needs.push_back(std::move(need));
  }
  return needs;
}

}  // namespace

void JobCoordinator::on(node::Ready&& message) {
  if (ending_code_) return finish();
  nodes_.push_back(std::move(message));
  if (nodes_.size() < job_.nodes.size()) return;
  if (job_.verbose)
    say(fmt::format("mpirun: the job has the number {}.\n", job_number_text(job_.job_number)));
  worlds_[0] = {0,
                0,
                job_.rank_count,
                0,
                job_.rank_count,
                {{job_.program, job_.program, job_.arguments, job_.working_directory}},
                {}};
  ranks_.resize(job_.rank_count);
  for (std::uint32_t slot = 0; slot < job_.rank_count; ++slot) ranks_[slot].slot = slot;
  injector_->job_started(job_.rank_count);
  say(injector_->drawn_seeds());
  if (job_.report_bindings != 0) say(bindings_text());
  if (record_.past) resume();
  if (record_.recorder) record_.recorder->ranks_run();
  start_world(worlds_[0]);
}

void JobCoordinator::on(node::Checked&& message) {
  say(std::move(message.report));
  ending_code_ = message.is_good ? 0 : exit_launcher;
  finish();
}

void JobCoordinator::on(node::NotReady&& message) {
  say(fmt::format("mpirun: {}\n", message.why));
  ending_code_ = exit_launcher;
  finish();
}

void JobCoordinator::start_world(const JobWorld& world) {
  node::StartRanks message;
  for (std::uint32_t slot = world.first; slot < world.first + world.count; ++slot)
    message.ranks.push_back(start_of(ranks_[slot]));
  tell_node_(std::move(message));
}

node::RankStart JobCoordinator::start_of(const JobRank& rank) const {
  const JobWorld& world = world_of(rank);
  const Command& command = world.command(rank_in_world(rank));
  node::RankStart start;
  start.slot = rank.slot;
  start.incarnation = rank.incarnation;
  start.token = token_of(rank);
  start.identity = identity_of(rank);
  start.program = command.program;
  start.arguments = command.arguments;
  start.working_directory = command.working_directory;
  start.environment = environment_of_rank({job_, world, rank.slot, start.token, node_of_rank(rank).cpu_places,
                                           rebuilding(), injector_->needs_crash_points()});
  start.cpus = cpus_of(rank);
  return start;
}

/// Ranks of a node take its places in turn.
std::string JobCoordinator::cpus_of(const JobRank& rank) const {
  const std::vector<std::string>& places = node_of_rank(rank).cpu_places;
  return places.empty() ? std::string() : places[rank_on_node(job_, rank.slot) % places.size()];
}

std::string JobCoordinator::bindings_text() const {
  std::string text;
  for (const JobRank& rank : ranks_) {
    const std::string cpus = cpus_of(rank);
    text += fmt::format("mpirun: rank {}{} is {}.\n", rank.slot,
                        job_.nodes.empty() ? "" : fmt::format(" on the node '{}'", host_of(rank)),
                        cpus.empty() ? "not bound to CPUs" : "bound to CPUs " + cpus);
  }
  return text;
}

std::string JobCoordinator::identity_of(const JobRank& rank) const {
  std::string lines = fmt::format("host={}\n", host_of(rank));
  const JobWorld& world = world_of(rank);
  if (world.number != 0) lines += fmt::format("world={}\nspawned_by={}\n", world.number, world.parent);
  if (rank.incarnation > 1) lines += fmt::format("calls={}\n", rank.calls);
  if (job_.storing.is_resumed != 0) lines += fmt::format("resumed=1\nlife={}\n", resumed_.life);
  if (!job_.storing.checkpoints.empty()) lines += fmt::format("checkpoints={}\n", job_.storing.checkpoints);
  if (resumed_.checkpoint != 0) lines += fmt::format("checkpoint={}\n", resumed_.checkpoint);
  if (rank.first_attached != 0) lines += fmt::format("first_pid={}\n", rank.first_attached);
  return lines + injector_->identity_lines(rank.slot, rank.incarnation);
}

void JobCoordinator::on(node::Started&& message) {
  JobRank* const rank = rank_at(message.slot);
  if (!rank) return;
  rank->pid = message.pid;
  rank->started_at = JobRank::TimePoint::clock::now();
  if (rank->open_death) {
    const std::chrono::duration<double> respawn = rank->started_at - rank->died_at;
    report_.deaths[*rank->open_death].respawn_s = respawn.count();
  }
  if (job_.verbose)
    say(fmt::format("mpirun: {} is process {} (incarnation {}).\n", name_of(*rank), rank->pid,
                    rank->incarnation));
  injector_->rank_started(rank->slot, rank->incarnation);
  if (rank->slot == 0) {
    input_.begin_incarnation();
    give_input();
  }
  if (rank->world != 0 && rank->incarnation == 1) world_runs(rank->world);
}

/// All of a spawned world's ranks run, or none is left. Of mpirun's own world one that cannot be started ends
/// the job.
void JobCoordinator::on(node::CannotStart&& message) {
  const JobRank* const rank = rank_at(message.slot);
  if (!rank || rank->discarded) return;
  if (const auto spawning = spawning_of(rank->world);
      rank->incarnation == 1 && spawning != spawnings_.end()) {
    discard(spawning->second.plan);
    return refuse_spawn(spawning->first, message.why);
  }
  begin_ending(message.error_number == ENOENT ? exit_not_found : exit_not_executable,
               fmt::format("mpirun: {}.\n", message.why));
}

void JobCoordinator::on(node::SharedWanted&& message) {
  tell_node_(
      node::AnswerShared{message.question.number, together_.shared.answer(message.slot, message.question)});
}

void JobCoordinator::on(node::SpawnWanted&& message) {
  const std::uint64_t question = message.question.number;
  if (ending_code_) return refuse_spawn(question, "the job is ending");
  if (record_.recorder)
    return refuse_spawn(question, fmt::format("processes cannot be added to a job with DURABILITY {}",
                                              to_string(profile_.datawriter_qos.durability)));
  if (job_.is_adopted != 0)
    return refuse_spawn(question, "processes can be added only to a job that mpirun has started");
  std::string path = variable_in(job_.environment, "PATH");
  if (path.empty()) path = "/usr/local/bin:/usr/bin:/bin";
  auto world = plan_world(message.question.commands, path);
  if (!world) return refuse_spawn(question, world.error().text());
  std::vector<std::string> hosts;
  for (const node::Ready& node : nodes_) hosts.push_back(node.host);
  std::vector<std::uint32_t> lost;
  for (const LostNodeRecord& node : report_.lost_nodes) lost.push_back(node.node);
  auto nodes =
      place_world(message.question.commands, {job_, hosts, living_ranks_on_nodes(), std::move(lost)});
  if (!nodes) return refuse_spawn(question, nodes.error().text());
  world->parent = message.slot;
  if (!job_.nodes.empty()) world->nodes = std::move(*nodes);
  node::AddRanks add{question, world->count, world->nodes, needs_of(*world), {}};
  if (!add.nodes.empty()) add.environment = job_.environment;
  spawnings_[question] = {std::move(*world)};
  tell_node_(std::move(add));
}

std::vector<std::uint32_t> JobCoordinator::living_ranks_on_nodes() const {
  std::vector<std::uint32_t> counts(nodes_.size());
  for (const JobRank& rank : ranks_)
    if (rank.phase != RankPhase::finished) ++counts[node_of(job_, rank.slot)];
  return counts;
}

void JobCoordinator::refuse_spawn(std::uint64_t question, const std::string& why) {
  spawnings_.erase(question);
  tell_node_(node::AnswerSpawn{question, SpawnAnswer{0, 0, why}});
}

void JobCoordinator::on(node::RanksAdded&& message) {
  const auto spawning = spawnings_.find(message.question);
  if (spawning == spawnings_.end()) return;
  if (!message.error.empty()) return refuse_spawn(message.question, message.error);
  if (ending_code_) return refuse_spawn(message.question, "the job is ending");
  JobWorld& plan = spawning->second.plan;
  plan.number = ++spawned_count_;
  plan.first = message.first;
  plan.left = plan.count;
  const JobWorld& world = worlds_.emplace(plan.number, plan).first->second;
  place(world);
  for (std::uint32_t slot = world.first; slot < world.first + world.count; ++slot) {
    if (slot < ranks_.size())
      forget(ranks_[slot]);
    else
      ranks_.emplace_back();
    ranks_[slot].slot = slot;
    ranks_[slot].world = world.number;
  }
  start_world(world);
}

/// Tells mpirun of the world, and remembers where its ranks are. Slots between those of the last world and
/// these could not be added on all nodes: nothing will come of them.
void JobCoordinator::place(const JobWorld& world) {
  control::World message{world.first, world.count, world.number, {}};
  for (const std::uint32_t node : world.nodes) message.hosts.push_back(job_.nodes[node].name);
  tell_mpirun_(std::move(message));
  for (std::uint32_t slot = world.first; slot < world.first + world.count; ++slot)
    together_.agreements.begin_member(slot);
  if (world.nodes.empty()) return;
  while (ranks_.size() < world.first) {
    JobRank& rank = ranks_.emplace_back();
    rank.slot = static_cast<std::uint32_t>(ranks_.size() - 1);
    rank.phase = RankPhase::finished;
    rank.discarded = true;
  }
  job_.node_of_rank.resize(world.first);
  job_.node_of_rank.insert(job_.node_of_rank.end(), world.nodes.begin(), world.nodes.end());
}

/// The end if the world's ranks run already, or it is mpirun's.
JobCoordinator::Spawnings::iterator JobCoordinator::spawning_of(std::uint32_t world) {
  return std::find_if(spawnings_.begin(), spawnings_.end(),
                      [world](const auto& each) { return world != 0 && each.second.plan.number == world; });
}

/// One more of the world's ranks runs, or never will.
void JobCoordinator::world_runs(std::uint32_t number) {
  const auto found = spawning_of(number);
  if (found == spawnings_.end() || ++found->second.started < found->second.plan.count) return;
  const JobWorld& plan = found->second.plan;
  report_.worlds.push_back({plan.number, plan.first, plan.count, plan.parent});
  tell_node_(node::AnswerSpawn{found->first, SpawnAnswer{plan.first, plan.count, {}}});
  spawnings_.erase(found);
}

/// A rank of an earlier world, which is finished: its slot is another's from now on.
void JobCoordinator::forget(JobRank& rank) {
  if (const auto world = worlds_.find(rank.world); --world->second.left == 0) worlds_.erase(world);
  std::erase_if(report_.worlds, [&](const SpawnedWorldRecord& world) { return world.number == rank.world; });
  rank = JobRank{};
}

/// What has been started is killed, and its end is nobody's concern.
void JobCoordinator::discard(const JobWorld& world) {
  for (std::uint32_t slot = world.first; slot < world.first + world.count; ++slot) {
    ranks_[slot].discarded = true;
    // What another node has started may not have been told yet.
    if (ranks_[slot].pid != 0 || !world.nodes.empty()) tell_node_(node::SignalRank{slot, SIGKILL, true});
  }
}

}  // namespace llamada::launcher
