#pragma once

#include <signal.h>
#include <sys/resource.h>

#include <array>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "adopted_ranks.hpp"
#include "event_loop.hpp"
#include "input_pipe.hpp"
#include "leases.hpp"
#include "llamada/launcher/job_arenas.hpp"
#include "llamada/launcher/memory_group.hpp"
#include "node_messages.hpp"
#include "node_pause.hpp"
#include "node_reach.hpp"
#include "node_waits.hpp"
#include "program_files.hpp"
#include "rank_process.hpp"
#include "stack_reader.hpp"

namespace llamada::launcher {

/// The parent of a job's ranks on one node: starts their processes, reads what they write, sees their ends,
/// kills what they leave, and keeps their arenas. It decides nothing about the job: it tells the coordinator
/// what happens, and does what it is told (node_messages.hpp).
///
/// One thread; everything happens in take() and in handlers of the event loop. Blocks all signals of the
/// process, and makes it the reaper of its descendants.
class NodeSupervisor {
 public:
  using Tell = std::function<void(node::FromNode)>;

  /// `tell` must not call back into the supervisor. While the process `mpirun` is stopped (0: nobody's) the
  /// whole job counts as suspended, and no lease runs.
  NodeSupervisor(EventLoop& loop, ArenasFactory make_arenas, Tell tell, pid_t mpirun = 0);

  void take(node::ToNode message);

  /// By what the ranks of the other nodes reach this one; before Prepare of a job on several nodes.
  struct Links {
    std::string address;                 ///< this node's IP address
    std::array<std::uint8_t, 16> key{};  ///< of the job's frames
    std::uint32_t node = 0;              ///< as Prepare numbers it
    std::chrono::nanoseconds lease{0};   ///< of a node, as Prepare says
  };
  void set_links(Links links) { links_ = std::move(links); }
  /// Ranks of this node that another launcher has started: they are not started again. Before Prepare.
  void adopt(Adoption adoption);
  /// Stops all ranks, or lets them go on unless the user has suspended the job.
  void freeze(bool is_frozen);
  /// To whoever has started this process with adopted ranks.
  void report(const std::string& line) const { adopted_->report(line); }
  /// A child of this process that is no rank's: neither it nor what descends from it is ever killed here. If
  /// its end is seen here, which takes its status from whoever else waits for it, `on_end` gets the status.
  void spare(pid_t child, std::function<void(int wait_status)> on_end) { spared_[child] = std::move(on_end); }

 private:
  // Messages (node_supervisor.cpp).
  void on(node::Prepare&& message);
  void on(node::RestoreJournal&& message);
  void on(node::MakeCut&& message);
  void on(node::StartRanks&& message);
  void on(node::AddRanks&& message);
  void on(node::Drain&& message);
  void on(node::Fence&& message);
  void on(node::SignalRank&& message);
  void on(node::EndJob&& message);
  void on(node::KillAll&& message);
  void on(node::HoldOutput&& message);
  void on(node::AnswerSpawn&& message);
  void on(node::AnswerReach&& message);
  void on(node::AnswerShared&& message);
  void on(node::AnswerAgreement&& message);
  void on(node::AskAgain&& message);
  void on(node::SetLost&& message);
  void on(node::SetUnprotected&& message);
  void on(node::Survey&& message);
  void on(node::KillRank&& message);
  void on(node::HoldLeases&& message);
  void on(node::LimitLog&& message);
  void on(node::Die&& message);
  void on(node::KillNode&&) { on(node::Die{}); }
  void on(node::PauseNode&& message) { pause_node(std::chrono::nanoseconds(message.length_ns)); }
  void on(node::CutNode&& message) { reach_.cut(std::move(message)); }
  void on(node::AnswerLease&&) {}  // for who has asked
  void on(node::AnswerInject&& message);
  void on(node::AskWaits&& message) { waits_.ask(message.question); }
  void on(node::AskStack&& message);
  void on(node::ProbeNodes&& message);
  void on(node::MeetNodes&& message);
  void on(node::SetRemote&& message);
  void on(node::MeetRanks&& message);
  void on(node::DropRanks&& message);
  void on(control::Input&& message);
  Status prepare(const node::Prepare& message);
  void add_ranks_of_nodes(const node::AddRanks& message);
  Status check_needs(const node::AddRanks& message) const;
  void signal_all(int number);
  void signal_descendants(int number) const;
  void signal_those_prepared(const RankProcess& rank, int number) const;
  RankProcess* rank_at(std::uint32_t slot);
  RankView view_of(const RankProcess& rank) const;
  bool is_in_mpi(const RankProcess& rank) const;

