#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/base/siphash.hpp"
#include "llamada/llamanet/arena_view.hpp"
#include "llamada/llamanet/driver_page.hpp"
#include "llamada/llamanet/mapped_arena.hpp"
#include "llamada/llamanet/node_book.hpp"
#include "llamada/llamanet/pair_probe.hpp"
#include "llamada/llamanet/protocol.hpp"
#include "llamada/log/arena_writer.hpp"
#include "llamada/log/journal.hpp"

namespace llamada::llamanet {

/// A job on several nodes, as the driver of one of them knows it. Slots are numbered through the job.
struct JobNodes {
  std::uint32_t own = 0;               ///< the number of this driver's node
  std::vector<std::uint32_t> of_slot;  ///< the node of each slot
  std::string address;                 ///< the IP address by which the others reach this node
  std::uint64_t job_number = 0;
  SipHashKey key;                 ///< for the frames between nodes: a secret
  bool may_use_ethernet = false;  ///< raw Ethernet is tried, too
};

struct DriverOptions {
  /// The driver listens at @llamada/<uid>/<name>: "node" for DDS programs, "job-<number>-<node>" for a job.
  std::string name = "node";
  /// The name has random digits in it, so no other user can have taken it before: the driver listens there
  /// and nowhere else, and its applications are told socket_name(). Without this, 16 random digits follow the
  /// name where another user has it.
  bool secret_name = false;
  /// Slots are made for whoever attaches, and freed when nobody needs them. Otherwise only an application
  /// that is expected (expect()) may attach.
  bool on_demand = false;
  /// The most applications at a time.
  std::uint32_t slot_count_max = 1024;
  /// The most memory that one application may ever use; address space, not memory. 0: as much as
  /// log_bytes_max asks for, and at least 8 GiB.
  std::uint64_t arena_size_bytes = 0;
  /// log_bytes_per_node: what all arenas together may use for what is kept. 0: no limit.
  std::uint64_t log_bytes_max = 0;
  /// Where the slots' arenas lie on a disk; empty: they lie in memory.
  std::string log_directory;
  /// The resolved QoS profile, given to every application.
  std::string profile;
  /// What applications record is collected in cuts (begin_cut()): the first cut is 1.
  bool makes_cuts = false;
  /// None: all applications are here.
  std::optional<JobNodes> nodes;
};

/// Something that the host of the driver must know of.
struct DriverEvent {
  enum class Kind {
    attached,  ///< `pid` has become the application of `slot`
    said,      ///< the application of `slot` told its driver `say`
    died,      ///< the process of `slot` has ended without saying bye; the slot is dead and all are awake
    detached,  ///< the application of `slot` has left in order
    refused,   ///< a connection was closed because of `text`
    spawn,  ///< the application of `slot` asks for what `spawn` says; answer_spawn(), with `question`, must
            ///< follow
    reach,  ///< the application of `slot` has come to the place that `reach` says; answer_reach() must follow
    inject,  ///< a tool asks for the failure that the rule `text` says; answer_inject() must follow
    woken,   ///< an application has woken the driver: logs that the host follows may have more records
    name,    ///< of a job on several nodes: `name` is asked; answer_name() must follow
    move,    ///< of a job on several nodes: `move` is asked; answer_move() must follow
    agree,   ///< the application of `slot` votes in `vote`; answer_agree() must follow
    probed,  ///< of a job on several nodes: probe_nodes() has come to an end; `probed`
    parked,  ///< process `pid` waits to be the successor of `slot`'s application, as `park` says. The host
             ///< looks at the token. wake()
  };
  /// Which question is to be answered.
  struct Question {
    std::uint64_t connection = 0;
    std::uint32_t request = 0;
  };
  Kind kind = Kind::attached;
  std::uint32_t slot = any_slot;
  std::uint32_t pid = 0;
  Say say;
  std::string text;
  Spawn spawn{};
  Question question{};
  Reach reach{};
  Name name{};
  Move move{};
  AgreementVote vote{};
  Park park{};
  std::vector<PairProbe> probed{};  ///< by node; nothing of the own one
};

/// The driver of one node or one job: listens for applications, gives them their arenas, keeps the roster,
/// sees deaths. What it says on the socket is in docs/internals/driver-protocol.md.
///
/// An agent without a thread: its host waits for descriptor() to become readable (or only calls poll()) and
/// then calls poll(). Needs up to four descriptors for each slot, six in a job on several nodes. When the
/// process that holds it ends in any way, nothing is left once the applications have ended too.
class Driver {
 public:
  /// Errors: already_exists when another driver listens under this name; those of MemorySource::open_in().
  static Result<Driver> open(const DriverOptions& options);

