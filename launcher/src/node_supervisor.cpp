#include "node_supervisor.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <utility>

#include "cpu_places.hpp"
#include "descriptor_limit.hpp"
#include "llamada/qos/rank_deadline.hpp"
#include "llamada/qos/rank_protection.hpp"
#include "llamada/qos/serialization.hpp"
#include "process_tree.hpp"
#include "program_libraries.hpp"

namespace llamada::launcher {
namespace {

/// What the ranks have between SIGTERM and SIGKILL once the job ends.
constexpr std::chrono::milliseconds ending_grace{500};

std::string host_name() {
  char name[256] = "localhost";
  gethostname(name, sizeof name - 1);
  return name;
}

Status check_directory(const std::string& directory) {
  if (directory.empty() || access(directory.c_str(), X_OK) == 0) return {};
  return failure(Errc::not_found, "the working directory {} does not exist, or cannot be entered", directory);
}

/// mpirun, or the coordinator, has seen it on its own host.
Status check_program(const std::string& program, const std::vector<std::string>& environment,
                     const std::string& directory) {
  if (access(program.c_str(), X_OK) != 0)
    return failure(Errc::not_found, "the program {} does not exist, or cannot be executed", program);
  const std::string missing = missing_library(list_libraries(program, environment, directory));
  if (missing.empty()) return {};
  return failure(Errc::not_found, "{} needs the library {}, which is missing", program, missing);
}

Status check_programs(const node::Prepare& message) {
  if (auto status = check_directory(message.working_directory); !status) return status;
  for (const std::string& program : message.programs)
    if (auto status = check_program(program, message.environment, message.working_directory); !status)
      return status;
  return {};
}

}  // namespace

NodeSupervisor::NodeSupervisor(EventLoop& loop, ArenasFactory make_arenas, Tell tell, pid_t mpirun)
    : loop_(loop),
      make_arenas_(std::move(make_arenas)),
      tell_(std::move(tell)),
      mpirun_(mpirun),
      host_(host_name()),
      input_(loop, [this](std::size_t size_bytes) { tell_(control::InputTaken{size_bytes}); }) {
  // Everything that can be blocked is: what comes by a terminal or by name concerns mpirun.
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &original_.signal_mask);
  original_.descriptor_limit = raise_descriptor_limit();
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  loop_.on_signal(SIGCHLD, [this] { reap(); });
}

void NodeSupervisor::take(node::ToNode message) {
  std::visit([this](auto& each) { on(std::move(each)); }, message);
}

void NodeSupervisor::on(node::Prepare&& message) {
  if (auto status = prepare(message); !status) return tell_(node::NotReady{status.error().text()});
  tell_(node::Ready{host_, arenas_->endpoints(),
                    cpu_places(usable_cpus(), static_cast<CpuLevel>(message.binding),
                               static_cast<CpuLevel>(message.mapping))});
}

Status NodeSupervisor::prepare(const node::Prepare& message) {
  auto profile = qos::deserialize(message.profile);
  if (!profile) return propagate(profile);
  rebuilding_ = qos::rank_protection(*profile).records_outcomes;
  code_mapped_.is_on = message.makes_cuts;
  const auto deadline = qos::deadline_for_ranks(*profile);
  ArenasRequest request{message.rank_count, message.job_number, std::move(*profile), message.makes_cuts,
                        std::nullopt};
  if (!message.node_of_rank.empty()) {
    links_.node = message.own_node;
    links_.lease = std::chrono::nanoseconds(message.node_lease_ns);
    if (auto status = check_programs(message); !status) return status;
    request.nodes = {message.own_node, message.node_of_rank, links_.address, links_.key, message.link};
  }
  if (auto status = check_descriptors_of_job(request.own_rank_count(), request.nodes.has_value()); !status)
    return status;
  begin_leases(request.profile.datawriter_qos.liveliness);
  auto arenas = make_arenas_(request);
  if (!arenas) return propagate(arenas);
  arenas_ = std::move(*arenas);
  if (arenas_->has_logs_in_memory())
    tell_(control::Notice{
        fmt::format("mpirun: {} (log_directory) of {} lies in memory (tmpfs), so the logs take memory there; "
                    "name a directory on a disk\n",
                    request.profile.rank_replacement.log_directory, host_)});
  waits_.begin(*arenas_, deadline);
  if (arenas_->descriptor() >= 0)
    loop_.watch(arenas_->descriptor(), POLLIN, [this](short) { pump_arenas(); });
  return {};
}