  // Starting (node_supervisor_start.cpp).
  void take_over(const node::RankStart& start);
  Status expect(const node::RankStart& start);
  Status start(RankProcess& rank, const node::RankStart& start);
  Status open_streams(RankProcess& rank, struct RankStreams& streams);
  void not_started(RankProcess& rank);
  Result<std::string> path_to_execute(const std::string& program);
  void addresses_randomised(int error_number);

  // Standbys (node_supervisor_standbys.cpp).
  void parked(RankProcess& rank, const ParkedCopy& copy);
  bool wake_standby(RankProcess& rank, const node::RankStart& start, struct RankStreams& streams);
  static void drop_standbys(RankProcess& rank);
  static void refuse_standbys(RankProcess& rank);
  bool is_standby(pid_t pid) const;

  // Arenas and streams (node_supervisor_streams.cpp).
  void pump_arenas();
  void take_event(const ArenaEvent& event);
  void attached(RankProcess& rank, pid_t pid);
  void replay_reached(RankProcess& rank, const ReachQuestion& question);
  void arena_damaged(const RankProcess& finder, std::uint32_t slot, const std::string& what);
  void read_output(std::uint32_t slot, int stream);
  void read_all_output(const RankProcess& rank, int stream);
  void drop_output(RankProcess& rank);
  bool writes_alone(const RankProcess& rank) const;
  void look_at_libraries(const RankProcess& rank);
  void look_at_code(RankProcess& rank);
  void tell_code(const RankProcess& rank);
  void look_at_code_later(const RankProcess& rank, std::chrono::milliseconds delay);

  // Leases (node_supervisor_leases.cpp).
  void begin_leases(const qos::Liveliness& policy);
  void look_at_leases();
  std::optional<LifeSign> life_sign(const RankProcess& rank) const;

  // Adopted ranks (node_supervisor_adopted.cpp).
  bool is_adopted(const RankProcess& rank) const { return adopted_ && adopted_->has(rank.slot); }
  void take_in(RankProcess& rank, const node::RankStart& start);
  void adopted_ended(std::uint32_t slot);
  void report_places(const std::vector<node::RankStart>& starts) const;
  void manager_ended();

  // Ends (node_supervisor_ends.cpp).
  void reap();
  void root_ended(RankProcess& rank);
  void attached_ended(RankProcess& rank);
  void tell_end(RankProcess& rank);
  std::string core_of(const RankProcess& rank) const;
  void look_at_fence(RankProcess& rank);
  void begin_draining(RankProcess& rank);
  void stop_lingering(std::uint32_t slot, std::uint64_t life, int round);
  void look_at_draining(RankProcess& rank);
  bool may_have_processes(const RankProcess& rank) const;
  std::vector<pid_t> processes_of(const RankProcess& rank) const;
  bool kill_processes_of(const RankProcess& rank) const;

  EventLoop& loop_;
  ArenasFactory make_arenas_;
  Tell tell_;
  pid_t mpirun_;
  struct {
    sigset_t signal_mask{};
    rlimit descriptor_limit{};
  } original_;  ///< of this process at its start, for the ranks
  std::string host_;
  Links links_;                                                   ///< of a job on several nodes
  std::map<pid_t, std::function<void(int wait_status)>> spared_;  ///< children that are no ranks
  std::unique_ptr<JobArenas> arenas_;
  std::unique_ptr<AdoptedRanks> adopted_;  ///< of a node whose ranks another launcher has started
  bool rebuilding_ = false;                ///< ranks are replaced
  struct {
    bool is_on = false;                          ///< what ranks record is kept by the coordinator
    std::set<std::string> paths;                 ///< that were told
  } code_mapped_;                                ///< CodeMapped
  std::map<std::string, KeptProgram> programs_;  ///< under REBUILD, by path
  std::deque<RankProcess> ranks_;                ///< by slot; more come, none moves
  NodeWaits waits_{loop_, ranks_, tell_};
  NodeReach reach_{loop_, tell_};
  StackReader stacks_{loop_};
  std::uint64_t lives_ = 0;
  InputPipe input_;                 ///< of rank 0
  std::unique_ptr<Leases> leases_;  ///< of a profile whose LIVELINESS has one
  bool leases_held_ = false;        ///< the user has suspended the job
  bool is_frozen_ = false;
  bool output_held_ = false;
  bool ending_ = false;
  struct {
    bool libraries = false;  ///< looked at
    bool addresses = false;  ///< that they are randomised
  } told_;                   ///< once
  MemoryGroup memory_group_ = MemoryGroup::own();
  std::uint64_t oom_kills_before_ = memory_group_.oom_kills();
};

}  // namespace llamada::launcher
