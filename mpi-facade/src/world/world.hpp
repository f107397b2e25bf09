#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "llamada/base/agreement_table.hpp"
#include "llamada/base/file_descriptor.hpp"
#include "llamada/base/result.hpp"
#include "llamada/log/log_reader.hpp"
#include "llamada/log/log_writer.hpp"
#include "llamada/qos/profile.hpp"
#include "llamada/qos/rank_protection.hpp"
#include "world/identity.hpp"
#include "world/progress_hook.hpp"

namespace llamada::mpi {

/// Memory that ranks share for writing, mapped into this process from the start to the end of this object,
/// which then lets go of it in order (World::shared_segment).
class SharedSegment {
 public:
  /// Unmaps, and tells who keeps the memory.
  class Holder {
   public:
    virtual ~Holder() = default;
  };

  SharedSegment() = default;
  SharedSegment(std::span<std::byte> bytes, std::unique_ptr<Holder> holder)
      : bytes_(bytes), holder_(std::move(holder)) {}
  SharedSegment(SharedSegment&& other) noexcept { *this = std::move(other); }
  SharedSegment& operator=(SharedSegment&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(holder_, other.holder_);
    return *this;
  }

  explicit operator bool() const { return holder_ != nullptr; }
  std::byte* data() const { return bytes_.data(); }
  std::size_t size() const { return bytes_.size(); }
  std::span<std::byte> bytes() const { return bytes_; }
  /// Before the end of the object.
  void release() {
    bytes_ = {};
    holder_.reset();
  }

 private:
  std::span<std::byte> bytes_;
  std::unique_ptr<Holder> holder_;
};

/// One program to start (MPI_Comm_spawn), and how often.
struct SpawnCommand {
  std::uint32_t process_count = 0;
  std::string program;
  std::string working_directory;
  std::string search_path;             ///< directories with ':' between them, looked at before PATH
  std::string host;                    ///< empty: anywhere
  std::vector<std::string> arguments;  ///< without the program's name
};

/// The slots of a spawned world: [first, first + count).
struct SpawnedRanks {
  int first = 0;
  int count = 0;
};

/// Where a replay stands.
enum class ReplayPlace : std::uint32_t {
  last_call_begins = 1,  ///< the last MPI call that a predecessor began is about to begin
  last_call_ended = 2,   ///< it is over
  over = 3,              ///< the rank does what no predecessor has done
  effect = 4,            ///< what it does next cannot be taken back: all that it has recorded must be kept
  output = 5,            ///< it asks how much it has written so far
  checkpoint = 6,        ///< all ranks have written a checkpoint, which must be kept as the one to go on from
  restored = 7,          ///< it goes on from a checkpoint, before which it had written so much
  unusable = 8,          ///< it cannot go on from a checkpoint, whose file is damaged or gone
};

/// Bytes of standard output and standard error.
using WrittenOutput = std::array<std::uint64_t, 2>;

enum class NameSpace { services, ports };

/// What the facade needs of the world outside the rank: its own arena, its peers', waiting, and somebody to
/// tell. world/llamanet.cpp implements it over llamaNET (the only file of the facade that sees it); tests
/// implement it in one process (world/in_process.hpp), with a thread, or a step of a simulator, for each
/// rank.
///
/// Threads: the thread that called MPI_Init.
class World {
 public:
  virtual ~World() = default;

  /// Ranks here are those of the job, its slots: of a job that has spawned nothing, the ranks in
  /// MPI_COMM_WORLD.
  virtual int rank() const = 0;
  /// How many slots there are or have been. Grows when a world is spawned.
  virtual int size() const = 0;
  /// The slots of this process's MPI_COMM_WORLD: [world_first(), world_first() + world_size()).
  virtual int world_first() const { return 0; }
  virtual int world_size() const { return size(); }
  /// 1 for the first process of this rank, one more for each replacement.
  virtual std::uint32_t incarnation() const = 0;
  virtual const qos::Profile& profile() const = 0;
  /// What the profile makes this rank keep, record and compare.
  qos::RankProtection protection() const { return qos::rank_protection(profile()); }

  /// What the launcher gave this incarnation: lines "key=value" (the first incarnation's pid, where it is to
  /// die for a test).
  virtual std::string_view identity() const { return {}; }
  /// Whether the rank, like all ranks of its job, has begun again with what was recorded before all of them
  /// had ended. The others repeat what they sent, and so does this rank.
  bool is_resumed() const { return identity_value(identity(), "resumed") == "1"; }

  /// The number of the present cut, to which belongs what is recorded: 0 if the job makes no cuts. Null: the
  /// same. docs/internals/job-store.md.
  virtual const std::atomic<std::uint64_t>* cut() const { return nullptr; }
  /// Before the rank does what cannot be taken back: returns when all that it, and whoever it has heard of,
  /// has recorded so far will be there even if all ranks end now. At once where no cuts are made.
  virtual void await_stable() {}

