#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checkpoint_directory.hpp"
#include "classification.hpp"
#include "event_loop.hpp"
#include "injector.hpp"
#include "job_input.hpp"
#include "job_moves.hpp"
#include "job_rank.hpp"
#include "job_recorder.hpp"
#include "job_restart.hpp"
#include "job_shared.hpp"
#include "job_world.hpp"
#include "llamada/launcher/job_control.hpp"
#include "llamada/launcher/report.hpp"
#include "llamada/qos/profile.hpp"
#include "node_messages.hpp"
#include "wait_watch.hpp"

namespace llamada::launcher {

/// Decides the course of a job: which ranks there are, what their ends mean and whether they are replaced,
/// what of their output goes to the user, how the job ends, what its report says. It knows no process and no
/// descriptor: it hears from the node's supervisor what happens, and tells it what to do (node_messages.hpp).
///
/// One thread; everything happens in take() and in timers of the event loop.
class JobCoordinator {
 public:
  using TellMpirun = std::function<void(control::Message)>;
  using TellNode = std::function<void(node::ToNode)>;

  /// Neither `tell` function must call back into the coordinator. Without `is_mpi_function` every name is
  /// one.
  JobCoordinator(EventLoop& loop, TellMpirun tell_mpirun, TellNode tell_node,
                 IsMpiFunction is_mpi_function = {});

  /// From mpirun.
  void take(control::Message message);
  /// From the node.
  void take(node::FromNode message);
  /// Whether mpirun has been told that the job is over; set by look_for_the_end(), once all ranks are
  /// finished and all messages have been taken.
  bool finished() const { return finished_; }
  void look_for_the_end();

  /// The job goes on from there; before anything else.
  void take(JobRestart restart);
  /// Once finished(), instead of telling mpirun of the end: all ranks are to start again, by another
  /// coordinator.
  std::optional<JobRestart> take_restart() { return std::exchange(restart_.next, std::nullopt); }

  /// Bytes of output that wait until what led to them is kept.
  std::size_t held_bytes() const { return record_.recorder ? record_.recorder->held_bytes() : 0; }

 private:
  /// A world that a rank has asked for and that does not run yet.
  struct Spawning {
    JobWorld plan;
    std::uint32_t started = 0;
  };
  using Spawnings = std::map<std::uint64_t, Spawning>;

  // What mpirun says, and the end (job_coordinator.cpp).
  void start(control::Start start);
  Status prepare();
  void forward_signal(int number);
  void signal_ranks(int number);
  void give_held_signals(JobRank& rank);
  void give_input();
  void begin_ending(int exit_code, std::string_view why);
  void finish();
  void complete_report();
  void tell_of_other_mpi();
  std::string exit_codes_text() const;
  void say(std::string text);
  bool rebuilding() const;
  JobRank* rank_at(std::uint32_t slot);

  // Worlds and their start (job_coordinator_worlds.cpp).
  void on(node::Ready&& message);
  void on(node::Checked&& message);
  void on(node::Probed&&) {}  // JobNodes hears it
  void on(node::Met&&) {}     // the same
  void on(node::NotReady&& message);
  void on(node::SpawnWanted&& message);
  void on(node::SharedWanted&& message);
  void on(node::RanksAdded&& message);
  void on(node::RanksMet&&) {}  // JobNodes hears it
  void on(node::AskLease&&) {}  // RemoteNodes answers it
  void on(node::Unheard&&) {}   // RemoteNodes hears it
  void on(node::Started&& message);
  void on(node::CannotStart&& message);
  void start_world(const JobWorld& world);
  Spawnings::iterator spawning_of(std::uint32_t world);
  void world_runs(std::uint32_t number);
  void refuse_spawn(std::uint64_t question, const std::string& why);
  std::vector<std::uint32_t> living_ranks_on_nodes() const;
  void place(const JobWorld& world);
  void forget(JobRank& rank);
  void discard(const JobWorld& world);
  node::RankStart start_of(const JobRank& rank) const;
  std::string identity_of(const JobRank& rank) const;
  /// Of a world: what an earlier one in the same slots has left does not get in.
  std::uint64_t token_of(const JobRank& rank) const { return token_ + rank.world; }
  const JobWorld& world_of(const JobRank& rank) const { return worlds_.at(rank.world); }
  std::uint32_t rank_in_world(const JobRank& rank) const { return rank.slot - world_of(rank).first; }
  std::string name_of(const JobRank& rank) const { return world_of(rank).name_of(rank_in_world(rank)); }
  const node::Ready& node_of_rank(const JobRank& rank) const { return nodes_.at(node_of(job_, rank.slot)); }
  const std::string& host_of(const JobRank& rank) const { return node_of_rank(rank).host; }
  std::string cpus_of(const JobRank& rank) const;
  std::string bindings_text() const;