void NodeSupervisor::on(node::ProbeNodes&& message) {
  if (auto status = arenas_->probe_nodes(message.endpoints); !status)
    tell_(node::NotReady{status.error().text()});
}

void NodeSupervisor::on(node::MeetNodes&& message) {
  if (auto status = arenas_->meet_nodes(message.endpoints, message.link); !status)
    return tell_(node::NotReady{status.error().text()});
  reach_.begin(*arenas_, links_.lease, links_.node, static_cast<std::uint32_t>(message.endpoints.size()));
  tell_(node::Met{});
}

void NodeSupervisor::on(node::SetRemote&& message) {
  arenas_->set_remote(message.slot, message.state, message.incarnation);
}

void NodeSupervisor::on(node::AddRanks&& message) {
  if (!message.nodes.empty()) return add_ranks_of_nodes(message);
  if (auto status = check_descriptors_for_more(message.count); !status)
    return tell_(node::RanksAdded{message.question, 0, status.error().text(), {}});
  auto first = arenas_->add_ranks(message.count);
  if (!first) return tell_(node::RanksAdded{message.question, 0, first.error().text(), {}});
  tell_(node::RanksAdded{message.question, *first, {}, {}});
}

/// The slots are there in any case, so that their numbers are the same on all nodes.
void NodeSupervisor::add_ranks_of_nodes(const node::AddRanks& message) {
  auto added = arenas_->add_ranks_of_nodes(message.nodes);
  Status status = added ? check_needs(message) : Status(propagate(added));
  node::RanksAdded answer{message.question, 0, {}, {}};
  if (status)
    answer.endpoints = std::move(*added);
  else
    answer.error = status.error().text();
  tell_(std::move(answer));
}

Status NodeSupervisor::check_needs(const node::AddRanks& message) const {
  for (const node::AddRanks::Need& need : message.needs) {
    if (need.node != links_.node) continue;
    if (auto status = check_directory(need.working_directory); !status) return status;
    if (auto status = check_program(need.program, message.environment, need.working_directory); !status)
      return status;
  }
  return {};
}

void NodeSupervisor::on(node::MeetRanks&& message) {
  const auto met = arenas_->meet_ranks(message.endpoints);
  tell_(node::RanksMet{message.question, met ? std::string() : met.error().text()});
}

void NodeSupervisor::on(node::DropRanks&& message) { arenas_->drop_ranks(message.first, message.count); }

void NodeSupervisor::on(node::Drain&& message) {
  RankProcess* rank = rank_at(message.slot);
  const bool may = rank && (rank->phase == ProcessPhase::ended || rank->phase == ProcessPhase::fenced);
  if (may) begin_draining(*rank);
}

/// Nothing of a dead incarnation may go on: its children could still write what the replacement writes.
void NodeSupervisor::on(node::Fence&& message) {
  RankProcess* rank = rank_at(message.slot);
  if (!rank || rank->phase != ProcessPhase::ended) return;
  rank->phase = ProcessPhase::fencing;
  if (rank->slot == 0) input_.close();
  look_at_fence(*rank);
}

void NodeSupervisor::on(node::SignalRank&& message) {
  const RankProcess* rank = rank_at(message.slot);
  if (rank && is_adopted(*rank)) return adopted_->signal(rank->slot, message.number);
  if (!rank || rank->root <= 0) return;
  // SIGUSR1 asks mpirun what the ranks wait for: only those that expect it are to notice.
  if (message.whole_group && message.number == SIGUSR1)
    signal_those_prepared(*rank, message.number);
  else if (message.whole_group)
    kill(-rank->root, message.number);
  else
    kill(rank->attached_alive ? rank->attached : rank->root, message.number);
}

void NodeSupervisor::signal_those_prepared(const RankProcess& rank, int number) const {
  for (const ProcessEntry& entry : descendants_of(getpid()))
    if (entry.group == rank.group && !is_ended_by(entry.pid, number)) kill(entry.pid, number);
}