  // Checkpoints (checkpoint/course.hpp).

  /// The number of the last checkpoint that this rank has passed; 0: none. What it sends lies in logs of that
  /// number (log_kind()).
  std::uint32_t checkpoint() const { return checkpoint_; }
  void pass_checkpoint(std::uint32_t number) { checkpoint_ = number; }
  /// What this rank has written so far, in all incarnations. Its checkpoints have a directory from then on.
  virtual WrittenOutput written_output() { return {}; }
  /// All ranks have written this checkpoint. Returns when the job would go on from it, were all ranks to end.
  virtual void checkpoint_written(std::uint32_t /*number*/) {}
  /// Whether this job outlives its processes, so that all ranks can begin again with what was recorded.
  bool outlives_processes() const {
    const std::atomic<std::uint64_t>* const present = cut();
    return present && present->load(std::memory_order_relaxed) != 0;
  }
  /// The rank cannot go on from this checkpoint, for a reason, a sentence without a full stop. In a job that
  /// outlives its processes all ranks begin again from an earlier one, and this does not return.
  virtual void checkpoint_unusable(std::uint32_t /*number*/, std::string_view /*why*/) {}
  /// The rank goes on from a checkpoint, before which it had written so much: that does not come again.
  virtual void restored(const WrittenOutput& /*written*/) {}

  // Standbys (standby/standby.hpp).

  /// Why no copy of this rank could go on in its place, as far as the job is concerned; empty: one could. A
  /// sentence without a full stop.
  virtual std::string obstacle_to_standby() { return "the rank has no driver"; }
  /// What this rank has written so far, in all incarnations.
  virtual WrittenOutput output_so_far() { return {}; }
  /// In a copy of this process: waits until it is to be the rank. Gives the standard streams. Errors: it is
  /// of no use any more.
  virtual Result<std::vector<FileDescriptor>> park(std::uint64_t /*call*/) {
    return failure(Errc::unsupported, "there is no driver here");
  }
  /// Then: the copy is the rank, in the next incarnation, and finds the arena as its predecessors left it.
  /// All logs and journals in there are to be opened again. Errors: as to join the job.
  virtual Status take_over() { return failure(Errc::unsupported, "there is no driver here"); }
  /// Then: the copy was made `age` ago, and the rank had written so much: that does not come again.
  virtual void goes_on_as_copy(const WrittenOutput& /*written*/, std::chrono::nanoseconds /*age*/) {}
  /// Tells people who want to know more (mpirun -v).
  virtual void note(std::string_view /*text*/) {}

  /// The arena of this rank (to create and adopt logs in).
  virtual log::ArenaWriter& arena() = 0;
  // Distance. A rank is local where it shares memory with this one: only then is there its arena, may the
  // one reach the other's memory, and has it a word that says whether it sleeps. What another rank writes is
  // read where source() says, near or far.

  virtual bool is_local(int /*world_rank*/) const { return true; }
  /// The node on which a rank was placed first, from 0: it stays, wherever the rank is replaced, so what a
  /// program sees (MPI_Comm_split_type) and which way a message goes may depend on it.
  virtual int node_of(int /*world_rank*/) const { return 0; }
  /// Ranks of the job on this node.
  virtual int local_size() const { return size(); }
  bool is_on_one_node() const { return local_size() == size(); }
  /// Ranks of the job that share the cores of this machine, which may be those of several nodes. For how to
  /// wait, and nothing else.
  virtual int machine_size() const { return local_size(); }
  /// The arena of a local rank, mapped read-only; present from the start, whether the rank has attached yet
  /// or not, and the same for all incarnations. Not to find a log in: see source().
  virtual log::PeerArena peer(int world_rank) = 0;

