#pragma once

#include <signal.h>
#include <sys/resource.h>

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "classification.hpp"
#include "control_link.hpp"
#include "event_loop.hpp"
#include "injector.hpp"
#include "job_world.hpp"
#include "llamada/launcher/job_arenas.hpp"
#include "llamada/launcher/last_word.hpp"
#include "llamada/launcher/memory_group.hpp"
#include "llamada/launcher/report.hpp"
#include "program_files.hpp"
#include "rank_process.hpp"

namespace llamada::launcher {

/// The parent of a job's ranks: see run_job_driver(). One thread; everything happens in handlers of the event
/// loop.
class JobDriver {
 public:
  JobDriver(FileDescriptor control, LastWord last_word, const ArenasFactory& make_arenas);
  int run();

 private:
  // What mpirun says (job_driver.cpp).
  void take(control::Message message);
  void start(control::Start start);
  Status prepare(const control::Start& start);
  void forward_signal(int number);
  void give_held_signals(RankProcess& rank);
  void mpirun_lost();

  // Starting (job_driver_start.cpp).
  void start_all();
  Status start_rank(RankProcess& rank);
  Status open_streams(RankProcess& rank, class RankStreams& streams);
  std::vector<std::string> environment_of(const RankProcess& rank) const;
  std::string identity_of(const RankProcess& rank) const;
  void cannot_start(const Error& error);
  Result<std::string> path_to_execute(const std::string& program);
  void addresses_randomised(int error_number);

  // More ranks (job_driver_spawn.cpp).
  void spawn_world(std::uint32_t parent, const SpawnQuestion& question);
  Result<std::uint32_t> start_world(JobWorld world);
  Status start_ranks_of(const JobWorld& world);
  void forget(RankProcess& rank);
  void discard(const JobWorld& world);
  /// Of a world: what an earlier one in the same slots has left does not get in.
  std::uint64_t token_of(const RankProcess& rank) const { return token_ + rank.world; }
  const JobWorld& world_of(const RankProcess& rank) const { return worlds_.at(rank.world); }
  std::uint32_t rank_in_world(const RankProcess& rank) const { return rank.rank - world_of(rank).first; }
  const Command& command_of(const RankProcess& rank) const {
    return world_of(rank).command(rank_in_world(rank));
  }
  std::string name_of(const RankProcess& rank) const { return world_of(rank).name_of(rank_in_world(rank)); }

  // Input and output (job_driver_streams.cpp).
  void watch_output(RankProcess& rank, int stream);
  void read_output(std::uint32_t rank, int stream);
  void deliver(RankProcess& rank, int stream, std::string_view bytes);
  void pass_on(const RankProcess& rank, int stream, RankOutput::Delivery delivery);
  void output_ended(RankProcess& rank, int stream);
  void replay_reached(RankProcess& rank, const ReachQuestion& question);
  void release_output(RankProcess& rank);
  void read_all_output(const RankProcess& rank, int stream);
  bool writes_alone(const RankProcess& rank) const;
  void output_is_new(const RankProcess& rank);
  void read_last_errors(RankProcess& rank);
  void output_diverged(const RankProcess& rank, const OutputJournal::Difference& difference);
  void drop_output(RankProcess& rank);
  void adjust_reading();
  void take_input(control::Input input);
  void give_input();
  void input_given(std::uint64_t position);

  // Deaths (job_driver_deaths.cpp).
  void reap();
  void root_ended(RankProcess& rank);
  void pump_arenas();
  void take_event(const ArenaEvent& event);
  void attached_ended(RankProcess& rank);
  void arena_damaged(const RankProcess& finder, const ArenaEvent& event);
  void histories_lost(const RankProcess& rank, const std::string& why);
  void look_for_deserters();
  void look_for_deserters_later();
  void rank_is_live(RankProcess& rank);
  void look_at_code(RankProcess& rank);
  void look_at_code_later(std::uint32_t rank, std::chrono::milliseconds delay);
  void judge_rank(RankProcess& rank);
  DeathFacts facts_of(const RankProcess& rank, const RankView& view) const;
  DeathRecord record_of(const RankProcess& rank, const RankView& view, const Judgement& judgement) const;
  std::string core_of(const RankProcess& rank) const;
  std::optional<std::string> memory_used_up(const Judgement& judgement);
  void act_on(RankProcess& rank, const Judgement& judgement);
  void begin_fence(RankProcess& rank);
  void look_at_fence(RankProcess& rank);
  void replace(RankProcess& rank);
  void begin_draining(RankProcess& rank);
  void look_at_draining(RankProcess& rank);
  void stop_lingering(std::uint32_t rank, std::uint32_t world, int round);
  bool may_have_processes(const RankProcess& rank) const;
  std::vector<pid_t> processes_of(const RankProcess& rank) const;
  bool kill_processes_of(const RankProcess& rank) const;
  RankView view_of(const RankProcess& rank) const;

  // The end.
  void begin_ending(int exit_code, std::string_view why);
  void kill_everything();
  void signal_ranks(int number);
  void look_for_the_end();
  void finish();
  void look_at_libraries(const RankProcess& rank);
  void tell_of_other_mpi();
  std::string exit_codes_text() const;
  void say(std::string text);

  bool rebuilding() const;
  RankProcess* rank_of_root(pid_t pid);

  EventLoop loop_;
  const ArenasFactory& make_arenas_;
  sigset_t original_mask_{};
  rlimit original_descriptor_limit_{};
  LastWord last_word_;
  pid_t mpirun_ = 0;
  FileDescriptor mpirun_pidfd_;
  bool will_look_for_deserters_ = false;
  bool told_to_end_ = false;  ///< by mpirun, at once
  std::unique_ptr<JobArenas> arenas_;
  std::unique_ptr<Injector> injector_;
  std::unique_ptr<ControlLink> link_;
  control::Start job_;
  qos::Profile profile_;
  std::string host_;
  std::uint64_t token_ = 0;
  std::map<std::uint32_t, JobWorld> worlds_;     ///< by number: those that have slots
  std::uint32_t spawned_count_ = 0;              ///< worlds that were spawned
  std::map<std::string, KeptProgram> programs_;  ///< under REBUILD, by path
  std::deque<RankProcess> ranks_;                ///< by slot; more come, none moves
  std::string input_;                            ///< what rank 0 is given; under REBUILD from the start
  std::uint64_t input_start_ = 0;                ///< the place of its first byte
  std::uint64_t input_acknowledged_ = 0;
  bool input_ended_ = false;
  bool reading_paused_ = false;
  Report report_;
  int first_failure_ = 0;
  std::optional<int> ending_code_;
  std::uint64_t user_signals_ = 0;
  int user_signal_count_ = 0;
  bool unprotected_ = false;
  std::string unprotected_because_;  ///< a sentence without a full stop
  bool libraries_seen_ = false;
  std::string other_mpi_;  ///< the MPI library of rank 0 that is not ours
  MemoryGroup memory_group_ = MemoryGroup::own();
  std::uint64_t oom_kills_told_ = memory_group_.oom_kills();
  bool input_lost_ = false;            ///< more than may be kept for a replacement of rank 0
  bool addresses_randomised_ = false;  ///< said once
  bool finished_ = false;
  bool orphaned_ = false;
};

}  // namespace llamada::launcher
