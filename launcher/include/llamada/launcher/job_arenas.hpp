#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "llamada/base/agreement_table.hpp"
#include "llamada/base/file_descriptor.hpp"
#include "llamada/base/result.hpp"
#include "llamada/launcher/links.hpp"
#include "llamada/log/journal.hpp"
#include "llamada/qos/profile.hpp"
#include "llamada/waits/report.hpp"

namespace llamada::launcher {

/// What an arena's header says of its rank (ArenaState of docs/internals/arena.md).
enum class RankState : std::uint32_t { none = 0, attached = 1, in_program = 2, finalized = 3, exiting = 4 };

/// A look into the arena of a rank. Of a dead one it stays as it died until next_incarnation().
struct RankView {
  RankState state = RankState::none;
  std::int32_t exit_code = 0;  ///< of state exiting
  std::uint32_t pid = 0;       ///< of the process that attached last, 0 if none has
  std::uint32_t incarnation = 0;
  bool replaying = false;
  bool asleep = false;   ///< in a call that waits
  bool damaged = false;  ///< its header has words that no process leaves there
  std::string call;      ///< the MPI function it is in, "" if in none
  std::uint64_t call_index = 0;
  /// By log::Counter, over all incarnations.
  std::array<std::uint64_t, 64> counters{};
};

enum class ArenaEventKind {
  attached,
  died,
  note,
  aborted,
  diverged,
  unprotected,
  warning,
  live,
  damaged,
  finalized,
  spawn,
  reach,
  inject,
  shared,
  agree,
  probed,
  parked
};

/// One program that a rank wants to have started (MPI_Comm_spawn), and how often.
struct SpawnCommand {
  std::uint32_t process_count = 0;
  std::string program;
  std::string working_directory;
  std::string search_path;  ///< directories with ':' between them, before PATH
  std::string host;
  std::vector<std::string> arguments;  ///< without the program's name
};

/// What a rank asks for: a world of its own of new ranks.
struct SpawnQuestion {
  std::vector<SpawnCommand> commands;
  std::uint64_t number = 0;  ///< for answer_spawn()
};

/// The new ranks are [first, first + count), or there are none because of `error`.
struct SpawnAnswer {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::string error;
};

/// Bytes that a rank has written to standard output and standard error.
using WrittenOutput = std::array<std::uint64_t, 2>;

/// Where the replay of a rank stands, which waits there for answer_reach().
enum class ReplayPlace : std::uint32_t {
  last_call_begins = 1,  ///< the last MPI call that a predecessor began is about to begin
  last_call_ended = 2,   ///< it is over
  over = 3,              ///< the rank does what no predecessor has done
  effect = 4,            ///< what it does next cannot be taken back: all that it has recorded must be kept
  output = 5,            ///< it asks how much it has written so far
  checkpoint = 6,        ///< all have written this checkpoint, which must be kept as the one to go on from
  restored = 7,          ///< it goes on from a checkpoint, before which it had written so much
  unusable = 8,  ///< it cannot go on from a checkpoint, whose file is damaged or gone; or from a standby
};
struct ReachQuestion {
  ReplayPlace place = ReplayPlace::over;
  bool is_single = false;        ///< the process has never had a second thread
  std::uint64_t number = 0;      ///< for answer_reach()
  std::uint32_t checkpoint = 0;  ///< of checkpoint
  WrittenOutput written{};       ///< of restored
};

/// A rank's question for what all ranks share: numbers that they move together and, in a job on several
/// nodes, names that they publish.
struct SharedQuestion {
  enum class Kind : std::uint32_t { publish, withdraw, look_up, read, add, set, release };
  Kind kind = Kind::look_up;
  bool is_port = false;  ///< of a name: it goes with its rank
  std::string name;
  std::string value;              ///< of publish
  std::uint64_t number_name = 0;  ///< which number
  std::uint64_t operation = 0;    ///< of this rank; the same once more changes nothing
  std::uint64_t operand = 0;
  std::uint64_t number = 0;  ///< for answer_shared()
  bool is_about_name() const { return kind <= Kind::look_up; }
};

struct SharedAnswer {
  bool is_about_name = false;  ///< as its question
  bool done = false;
  Errc code = Errc::not_found;  ///< why not
  std::string value;            ///< of look_up
  std::uint64_t before = 0;     ///< what the number was
};

/// A rank votes in an agreement of ranks, or asks again.
struct AgreementQuestion {
  AgreementVote vote;
  std::uint64_t number = 0;  ///< for answer_agreement()
};

/// What becomes of a rule of `llamada inject`: accepted, with the seed that was drawn; or why not.
struct InjectAnswer {
  bool accepted = false;
  std::string text;
};

/// A copy of a rank's process waits to be the rank's replacement.
struct ParkedCopy {
  std::int32_t pid = 0;
  std::uint64_t call = 0;    ///< the MPI call at whose end it was made
  std::uint64_t number = 0;  ///< for wake()
};

/// What happened to a rank, or what it said; of inject and probed: no rank.
struct ArenaEvent {
  ArenaEventKind kind = ArenaEventKind::note;
  std::uint32_t rank = 0;
  std::int32_t code = 0;  ///< of aborted and diverged; of damaged: the rank whose arena is
  std::string text;       ///< of inject: the rule
  SpawnQuestion spawn{};
  ReachQuestion reach{};
  std::uint64_t inject_number = 0;  ///< for answer_inject()
  SharedQuestion shared{};
  AgreementQuestion agreement{};
  NodeProbe probe{};  ///< of probed
  ParkedCopy parked{};
};

/// Of a rank on another node.
enum class RemoteState : std::uint32_t {
  running = 0,   ///< or it will be: this incarnation is expected
  dead = 1,      ///< another incarnation may follow
  done = 2,      ///< it has ended as it should
  finalized = 3  ///< it waits at the end of MPI_Finalize
};

/// How many processes MPI_Comm_spawn may add to a job on one node at a time, and to one on several nodes in
/// its life.
inline constexpr std::uint32_t spawned_count_max = 1024;

/// What a rank records for its successor, in its arena.
enum class RankJournal : std::uint32_t { outcomes = 0, ledger = 1 };

/// Entries of a journal of a rank, one behind the other.
struct JournalPiece {
  std::uint32_t rank = 0;
  RankJournal journal = RankJournal::outcomes;
  std::uint64_t first = 0;  ///< the index of the first one; it may have been told before, and has changed
  std::vector<log::JournalEntry> entries;
  bool operator==(const JournalPiece&) const = default;
};

/// What the job needs of the node's arenas: implemented over llamaNET's driver where the programs are wired
/// together, by a fake in tests. Threads: the job driver's.
class JobArenas {
 public:
  virtual ~JobArenas() = default;

