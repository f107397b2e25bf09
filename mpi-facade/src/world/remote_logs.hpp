#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "llamada/base/clock.hpp"
#include "llamada/base/result.hpp"
#include "llamada/log/log_writer.hpp"
#include "llamada/replication/carrier.hpp"
#include "world/past_copies.hpp"
#include "world/patience.hpp"
#include "world/progress_hook.hpp"
#include "world/world.hpp"

namespace llamada::mpi {

/// What a World knows of its ranks on other nodes.
class RemoteRanks {
 public:
  virtual replication::PeerState state_of(int world_rank) const = 0;
  /// Another number whenever any state has changed. Acquire.
  virtual std::uint64_t changes() const = 0;
  /// Memory for copies is used up.
  virtual void copies_need_memory() {}
  /// Records that this rank needs are no longer there; `how` is one sentence without a full stop. The job
  /// ends with it.
  virtual void records_are_gone(const std::string& how) = 0;
  /// The driver of that rank's node, which serves the rank's logs while the rank is silent.
  struct Driver {
    replication::EndpointNumber endpoint = 0;
    replication::Address small;
    replication::Address bulk;
  };
  virtual std::optional<Driver> driver_of(int /*world_rank*/) const { return std::nullopt; }
  /// Whether the rank's node is lost: nothing more comes of its driver, either.
  virtual bool is_node_lost(int /*world_rank*/) const { return false; }

 protected:
  ~RemoteRanks() = default;
};

/// The logs between one rank and the ranks of other nodes. Its own ones go to whoever follows them; others'
/// are copied into its arena, where it reads them like any log. So the rank is the one reader of each copy,
/// and a writer waits for a remote reader as for a local one: by a cursor in its own arena, which moves when
/// the reader's process has copied the records.
///
/// A replacement gets all logs anew, from their first records on: what its predecessors had of them was used
/// again (PastCopies). A standby that was woken gets them from behind the records on that it has read.
///
/// All progress is made in carry(), push() and what publishes: a rank that computes neither copies nor
/// acknowledges. Nor does it send; so a rank that waits and hears nothing of another one asks the driver of
/// that one's node for its logs (Patience).
///
/// Threads: the rank's MPI thread, or whoever holds the lock.
class RemoteLogs final : public ProgressHook, replication::CarrierEvents {
 public:
  /// What a copy of the process takes over from the object that it has inherited.
  struct Left {
    /// The logs that were followed, with the number of records that had come.
    std::map<replication::LogName, std::uint64_t> followed;
    /// The logs of this rank that were published: `writer` is whom to.
    std::set<replication::LogName> published;
  };
  struct Options {
    replication::Identity identity;
    std::vector<int> ranks;  ///< of other nodes, known from the start; others are met when they are named
    bool keeps = false;      ///< histories are kept: predecessors' copies are begun again
    /// What a copy may hold that this rank has not read.
    std::uint64_t window_bytes = 512 << 10;
    const std::atomic<std::uint64_t>* cut = nullptr;  ///< World::cut()
    Left left;  ///< in a copy that has taken over; what is followed there waits for source_behind()
  };
  /// All are borrowed, and outlive it; so do all logs that are published. Copies of predecessors are gone
  /// afterwards. Errors are told by RemoteRanks::records_are_gone().
  RemoteLogs(Options options, RemoteRanks& ranks, replication::Link& small, replication::Link& bulk,
             log::ArenaWriter& own, const Clock& clock);
  RemoteLogs(const RemoteLogs&) = delete;
  RemoteLogs& operator=(const RemoteLogs&) = delete;

  /// World::source() of a rank on another node: follows the log, once. Errors: out_of_resources.
  Result<World::Source> source(int world_rank, log::LogKey key);
  /// World::source_behind() of a rank on another node. Errors: out_of_resources.
  Result<World::Source> source_behind(int world_rank, log::LogKey key, std::uint64_t record_count);
  /// In a copy that has taken over: also follows what nobody reads any more, for its writers wait until it is
  /// here. Errors: out_of_resources.
  Status follow_rest();
  /// In a copy that takes over: for the object that is to take the place of this one.
  Left left() const;
  /// World::publish_to() of the ranks that are on other nodes. Errors: out_of_resources.
  Status publish_to(log::LogWriter& log, log::LogKey key, int world_rank);
  /// After a commit for this rank, or when its log was read here.
  void push(int world_rank);
  /// World::awaits_inputs()
  bool awaits_inputs();
  /// World::has_come() of a rank on another node: asks its driver for the log anew, and says whether that has
  /// told the end.
  bool has_come(int world_rank, log::LogKey key);
  /// Whether the other ranks have all that was published for them so far.
  bool is_idle() const { return carrier_.is_idle(); }
  /// World::has_delivered(): a rank that is dead, and to be replaced, has nothing yet. When it gives true,
  /// the others have been told all that was applied here. Ranks of other worlds do not count: they may
  /// compute for as long as they like, and the driver serves what they have not asked for.
  bool has_delivered();

  bool carry() override;
  void set_waiting(bool waits) override { carrier_.set_waiting(waits); }
  void stop_reading(int world_rank, log::LogKey key) override;
  bool is_read_by(int world_rank, log::LogKey key) override;
  /// World::part() of a rank on another node: nothing more is to be known of one that has ended.
  void part(int world_rank);
  void withdraw(log::LogKey key) override;

  /// To sleep on; -1: there is none.
  std::array<int, 2> descriptors() const { return {small_.descriptor(), bulk_.descriptor()}; }
  /// Acknowledges all that has come, and says how long the rank may sleep then, if nothing comes.
  std::chrono::nanoseconds prepare_sleep();

 private:
  Result<World::Source> follow(int world_rank, log::LogKey key, std::uint64_t begins_behind);
  void publish_left();
  void meet_all();
  void meet(int world_rank);
  void gone(const replication::LogName& name, const replication::Gone& gone) override;
  void dropped(replication::FrameFault fault) override;
  void count_unread();
  void look_for_silent();
  void ask_driver_of(int world_rank, Patience& patience);
  std::optional<replication::EndpointNumber> meet_driver_of(int world_rank);
  void part_from_driver_of(int world_rank);

  Options options_;
  RemoteRanks& ranks_;
  replication::Link& small_;
  replication::Link& bulk_;
  log::ArenaWriter& own_;
  const Clock& clock_;
  PastCopies past_;  // of a replacement, until all of it has come again
  replication::Carrier carrier_;
  std::set<int> met_;
  std::set<replication::EndpointNumber> strangers_;  // of other worlds
  std::map<replication::LogName, World::Source> followed_;
  std::set<replication::LogName> published_;            // `writer` is whom to
  std::map<int, Patience> patience_;                    // of each rank that is followed
  std::map<int, replication::EndpointNumber> drivers_;  // that were met, by rank
  std::set<replication::LogName> asked_at_end_;         // of lost ranks: the driver was asked for all
  InMpi in_mpi_;
  std::chrono::nanoseconds look_at_ = replication::never;  // at the silent ranks, in time within MPI
  std::uint64_t seen_changes_ = 0;
  std::string gone_;  // how, of what this rank needs
  replication::Time count_unread_at_{};
};

}  // namespace llamada::mpi