  Driver(Driver&&) noexcept;
  Driver& operator=(Driver&&) noexcept;
  ~Driver();

  /// An epoll descriptor: readable when poll() has something to do. Stays the driver's.
  int descriptor() const;
  /// Does what there is to do, waiting for it at most `timeout` (negative: for ever), and says what happened.
  std::vector<DriverEvent> poll(std::chrono::milliseconds timeout);

  /// Whether log_directory lies in memory (tmpfs), so that it saves none.
  bool has_logs_in_memory() const;
  /// "llamada/<uid>/<name>", for Application::attach().
  const std::string& socket_name() const;

  // For the host of a job. A `slot` must be below slot_count(). A host that has collected a process before
  // poll() has seen its death may go on at once: expect(), next_incarnation() and the marks then do first
  // what the death would have done, and the events come with the next poll().

  /// Makes slots [0, count) with an arena each; those of other nodes are `expected`, and have none. Once,
  /// before anybody attaches. `identity[k]` is handed to the
  /// applications of slot k (key=value lines; may be empty). Errors: invalid_argument (nodes.of_slot has
  /// another count), out_of_resources, those of the system.
  Status create_slots(std::uint32_t count, std::vector<std::string> identities = {});
  /// `count` more, one behind the other: the first of them. Slots of added applications that are done, and
  /// whose arenas all others have let go of, are given out again. Errors: out_of_resources when there is not
  /// so much room, unsupported in a job on several nodes; then none is made.
  Result<std::uint32_t> add_slots(std::uint32_t count);
  /// Who has asked may be gone: then this does nothing.
  void answer_spawn(const DriverEvent::Question& question, const Spawned& spawned);
  /// The same.
  void answer_reach(const DriverEvent::Question& question, const Reached& reached);
  /// The process that was parked with this question may attach now, with these standard streams.
  void wake(const DriverEvent::Question& question, std::array<FileDescriptor, 3> streams);
  /// The same.
  void answer_inject(const DriverEvent::Question& question, const Injected& injected);
  /// The same.
  void answer_name(const DriverEvent::Question& question, const Named& named);
  /// The same.
  void answer_move(const DriverEvent::Question& question, const Moved& moved);
  /// The same.
  void answer_agree(const DriverEvent::Question& question, const Agreed& agreed);
  /// Who has been told that an agreement is not decided asks again.
  void ask_again();
  std::uint32_t slot_count() const;
  std::uint32_t slot_count_max() const;
  /// What every later incarnation of the slot is told.
  void set_identity(std::uint32_t slot, const std::string& identity);
  /// From now on an application with this token may attach to the slot, once, as this incarnation (1 is the
  /// first).
  void expect(std::uint32_t slot, std::uint64_t token, std::uint32_t incarnation);
  /// The number of the incarnation that is to replace a dead one; the arena stays. Then expect() it.
  std::uint32_t next_incarnation(std::uint32_t slot);
  /// For a process that died before it attached. Wakes everybody.
  void mark_dead(std::uint32_t slot);
  /// The slot's application has ended as it should, and its output is drained.
  void mark_done(std::uint32_t slot);
  /// The slot's application has died, and the others go on without it: so it stays. Of any node's slot.
  /// `with_node`: the slot's node is lost, whatever became of its application before. Wakes everybody.
  void mark_lost(std::uint32_t slot, bool with_node = false);
  /// All arenas together may use at most so many bytes for what is kept from now on, and not more than
  /// before.
  void limit_log(std::uint64_t size_bytes);
  /// Histories are no longer kept.
  void set_unprotected();
  /// The job is over for everybody.
  void set_ending();
  void wake_all();
  /// From now on what applications record belongs to this cut, in a job that makes any. A read of a journal
  /// behind this call misses nothing that an entry of an earlier cut, of whatever journal, follows from.
  void begin_cut(std::uint64_t number);
  /// Puts these entries into the journal with this key in the slot's arena, before anybody attaches there:
  /// the first application finds them as a predecessor's. Errors: not_found (the slot has no arena),
  /// invalid_argument (an application has attached, or an entry cannot be one), out_of_resources, those of
  /// the system.
  Status restore_journal(std::uint32_t slot, log::LogKey key, std::span<const log::JournalEntry> entries);
  /// Asks all applications what they wait for: each that waits answers in its arena, soon. Gives the number
  /// of the question.
  std::uint32_t raise_survey();