  /// What the ranks find the driver by: the value of LLAMADA_DRIVER.
  virtual std::string address() const = 0;
  /// Whether log_directory of the profile lies in memory (tmpfs).
  virtual bool has_logs_in_memory() const { return false; }
  /// Readable when do_work() has something to do. -1: never.
  virtual int descriptor() const = 0;
  /// Does what there is to do and tells what happened. Never blocks. What a process said before it died comes
  /// before its death.
  virtual Result<std::vector<ArenaEvent>> do_work() = 0;

  /// The rank's first process may attach from now on; `identity` is handed to it ("key=value" lines).
  virtual Status expect(std::uint32_t rank, std::uint64_t token, const std::string& identity) = 0;
  /// The process of the rank, if there was one, is gone for good; its replacement may attach from now on.
  virtual Status next_incarnation(std::uint32_t rank, const std::string& identity) = 0;
  /// Arenas for `count` more ranks, one behind the other: the first of them. Ranks that were added before,
  /// and are done, may be among them. Errors: out_of_resources, and then there is none.
  virtual Result<std::uint32_t> add_ranks(std::uint32_t count) = 0;
  /// To whoever asked, if it is still there.
  virtual void answer_spawn(std::uint64_t question, const SpawnAnswer& answer) = 0;
  /// `written`: the answer to ReplayPlace::output.
  virtual void answer_reach(std::uint64_t question, const WrittenOutput& written) = 0;
  virtual void answer_inject(std::uint64_t question, const InjectAnswer& answer) = 0;
  /// To whoever asked; none: it is not decided yet.
  virtual void answer_agreement(std::uint64_t /*question*/,
                                const std::optional<AgreementDecision>& /*decision*/) {}
  /// Something has been decided: who was told that it was not asks again.
  virtual void ask_again() {}
  /// The rank has died, of this node or another, and the others go on without it. `with_node`: its node is
  /// lost, and nothing more comes of either.
  virtual void set_lost(std::uint32_t /*rank*/, bool /*with_node*/) {}
  /// The histories of all ranks may use at most so many bytes of memory from now on, if they are kept.
  virtual void limit_log(std::uint64_t size_bytes) = 0;
  /// The histories are no longer kept.
  virtual void set_unprotected() = 0;
  /// The rank has ended as it should, and its output is drained.
  virtual void set_done(std::uint32_t rank) = 0;
  /// The job ends for everybody: whoever waits in MPI should not.
  virtual void set_ending() = 0;

  /// The parked copy with this number becomes the rank's next process, with these standard streams, after
  /// next_incarnation(). If it is gone, nothing happens.
  virtual void wake(std::uint64_t /*parked*/, std::array<FileDescriptor, 3> /*streams*/) {}