  // What ranks write and say (job_coordinator_ranks.cpp).
  void on(control::Output&& message);
  void on(control::InputTaken&& message);
  void on(control::Notice&& message);
  void on(node::Attached&& message);
  void on(node::Said&& message);
  void on(node::Damaged&& message);
  void on(node::CodeChanged&& message);
  void on(node::Reached&& message);
  void on(node::OtherMpi&& message);
  void on(node::NodeFailed&& message);
  void pass_on(const JobRank& rank, int stream, RankOutput::Delivery delivery);
  void output_diverged(const JobRank& rank, const OutputJournal::Difference& difference);
  void release_output(JobRank& rank);
  void histories_lost(const JobRank& rank, const std::string& why);
  std::string log_used_up();
  void diverged(const JobRank& rank, const std::string& text);
  void aborted(JobRank& rank, const node::Said& message);

  // What a job goes on from (job_coordinator_record.cpp).
  Status begin_record();
  Status open_store();
  Status open_record(std::unique_ptr<store::Store> store);
  void resume();
  void restore(std::uint32_t slot, RankJournal journal, const JobPast::Journal& past);
  void keep_later_input(const JobPast& past);
  void show(control::Output output);
  void on(node::Cut&& message);
  void on(node::CodeMapped&& message);
  void not_resumable(const std::string& why);
  bool is_record_settled();
  void written_output(const JobRank& rank, std::uint64_t question, bool is_for_checkpoint);
  void checkpoint_written(std::uint32_t number, std::uint64_t question);
  bool give_up_checkpoint(std::uint32_t number);
  void checkpoint_unusable(std::uint32_t number, std::uint64_t question);
  std::uint32_t checkpoint_to_go_on_from(std::uint32_t last);
  std::string obstacle_in_checkpoints(const JobPast& past) const;
  void restored(JobRank& rank, const node::Reached& message);
  void end_record();

  // All ranks start again (job_coordinator_restart.cpp).
  void on(node::NodeLost&& message);
  std::string obstacle_to_restart() const;
  std::string leave_record();
  void stop_to_start_again(const std::vector<std::uint32_t>& left);
  static std::string own_llamanetd();
  std::optional<JobRestart> next_start();
  void caught_up();

  // Ranks leave a node on purpose (job_coordinator_moves.cpp).
  Result<std::string> answer_to(const MoveRequest& request);
  Result<std::string> drain_host(const std::string& name, const std::string& asked_by);
  Result<std::string> drain_host(const std::vector<std::uint32_t>& nodes, const std::string& name,
                                 const std::string& asked_by);
  Result<std::string> move_rank(std::uint32_t rank, const std::string& host);
  std::string obstacle_to_move() const;
  Status leave_record_to_move(const std::string& what);
  void on(node::NodeStopping&& message);
  void drain_stopping_nodes();

  // The others go on without ranks that die (job_coordinator_survivors.cpp).
  bool survivors_go_on() const;
  void go_on_without(JobRank& rank, int exit_code);
  void go_on_without_node(const node::NodeLost& message);
  DeathRecord death_with_node(const JobRank& rank, const node::NodeLost& message) const;
  std::string describe_lost_with_node(const std::vector<std::uint32_t>& lost) const;
  void end_in_agreements(const std::vector<std::uint32_t>& ended);
  void on(node::AgreementWanted&& message);
  std::optional<int> code_if_all_are_lost() const;

  // LIVELINESS (job_coordinator_leases.cpp).
  void on(node::LeaseFound&& message);
  std::chrono::nanoseconds lease() const { return profile_.datawriter_qos.liveliness.lease_duration; }

  // Injected failures (job_coordinator_injections.cpp).
  Status prepare_injections();
  std::optional<std::uint32_t> node_named(std::string_view name) const;
  Status check_node_of(const InjectRule& rule) const;
  void cut(std::uint32_t node, const InjectRule& rule, const std::string& text);
  Injector::Hands hands();
  void on(node::InjectWanted&& message);
  Result<InjectRule> accept_injection(const std::string& text);
  void tell_of_injections();