  SlotState state(std::uint32_t slot) const;
  std::uint32_t incarnation(std::uint32_t slot) const;
  /// The process that is attached, 0 for none.
  std::uint32_t pid(std::uint32_t slot) const;
  /// The header of the slot's arena, valid until the slot is freed or the driver ends.
  ArenaView view(std::uint32_t slot) const;

  // For the host of a job on several nodes (DriverOptions::nodes). Slots of other nodes have a state and an
  // incarnation, and nothing else: no arena, no bell, no process. Only set_remote() and what reads may be
  // called for them.

  /// What meet_nodes() of each node must be given of this one: bytes.
  std::string endpoints() const;
  /// Why this node has no raw Ethernet, though it may (JobNodes): a sentence without a full stop. Empty: as
  /// far as it knows it has.
  std::string why_no_ethernet() const;
  /// Asks the drivers of the other nodes by all links, from what endpoints() of each node says (empty:
  /// that one is left out), and answers them from then on. DriverEvent::Kind::probed follows. Once; it
  /// may be left out. Errors: parse_error, already_exists, invalid_argument (a driver of one node), those of
  /// the system.
  Status probe_nodes(std::span<const std::string> endpoints_of_nodes);
  /// Makes the book, which each application gets when it attaches, from what endpoints() of each node says,
  /// by node, and the sockets for these links. Once, before anybody attaches. Errors: parse_error,
  /// already_exists, invalid_argument (a driver of one node; a link that this node does not have), those of
  /// the system.
  Status meet_nodes(std::span<const std::string> endpoints_of_nodes, const LinkChoice& choice = {});
  /// More slots behind the others, by the node of each, in the same order on all nodes of the job; after
  /// meet_nodes(). Slots of this node get arenas and sockets. Gives what meet_slots() of each node must be
  /// given of this one. Errors: out_of_resources, those of the system, invalid_argument (a driver of one
  /// node); then the slots are there and stay free, so that the numbers are the same on all nodes.
  Result<std::string> add_slots_of_nodes(std::span<const std::uint32_t> nodes);
  /// The added slots of other nodes are `expected` from now on, and in the book that applications get. Before
  /// any of the added applications attaches. Errors: parse_error, invalid_argument, those of the system.
  Status meet_slots(std::span<const std::string> endpoints_of_nodes);
  /// Asks the drivers of the other nodes whether they can be reached: the nodes of which something has come
  /// since the last call. Nothing without probe_nodes().
  std::optional<std::vector<std::uint32_t>> ping_nodes();
  /// For a test: from now on this node takes no frames of these nodes; none: of all. After meet_nodes().
  /// Errors: unsupported (links of raw Ethernet), those of the system, invalid_argument (a driver of one
  /// node).
  Status stop_hearing(std::vector<std::uint32_t> nodes);
  /// Nobody will attach to these added slots: they are free from now on, and are not used again.
  void drop_slots(std::uint32_t first, std::uint32_t count);
  /// What has become of the application of a slot of another node. Wakes everybody. Nothing changes by an
  /// incarnation that is lower than the one that is known, or once the slot is done.
  void set_remote(std::uint32_t slot, SlotState state, std::uint32_t incarnation);
  /// Whether the slot belongs to another node.
  bool is_remote(std::uint32_t slot) const;
  /// How many frames from other nodes the driver has dropped so far, by the reason (log::drop_counter); empty
  /// before meet_nodes().
  std::vector<std::uint64_t> dropped_frames() const;

  // The driver as an application of its own: it has logs that applications follow, and follows theirs. Its
  // slot is `driver_slot`.

  /// The driver's own arena, made at the first call. An application finds it by Roster::meet_driver(). It
  /// goes with the driver, and the next driver begins with an empty one. Errors: out_of_resources, those of
  /// the system.
  Result<log::ArenaWriter*> arena();
  /// Maps the arena of a slot, so that the host can read its logs. The mapping is the host's, and what it
  /// shows stays there when the application has gone. Errors: not_found (the slot has no arena), those of the
  /// system.
  Result<MappedArena> map(std::uint32_t slot) const;
  /// To be called after a commit in the driver's arena that the application of `slot` may be waiting for. An
  /// application that has committed calls Application::wake_driver(), and poll() then gives Kind::woken.
  void wake(std::uint32_t slot);

  // For the host of a driver on demand.

  /// Applications that are attached.
  std::uint32_t application_count() const;
  /// Stops listening if nobody is connected or connecting; then true: the driver has nothing left to do.
  /// Whoever connects later finds no driver.
  bool close_if_idle();

 private:
  class Implementation;
  explicit Driver(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace llamada::llamanet