  virtual RankView view(std::uint32_t rank) const = 0;

  // Of a job whose profile outlives its nodes or processes (qos::RankProtection).
  // docs/internals/job-store.md.

  /// What a rank that resumes finds in a journal, before its first process is expected. Errors:
  /// out_of_resources, invalid_argument.
  virtual Status restore_journal(const JournalPiece& /*piece*/) {
    return failure(Errc::unsupported, "a journal cannot be restored here");
  }
  /// What the ranks of this node have recorded since the last call, as far as it belongs to cuts before
  /// `next_cut`. What they record from now on belongs to that one. Errors: parse_error, a journal is damaged.
  virtual Result<std::vector<JournalPiece>> make_cut(std::uint64_t /*next_cut*/) {
    return failure(Errc::unsupported, "journals cannot be read here");
  }

  // Of a job on several nodes (ArenasRequest::nodes). Ranks of other nodes have no arena here.

  /// What the other nodes must know to reach this node's ranks, for their meet_nodes().
  virtual std::string endpoints() const { return {}; }
  /// To whoever asked, if it is still there.
  virtual void answer_shared(std::uint64_t /*question*/, const SharedAnswer& /*answer*/) {}
  /// What endpoints() of each node says, by node; before any rank starts. Errors: parse_error.
  virtual Status meet_nodes(const std::vector<std::string>& /*endpoints*/, const LinkChoice& /*link*/) {
    return {};
  }
  /// Finds out by what the other nodes are reached, from what endpoints() of each says: an event `probed`
  /// follows. Errors: parse_error, those of the system.
  virtual Status probe_nodes(const std::vector<std::string>& /*endpoints*/) { return {}; }
  /// Slots for more ranks behind the others, by the node of each: the same on all nodes. Gives what the other
  /// nodes must know to reach this node's, for their meet_ranks(). Errors: out_of_resources, unsupported.
  virtual Result<std::string> add_ranks_of_nodes(const std::vector<std::uint32_t>& nodes) {
    return failure(Errc::unsupported, "{} ranks cannot be added here", nodes.size());
  }
  /// What add_ranks_of_nodes() on each node has given, by node; before any of these ranks starts. Errors:
  /// parse_error.
  virtual Status meet_ranks(const std::vector<std::string>& /*endpoints*/) { return {}; }
  /// Asks the other nodes whether they can be reached, and gives those of which something has come since the
  /// last call. Nothing: that cannot be known.
  virtual std::optional<std::vector<std::uint32_t>> ping_nodes() { return std::nullopt; }
  /// For a test: this node takes no frames of these nodes; none: of all. Errors: unsupported, those of the
  /// system.
  virtual Status stop_hearing(const std::vector<std::uint32_t>& /*nodes*/) { return {}; }
  /// Added ranks that will not be started.
  virtual void drop_ranks(std::uint32_t /*first*/, std::uint32_t /*count*/) {}
  /// The frames from other nodes that this node's driver has dropped so far, by the reason
  /// (log::drop_counter).
  virtual std::vector<std::uint64_t> driver_drops() const { return {}; }
  /// What has become of a rank on another node.
  virtual void set_remote(std::uint32_t /*rank*/, RemoteState /*state*/, std::uint32_t /*incarnation*/) {}

  /// Asks all ranks what they wait for: each that waits answers soon. Gives the number of the question.
  virtual std::uint32_t raise_survey() { return 0; }
  /// The rank's last answer, to whichever question.
  virtual std::optional<waits::Report> wait_report(std::uint32_t /*rank*/) const { return std::nullopt; }
};

/// What the arenas of a job are made from.
struct ArenasRequest {
  std::uint32_t rank_count = 0;
  std::uint64_t job_number = 0;
  qos::Profile profile;
  /// What ranks record is collected by make_cut(): the first cut is 1.
  bool makes_cuts = false;
  /// The place of this node in a job on several.
  struct Nodes {
    std::uint32_t own = 0;
    std::vector<std::uint32_t> of_rank;  ///< the node of each rank
    std::string address;                 ///< the IP address by which the others reach this node
    std::array<std::uint8_t, 16> key{};  ///< for the frames between them; a secret
    LinkWish link = LinkWish::automatic;
  };
  std::optional<Nodes> nodes;  ///< none: all ranks are here

  /// How many ranks this node has at the start.
  std::uint32_t own_rank_count() const {
    if (!nodes) return rank_count;
    return static_cast<std::uint32_t>(std::ranges::count(nodes->of_rank, nodes->own));
  }
};
using ArenasFactory = std::function<Result<std::unique_ptr<JobArenas>>(const ArenasRequest&)>;

}  // namespace llamada::launcher