void NodeSupervisor::on(node::EndJob&&) {
  if (std::exchange(ending_, true)) return;
  reach_.end();
  if (arenas_) arenas_->set_ending();
  signal_all(SIGTERM);
  // A stopped process takes SIGTERM only when it goes on.
  signal_all(SIGCONT);
  loop_.after(ending_grace, [this] { on(node::KillAll{}); });
  for (RankProcess& rank : ranks_) {
    if (rank.phase == ProcessPhase::fencing || rank.phase == ProcessPhase::fenced) begin_draining(rank);
    if (rank.phase == ProcessPhase::draining) kill_processes_of(rank);
  }
}

void NodeSupervisor::on(node::KillAll&&) {
  signal_descendants(SIGKILL);
  if (adopted_) adopted_->signal_all(SIGKILL);
}

void NodeSupervisor::signal_descendants(int number) const {
  std::set<pid_t> spared;
  for (const auto& [child, on_end] : spared_) spared.insert(child);
  for (const ProcessEntry& entry : descendants_of(getpid()))
    if (spared.contains(entry.pid) || spared.contains(entry.parent))
      spared.insert(entry.pid);
    else
      kill(entry.pid, number);
}

void NodeSupervisor::on(node::HoldOutput&& message) {
  output_held_ = message.hold;
  for (const RankProcess& rank : ranks_)
    for (const FileDescriptor& pipe : rank.pipes)
      if (pipe) loop_.change(pipe.get(), output_held_ ? 0 : POLLIN);
}

void NodeSupervisor::on(node::AnswerSpawn&& message) {
  arenas_->answer_spawn(message.question, message.answer);
}

void NodeSupervisor::on(node::AnswerReach&& message) {
  arenas_->answer_reach(message.question, message.written);
}

void NodeSupervisor::on(node::AnswerShared&& message) {
  arenas_->answer_shared(message.question, message.answer);
}

void NodeSupervisor::on(node::AnswerAgreement&& message) {
  arenas_->answer_agreement(message.question,
                            message.is_decided ? std::optional(std::move(message.decision)) : std::nullopt);
}

void NodeSupervisor::on(node::AskAgain&&) { arenas_->ask_again(); }

void NodeSupervisor::on(node::SetLost&& message) { arenas_->set_lost(message.lost, message.with_node); }

void NodeSupervisor::on(node::AnswerInject&& message) {
  arenas_->answer_inject(message.question, message.answer);
}

void NodeSupervisor::on(node::LimitLog&& message) { arenas_->limit_log(message.size_bytes); }

void NodeSupervisor::on(node::Die&&) { kill(getpid(), SIGKILL); }

void NodeSupervisor::on(node::SetUnprotected&&) { arenas_->set_unprotected(); }

void NodeSupervisor::on(node::Survey&&) {
  node::Surveyed seen;
  for (const RankProcess& rank : ranks_) {
    seen.ranks_running += rank.phase == ProcessPhase::running;
    seen.ranks_in_mpi += is_in_mpi(rank);
  }
  tell_(seen);
}

void NodeSupervisor::on(node::AskStack&& message) {
  const RankProcess* rank = rank_at(message.slot);
  if (!rank || rank->phase != ProcessPhase::running) return tell_(node::Stack{message.question, {}});
  stacks_.read(rank->attached_alive ? rank->attached : rank->root,
               [this, question = message.question](std::string text) {
                 tell_(node::Stack{question, std::move(text)});
               });
}

void NodeSupervisor::on(control::Input&& message) { input_.give(message.bytes); }

void NodeSupervisor::signal_all(int number) {
  for (const RankProcess& rank : ranks_)
    if (rank.root > 0) kill(-rank.root, number);
  if (adopted_) adopted_->signal_all(number);
}

RankProcess* NodeSupervisor::rank_at(std::uint32_t slot) {
  return slot < ranks_.size() ? &ranks_[slot] : nullptr;
}

RankView NodeSupervisor::view_of(const RankProcess& rank) const {
  RankView view = arenas_->view(rank.slot);
  if (view.incarnation == rank.incarnation && rank.attached != 0) return view;
  // What the arena says is still of the predecessor.
  view.state = RankState::none;
  view.call.clear();
  view.call_index = 0;
  view.replaying = false;
  return view;
}

bool NodeSupervisor::is_in_mpi(const RankProcess& rank) const {
  return rank.phase == ProcessPhase::running && view_of(rank).state == RankState::in_program;
}

}  // namespace llamada::launcher