  /// Where a log that a rank writes is found: an arena, and its key there.
  struct Source {
    log::PeerArena arena;
    log::LogKey key;
    bool is_copy = false;  ///< it lies in the own arena, and is used again however much is kept
  };
  /// Of any rank, this one too. The arena may not be ready() yet. The log of a rank on another node is copied
  /// to this rank from then on; the copy is used again as this rank reads it, whatever the log keeps.
  virtual Source source(int world_rank, log::LogKey key) { return {arena_of(world_rank), key}; }
  /// In a copy of the process, behind take_over(), once for each log that it had asked source() for and still
  /// reads: source(), from behind the first `record_count` records on, which it has read. A reader of a rank
  /// on another node is to be opened again.
  virtual Source source_behind(int world_rank, log::LogKey key, std::uint64_t /*record_count*/) {
    return source(world_rank, key);
  }
  /// The arena with the cursors of `world_rank` in the logs that this rank writes. Not ready() yet: none. A
  /// rank on another node has none anywhere: publish_to() adds what stands for it.
  virtual log::PeerArena cursors_of(int world_rank) { return arena_of(world_rank); }
  /// To be called once for each log that this rank makes, before its first record: these ranks read it. Those
  /// of them on other nodes get it copied, and their readers are added to it here. The log must stay in
  /// place.
  virtual void publish_to(log::LogWriter& /*log*/, log::LogKey /*key*/,
                          std::span<const int> /*world_ranks*/) {}
  /// What carries logs to and from other nodes, to be carried forward while this rank is in a call. Null: all
  /// ranks are on one node.
  virtual ProgressHook* link() { return nullptr; }
  /// In a replacement: whether records that its predecessors had of other nodes' logs are still on their way.
  /// Only when they are not does a look in vain mean that a predecessor has not seen more, either. Logs that
  /// source() has not been asked for yet do not count, nor do those with enough that this rank has not read.
  virtual bool awaits_inputs() { return false; }
  /// Whether ranks of this MPI_COMM_WORLD on other nodes have all that they are to have of this one, or have
  /// ended. This process must not end before.
  virtual bool has_delivered() { return true; }
  /// The job needs nothing more of this rank, nor this rank of the job: its process may end in any way, and
  /// the driver, too. Only for a rank that another launcher has started, once all ranks are as far.
  virtual void leave() {}
  /// How far a rank has come: acquire, what it has published before can be seen.
  virtual log::ArenaState state_of(int world_rank) {
    const log::PeerArena arena = arena_of(world_rank);
    if (!arena.ready()) return log::ArenaState::none;
    return static_cast<log::ArenaState>(arena.header().state.load(std::memory_order_acquire));
  }
  /// Whether a rank of this node repeats what its predecessor has done.
  virtual bool is_replaying(int world_rank) {
    const log::PeerArena arena = arena_of(world_rank);
    return arena.ready() && arena.header().replaying.load(std::memory_order_relaxed) != 0;
  }

  /// Whether the process in this slot has ended, or the slot has had none. What is left of it can still be
  /// read by who has met it.
  virtual bool has_ended(int /*world_rank*/) { return false; }
  /// Whether the job goes on without ranks that die.
  bool survivors_go_on() const { return qos::survivors_go_on(profile().rank_replacement); }
  /// Whether this rank has died for good, and the others go on without it. What it has published before its
  /// death can be seen then; if it was on another node, once has_come() says so.
  virtual bool is_lost(int /*world_rank*/) { return false; }
  /// Of a rank that is lost: whether all that it had published in this log before its death, and that can
  /// still be had, has come here. What is in its copy then is all that ever will be.
  virtual bool has_come(int /*world_rank*/, log::LogKey /*key*/) { return true; }
  /// This rank votes in an agreement of ranks, or asks again with the same vote. The decision; none: it is to
  /// ask again when roster_changes() has changed. No wait. Errors: unsupported.
  virtual Result<std::optional<AgreementDecision>> agree(const AgreementVote& /*vote*/) {
    return failure(Errc::unsupported, "there is nobody here who decides agreements");
  }
  /// This rank has nothing to do with that process any more, which has ended: its arena is unmapped, and the
  /// slot may become that of another one. Nothing may refer to the arena. On another node it has none, and
  /// the slot stays its own.
  virtual void part(int /*world_rank*/) {}
  /// Another number whenever a process has come, ended or gone.
  virtual std::uint64_t roster_changes() { return 0; }

  /// Wakes `world_rank` if it sleeps. Cheap when it does not: one load. Call after each commit it may be
  /// waiting for.
  virtual void wake(int world_rank) = 0;
  virtual void wake_all() = 0;
  /// A word that is 0 while `world_rank` needs no wake-up, to be looked at (relaxed) after the commit, which
  /// the compiler must not move behind it. Null: wake() has to be asked each time.
  virtual const std::atomic<std::uint32_t>* sleeping_word(int /*world_rank*/) { return nullptr; }
  /// wake() by whoever has kept the rank's sleeping_word().
  void wake_if_asleep(int world_rank, const std::atomic<std::uint32_t>* sleeping) {
    if (sleeping) {
      // The commit before the look: the sleeper's membarrier orders the two, if the compiler does not.
      std::atomic_signal_fence(std::memory_order_seq_cst);
      if (sleeping->load(std::memory_order_relaxed) == 0) return;
    }
    wake(world_rank);
  }

  /// Another number whenever somebody wants to know what the ranks wait for. Acquire: whoever then looks
  /// at what has come finds all that anybody had sent before that question. Cheap.
  virtual std::uint32_t survey() { return 0; }
  /// Makes memory for what this rank will send: what it may do while it waits for others.
  virtual void prepare_ahead() {}

