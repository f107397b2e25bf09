#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "leases.hpp"
#include "llamada/launcher/job_arenas.hpp"
#include "llamada/launcher/job_control.hpp"
#include "llamada/launcher/links.hpp"
#include "llamada/waits/judge.hpp"

// What the coordinator of a job and the supervisor of a node say to each other. Plain values: texts, numbers
// and lists of them, so that they could cross a stream. Each direction keeps its order.
// docs/internals/job-control.md has the course of a rank in these messages.

namespace llamada::launcher::node {

/// Coordinator → node, the first message: there will be a job. Ready or NotReady follows.
struct Prepare {
  std::uint32_t rank_count = 0;
  std::uint64_t job_number = 0;
  std::string profile;                    ///< qos::serialize()
  std::uint8_t binding = 0, mapping = 0;  ///< of control::Start
  // Of a job on several nodes.
  std::uint32_t own_node = 0;
  std::vector<std::uint32_t> node_of_rank;  ///< empty: all ranks are on this node
  std::vector<std::string> programs;        ///< files that must be there, with all of their libraries
  std::vector<std::string> environment;     ///< by which these are found
  std::string working_directory;            ///< must be there, unless it is empty
  LinkWish link = LinkWish::automatic;
  bool makes_cuts = false;  ///< MakeCut will come
  std::int64_t node_lease_ns = 0;
};
/// Coordinator → node, of a job that goes on from what it has recorded: before StartRanks.
struct RestoreJournal {
  JournalPiece piece;
};
/// Coordinator → node, of a job that outlives its nodes or processes: Cut follows. What is recorded from now
/// on belongs to the cut with this number.
struct MakeCut {
  std::uint64_t next_cut = 0;
};
/// Coordinator → node, before MeetNodes: what Ready of each node has said of its endpoints, by node. Probed
/// or NotReady follows.
struct ProbeNodes {
  std::vector<std::string> endpoints;
};
/// Coordinator → node, before any rank starts: what Ready of each node has said of its endpoints, by node.
/// Met or NotReady follows.
struct MeetNodes {
  std::vector<std::string> endpoints;
  LinkChoice link;
};
/// Coordinator → node: what has become of a rank on another node.
struct SetRemote {
  std::uint32_t slot = 0;
  RemoteState state = RemoteState::running;
  std::uint32_t incarnation = 1;
};
/// A process to start. Nothing in it depends on the node, which adds LLAMADA_DRIVER to the environment.
struct RankStart {
  std::uint32_t slot = 0;
  std::uint32_t incarnation = 1;
  std::uint64_t token = 0;
  std::string identity;  ///< for the attach answer
  std::string program;
  std::vector<std::string> arguments;
  std::string working_directory;
  std::vector<std::string> environment;
  std::string cpus;  ///< "0,4"; empty: any
};
/// Coordinator → node: start these, in order. Each is told as Started; at the first that cannot be started
/// CannotStart follows, and the others behind it are Done.
struct StartRanks {
  std::vector<RankStart> ranks;
};
/// Coordinator → node: arenas for `count` more ranks. RanksAdded follows, with the same question.
struct AddRanks {
  std::uint64_t question = 0;
  std::uint32_t count = 0;
  // Of a job on several nodes. Each node adds slots for all of these ranks.
  std::vector<std::uint32_t> nodes;  ///< of each rank
  /// A file that must be there on a node, with all of its libraries, and a directory.
  struct Need {
    std::uint32_t node = 0;
    std::string program;
    std::string working_directory;
    bool operator==(const Need&) const = default;
  };
  std::vector<Need> needs;
  std::vector<std::string> environment;  ///< by which libraries are found
};
/// Coordinator → node, of a job on several nodes: what RanksAdded of each node has said of its endpoints, by
/// node; nothing of one that is lost. RanksMet follows.
struct MeetRanks {
  std::uint64_t question = 0;
  std::vector<std::string> endpoints;
};
/// Coordinator → node, of a job on several nodes: added ranks that will not be started.
struct DropRanks {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};
/// Coordinator → node, after Ended: no more will come of the rank. What its processes have still written
/// follows, then Done; what they leave behind is killed after a while.
struct Drain {
  std::uint32_t slot = 0;
};
/// Coordinator → node, after Ended: kill what is left of the rank's processes. Fenced follows when nothing
/// is, and all that they wrote has been told.
struct Fence {
  std::uint32_t slot = 0;
};
/// Coordinator → node: a signal, for the process group that was started or only for the process that is the
/// rank.
struct SignalRank {
  std::uint32_t slot = 0;
  std::int32_t number = 0;
  bool whole_group = true;
};
/// Coordinator → node, after LeaseFound: SIGKILL for all processes of a rank that counts as dead. Ended
/// follows.
struct KillRank {
  std::uint32_t slot = 0;
};
/// Coordinator → node: the user has suspended the job, so no lease runs; or it goes on.
struct HoldLeases {
  bool hold = false;
};
/// Coordinator → node: histories may use at most so many bytes of this node's memory from now on.
struct LimitLog {
  std::uint64_t size_bytes = 0;
};
/// Coordinator → node: the process that drives the node kills itself (SIGKILL), for a test.
struct Die {};
/// Coordinator → nodes: the same on this one alone.
struct KillNode {
  std::uint32_t node = 0;
};
/// Coordinator → nodes: all processes of the job on this one are stopped for so long, as those of a virtual
/// machine that is paused.
struct PauseNode {
  std::uint32_t node = 0;
  std::int64_t length_ns = 0;
};
/// Coordinator → nodes: this one gets nothing of the others for so long (0: from now on), as if their network
/// were cut.
struct CutNode {
  std::uint32_t node = 0;
  std::vector<std::uint32_t> from;
  std::int64_t length_ns = 0;
};
/// The process that drives the job → node: the node is counted on (node_lease.hpp). With the number of
/// AskLease.
struct AnswerLease {
  std::uint64_t question = 0;
};
struct AnswerInject {
  std::uint64_t question = 0;
  InjectAnswer answer;
};
/// Coordinator → node: the job ends. All ranks get SIGTERM, and SIGKILL half a second later.
struct EndJob {};
/// Coordinator → node: SIGKILL for all processes, now.
struct KillAll {};
/// Coordinator → node: read no more of what ranks write, or again.
struct HoldOutput {
  bool hold = false;
};
struct AnswerSpawn {
  std::uint64_t question = 0;
  SpawnAnswer answer;
};
struct AnswerReach {
  std::uint64_t question = 0;
  WrittenOutput written{};  ///< the answer to ReplayPlace::output
};
struct AnswerShared {
  std::uint64_t question = 0;
  SharedAnswer answer;
};
/// Coordinator → node: what a rank that voted is told.
struct AnswerAgreement {
  std::uint64_t question = 0;
  bool is_decided = false;
  AgreementDecision decision;
};
/// Coordinator → node: something has been decided; ranks that were told otherwise ask again.
struct AskAgain {};
/// Coordinator → node: this rank of any node has died, and the others go on without it. `with_node`: its node
/// is lost, whatever became of the rank before.
struct SetLost {
  std::uint32_t lost = 0;
  bool with_node = false;
};
/// Coordinator → node: histories are no longer kept.
struct SetUnprotected {};
/// Coordinator → node: Surveyed follows.
struct Survey {};

/// Coordinator → node: all ranks that wait are to say what they wait for. Waits follows, with the same
/// question.
struct AskWaits {
  std::uint64_t question = 0;
};

/// Coordinator → node: Stack follows, with the same question.
struct AskStack {
  std::uint64_t question = 0;
  std::uint32_t slot = 0;
};

/// Also control::Input, for rank 0.
using ToNode =
    std::variant<Prepare, StartRanks, AddRanks, Drain, Fence, SignalRank, EndJob, KillAll, HoldOutput,
                 AnswerSpawn, AnswerReach, SetUnprotected, Survey, KillRank, HoldLeases, LimitLog, Die,
                 AnswerInject, AskWaits, AskStack, MeetNodes, SetRemote, AnswerShared, MeetRanks, DropRanks,
                 ProbeNodes, AnswerAgreement, AskAgain, SetLost, RestoreJournal, MakeCut, KillNode, PauseNode,
                 AnswerLease, CutNode, control::Input>;

/// Node → coordinator: the arenas are there.
struct Ready {
  std::string host;
  std::string endpoints;  ///< of a job on several nodes: for MeetNodes
  /// "0,4": what the node's ranks are bound to, over and over; empty: they are not.
  std::vector<std::string> cpu_places{};
};
/// Node → coordinator: what the links to the other nodes carry.
struct Probed {
  NodeProbe probe;
};
/// Instead of Ready, of a job that only looks at its nodes (control::Start::checks_nodes): what was found. No
/// node says it; JobNodes does.
struct Checked {
  std::string report;
  bool is_good = false;
};
/// Node → coordinator: the other nodes are known.
struct Met {};
struct NotReady {
  std::string why;
};
/// The new slots are [first, first + count) of the question; or there are none because of `error`.
struct RanksAdded {
  std::uint64_t question = 0;
  std::uint32_t first = 0;
  std::string error;
  std::string endpoints;  ///< of a job on several nodes: for MeetRanks
};
/// The added ranks of the other nodes are known; or they are not because of `error`.
struct RanksMet {
  std::uint64_t question = 0;
  std::string error;
};
struct Started {
  std::uint32_t slot = 0;
  std::int32_t pid = 0;
};
struct CannotStart {
  std::uint32_t slot = 0;
  std::int32_t error_number = 0;  ///< errno
  std::string why;
};
/// A process has become the rank in MPI; it may be a child of the one that was started.
struct Attached {
  std::uint32_t slot = 0;
  std::int32_t pid = 0;
};
/// The processes of a rank have ended, all that counts. What they had written on standard error has been
/// told. Drain or Fence must follow.
struct Ended {
  std::uint32_t slot = 0;
  std::int32_t pid = 0;          ///< that was the rank, or was started
  std::int32_t root_status = 0;  ///< of the process that was started, as wait() has it
  std::optional<std::int32_t>
      attached_status;          ///< of the one that was the rank, if it was another and is known
  bool behind_wrapper = false;  ///< it was another
  RankView view;
  bool others_in_mpi = false;  ///< another rank of this node is between MPI_Init and MPI_Finalize
  std::string core_file;
  std::uint64_t oom_kills = 0;  ///< how many processes the kernel has killed for want of memory so far
  std::string memory_of;        ///< whose memory that is: "the machine"
  bool is_adopted = false;      ///< another launcher's child: both statuses are not known
};
struct Fenced {
  std::uint32_t slot = 0;
};
/// Nothing more will come of the rank.
struct Done {
  std::uint32_t slot = 0;
  RankView view;
  // Of a job on several nodes.
  std::uint32_t node = 0;
  std::vector<std::uint64_t> driver_drops{};  ///< JobArenas::driver_drops() by now
};
/// What a rank told its driver: note, warning, aborted, diverged, unprotected, finalized.
struct Said {
  std::uint32_t slot = 0;
  ArenaEventKind kind = ArenaEventKind::note;
  std::int32_t code = 0;
  std::string text;
};
/// The replay of a replacement is over.
struct Live {
  std::uint32_t slot = 0;
  RankView view;
};
/// The arena of `slot` has what no rank leaves there; `finder` saw it.
struct Damaged {
  std::uint32_t slot = 0;
  std::uint32_t finder = 0;
  std::string what;
};
/// A file that the rank executes is another one than its predecessor's.
struct CodeChanged {
  std::uint32_t slot = 0;
  std::string path;
};
/// A replacement waits at a place of its replay for AnswerReach. All that it had written has been told.
struct Reached {
  std::uint32_t slot = 0;
  ReplayPlace place = ReplayPlace::over;
  bool writes_alone = false;  ///< no other thread or process can have written to its standard output
  std::uint64_t question = 0;
  /// The number of a checkpoint. Of ReplayPlace::output: above 0 for a standby. Of ReplayPlace::restored: the
  /// age of a standby in ms; 0: it was a checkpoint.
  std::uint32_t checkpoint = 0;
  WrittenOutput written{};  ///< of ReplayPlace::restored
};
/// A rank asks for more ranks; AnswerSpawn must follow.
struct SpawnWanted {
  std::uint32_t slot = 0;
  SpawnQuestion question;
};
/// A rank asks for what all ranks share; AnswerShared must follow.
struct SharedWanted {
  std::uint32_t slot = 0;
  SharedQuestion question;
};
/// A rank votes in an agreement; AnswerAgreement must follow.
struct AgreementWanted {
  std::uint32_t slot = 0;
  AgreementQuestion question;
};
struct Surveyed {
  std::uint32_t ranks_running = 0;
  std::uint32_t ranks_in_mpi = 0;  ///< of those: between MPI_Init and MPI_Finalize
};
/// `llamada inject` asks for a failure, or `llamada drain` to leave a node (job_moves.hpp); AnswerInject must
/// follow.
struct InjectWanted {
  std::uint64_t question = 0;
  std::string rule;
};
/// A look at the rank's process has found this. Where its lease is over KillRank follows, unless the job
/// ends.
struct LeaseFound {
  std::uint32_t slot = 0;
  std::uint32_t incarnation = 1;
  LeaseFinding finding;
};
/// Ranks of this node have slept in the same calls for a while: it may be worth asking what they wait for.
struct Quiet {};
/// A rank has been in the same MPI call for longer than the profile's DEADLINE; once for each stay.
struct Overdue {
  std::uint32_t slot = 0;
  std::string call;
  std::uint64_t call_index = 0;
  std::int64_t stay_ns = 0;
};
/// What the ranks of this node wait for.
struct RankWaits {
  std::uint32_t slot = 0;
  waits::SurveyedRank::Course course = waits::SurveyedRank::Course::runs;
  std::optional<waits::Report> report;  ///< of a rank that waits
};
struct Waits {
  std::uint64_t question = 0;
  std::vector<RankWaits> ranks;
};
/// The stacks of a rank's threads, in lines; or a line on why there are none.
struct Stack {
  std::uint64_t question = 0;
  std::string text;
};
/// Rank 0 has loaded an MPI library that is not ours.
struct OtherMpi {
  std::string library;
};
/// The node can do nothing for the job any more.
struct NodeFailed {
  std::string why;
};
/// What the ranks of the node have recorded since the last one; or why there is none.
struct Cut {
  std::vector<JournalPiece> pieces;
  std::string error;
};
/// A rank has mapped these files of code, as describe_code() has them; each is told once by a node.
struct CodeMapped {
  std::uint32_t slot = 0;
  std::vector<std::string> lines;
};
/// Nothing will come of a node any more, while ranks run. Done of its ranks follows. No node says it;
/// JobNodes does.
struct NodeLost {
  std::uint32_t node = 0;
  std::string title;  ///< "'b' (hosts:3)"
  std::string why;    ///< "its agent …"
};

/// Node → the process that drives the job, again and again while ranks run: AnswerLease must follow.
struct AskLease {
  std::uint64_t question = 0;
};

/// Node → the process that drives the job: it has heard nothing of these others for longer than a lease, and
/// hears the rest (node_hearing.hpp).
struct Unheard {
  std::vector<std::uint32_t> nodes;
};

/// Node → coordinator: the node was sent SIGTERM, and may soon be gone.
struct NodeStopping {
  std::uint32_t node = 0;  ///< JobNodes says which
};

/// Also control::Output, what a rank wrote, never empty; control::InputTaken; control::Notice.
using FromNode =
    std::variant<Ready, Met, NotReady, RanksAdded, Started, CannotStart, Attached, Ended, Fenced, Done, Said,
                 Live, Damaged, CodeChanged, Reached, SpawnWanted, Surveyed, LeaseFound, InjectWanted, Quiet,
                 Overdue, Waits, Stack, OtherMpi, NodeFailed, SharedWanted, RanksMet, Probed, Checked,
                 AgreementWanted, Cut, CodeMapped, NodeLost, NodeStopping, AskLease, Unheard, control::Output,
                 control::InputTaken, control::Notice>;

}  // namespace llamada::launcher::node