  // What ranks wait for (job_coordinator_waits.cpp).
  void on(node::Quiet&& message);
  void on(node::Overdue&& message);
  void on(node::Waits&& message);
  void on(node::Stack&& message) { waits_->take(std::move(message)); }
  void begin_watching();
  void deadlocked(const waits::Survey& survey, const waits::Verdict& verdict);
  /// Tells mpirun what all ranks wait for, in a notice that begins with `why`, and then calls `then`.
  void explain(std::string why, std::function<void()> then);

  // Deaths (job_coordinator_deaths.cpp).
  void on(node::Ended&& message);
  void on(node::Fenced&& message);
  void on(node::Done&& message);
  void on(node::Live&& message);
  void on(node::Surveyed&& message);
  DeathHistory history_of(const JobRank& rank) const;
  DeathRecord begin_record(const JobRank& rank) const;
  DeathRecord record_of(const JobRank& rank, const node::Ended& end, const Judgement& judgement) const;
  std::optional<std::string> memory_used_up(const node::Ended& end, const Judgement& judgement);
  void tell_of_death(const JobRank& rank, const node::Ended& end, const Judgement& judgement);
  void act_on(JobRank& rank, const Judgement& judgement);
  void drain(JobRank& rank);
  void end_input_of(const JobRank& rank);
  void look_for_deserters_later();

  EventLoop& loop_;
  TellMpirun tell_mpirun_;
  TellNode tell_node_;
  IsMpiFunction is_mpi_function_;
  std::unique_ptr<Injector> injector_;
  control::Start job_;
  qos::Profile profile_;
  std::vector<node::Ready> nodes_;  ///< as each describes itself
  std::uint64_t token_ = 0;
  std::map<std::uint32_t, JobWorld> worlds_;  ///< by number: those that have slots
  Spawnings spawnings_;                       ///< by the question of who asked
  std::uint32_t spawned_count_ = 0;           ///< worlds that were spawned
  std::deque<JobRank> ranks_;                 ///< by slot; more come, none moves
  struct {
    AgreementTable agreements;  ///< of ranks, by slot
    JobShared shared;
  } together_;  ///< what ranks decide, and have, together
  JobInput input_;
  Report report_;
  int first_failure_ = 0;
  std::optional<int> ending_code_;
  struct {
    std::uint64_t seen = 0;  ///< a bit each
    int endings = 0;         ///< how many should end the job
  } user_signals_;
  std::string unprotected_because_;  ///< a sentence without a full stop; empty: ranks can be replaced
  std::string other_mpi_;            ///< the MPI library of rank 0 that is not ours
  struct {
    bool input_loss = false;
    std::uint64_t oom_kills = 0;
  } told_;  ///< to the user
  std::unique_ptr<WaitWatch> waits_;
  struct {
    std::unique_ptr<JobRecorder> recorder;
    std::unique_ptr<store::Store> store;  ///< while there is no recorder, of a job that starts again
    OutputSizes given;                    ///< what mpirun was given of the ranks' output
    std::optional<JobPast> past;          ///< until the ranks start
    std::vector<std::string> code;        ///< the lines of CodeMapped that are kept
    std::uint64_t next_cut = 1;           ///< the one that the ranks record
    bool input_has_ended = false;         ///< in the past: what comes is not rank 0's
    bool is_over = false;                 ///< the program has ended the job, and would again
    std::optional<std::chrono::steady_clock::time_point> waits_until;  ///< for mpirun to show everything
    std::uint32_t checkpoint = 0;  ///< that all ranks have written, of those that have been told here
  } record_;                       ///< of a job that outlives its nodes or processes
  CheckpointDirectory checkpoints_;
  struct {
    std::uint32_t checkpoint = 0;  ///< that its ranks go on from; 0: none
    std::uint32_t life = 0;        ///< the number of this start of all ranks; 0: the first
  } resumed_;                      ///< of a job whose ranks start again
  struct {
    bool is_on = false;               ///< the ranks are killed, to start again
    std::vector<std::uint32_t> left;  ///< nodes that are lost or drained
    std::vector<NodeMove> moves;
    std::vector<std::string> stopping;  ///< hosts that were sent SIGTERM, and will be drained
    std::optional<std::chrono::steady_clock::time_point> lost_at;
    std::size_t ranks_behind = 0;  ///< that follow what was recorded before a node was lost
    std::optional<JobRestart> next;
  } restart_;
  bool will_look_for_deserters_ = false;
  bool finished_ = false;
};

}  // namespace llamada::launcher