  /// Sleeps until somebody wakes this rank, but at most 100 ms. `look_again` is called after the sleeping
  /// flag has been made visible; when it returns true there is no sleep. Ends the process when the driver is
  /// gone.
  virtual void sleep(const std::function<bool()>& look_again) = 0;
  /// Whether ranks outnumber the cores they may run on: then waiting yields at once instead of spinning.
  virtual bool oversubscribed() const = 0;

  /// Memory that all ranks which name it share for writing: zeroed and made by the first who asks, kept until
  /// all who have asked have let go of it, or the job ends. A rank that dies lets go of its mapping alone,
  /// and its replacement gets the same memory. A name is derived from what the ranks agree on (a context id
  /// and a counter), never random; between the last who asks and the first who lets go the ranks synchronise.
  /// Errors: invalid_argument (no bytes, or another size than the first has asked for), out_of_resources,
  /// unsupported.
  virtual Result<SharedSegment> shared_segment(std::uint64_t name, std::size_t bytes) {
    return failure(Errc::unsupported, "there is no shared memory here for {} bytes ({:#x})", bytes, name);
  }

  /// Starts programs as a world of their own; returns when they have been executed. Errors, with a sentence
  /// that names the program: then none runs.
  virtual Result<SpawnedRanks> spawn(const std::vector<SpawnCommand>& /*commands*/) {
    return failure(Errc::unsupported,
                   "only a job of mpirun can start more processes: start the program with mpirun -n 1");
  }
  /// What ports of this job begin with.
  virtual std::string job_name() const { return "alone"; }
  /// Names that all ranks of the job know. Errors: already_exists, not_found, out_of_resources.
  virtual Status publish_name(NameSpace /*space*/, const std::string& /*name*/,
                              const std::string& /*value*/) {
    return no_names();
  }
  virtual Status withdraw_name(NameSpace /*space*/, const std::string& /*name*/) { return no_names(); }
  virtual Result<std::string> look_up_name(NameSpace /*space*/, const std::string& /*name*/) {
    return no_names();
  }

  /// A number that ranks share by way of the job, such as a shared file pointer: 0 for the first who names
  /// it, gone when all who have named it have let go of it. `operation` numbers what this rank does; the same
  /// one again changes nothing and has the same answer. Gives what the number was. A cut that has what the
  /// rank records of it has the number, too. Errors: out_of_resources, unsupported (there is no job).
  struct NumberMove {
    enum class Kind { read, add, set, release };
    std::uint64_t number = 0;
    std::uint64_t operation = 0;
    Kind kind = Kind::read;
    std::uint64_t operand = 0;
  };
  virtual Result<std::uint64_t> move_number(const NumberMove& move) {
    return failure(Errc::unsupported, "the number {:#x} is not shared by several nodes", move.number);
  }

  /// False once the job's histories are no longer kept (log_bytes_per_node used up, or unprotected() was
  /// called, and on_unprotected CONTINUE).
  virtual bool is_protected() const = 0;

  /// Tells the driver. `aborted`, `diverged` do not return: the process ends when the driver has been told.
  [[noreturn]] virtual void aborted(int code, std::string_view text) = 0;
  [[noreturn]] virtual void diverged(std::string_view text) = 0;
  /// The arena of `world_rank` is damaged, as `how` says in one sentence without a full stop: the job ends,
  /// and blames that rank.
  [[noreturn]] virtual void damaged(int world_rank, std::string_view how) {
    aborted(1, "the arena of rank " + std::to_string(world_rank) + " is damaged: " + std::string(how));
    std::abort();  // Not reached.
  }
  virtual void log_used_up() = 0;
  /// From now on no rank that dies can be replaced; `why` is one sentence without a full stop.
  virtual void unprotected(std::string_view why) = 0;
  virtual void warning(std::string_view text) = 0;
  /// A replay has come to this place: returns when what the rank has written to standard output so far has
  /// been read and compared with what its predecessors wrote. A replay that has diverged does not return.
  /// `is_single`: the process has never had a second thread.
  virtual void reached(ReplayPlace /*place*/, bool /*is_single*/) {}
  /// The replay is over.
  virtual void live() = 0;
  /// state_of() this rank is to be finalized on other nodes, too, where its own arena cannot be read.
  virtual void announce_end() {}

 protected:
  int count_local() const {
    int count = 0;
    for (int other = 0; other < size(); ++other) count += is_local(other) ? 1 : 0;
    return count;
  }
  /// Where source() and its like look, unless they are told otherwise: the arena of any rank.
  virtual log::PeerArena arena_of(int world_rank) {
    return world_rank == rank() ? arena().reading() : peer(world_rank);
  }

 private:
  std::uint32_t checkpoint_ = 0;

  static tl::unexpected<Error> no_names() {
    return failure(Errc::unsupported, "only a job of mpirun has names and ports");
  }
};

}  // namespace llamada::mpi
