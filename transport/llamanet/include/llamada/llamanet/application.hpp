#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/llamanet/bell.hpp"
#include "llamada/llamanet/node_book.hpp"
#include "llamada/llamanet/own_arena.hpp"
#include "llamada/llamanet/protocol.hpp"
#include "llamada/llamanet/roster.hpp"
#include "llamada/llamanet/shared_memory.hpp"
#include "llamada/log/arena_writer.hpp"
#include "llamada/replication/link.hpp"

namespace llamada::llamanet {

class DriverConnection;
class NodeLinks;

struct ApplicationOptions {
  /// Driver::socket_name(); empty: the user's node driver.
  std::string socket_name;
  /// Which slot, and the proof that one is expected there; any_slot and 0 at a driver on demand.
  std::uint32_t slot = any_slot;
  std::uint64_t token = 0;
  /// Whose arenas are mapped at once: slots [first_peer, first_peer + peer_count). The others: by meet().
  /// any_slot: those of all.
  std::uint32_t first_peer = 0;
  std::uint32_t peer_count = any_slot;
  /// Whether the driver's own arena is mapped, too, if it has one: behind this application's and before those
  /// of its peers.
  bool follows_driver = false;
  /// For people, in `llamada ls`.
  std::string name;
  /// How many logs, cursors and endpoints there will be room for.
  log::ArenaOptions arena;
  /// Where there is no driver, one is started: it ends with its last application.
  bool start_driver = false;
  /// The llamanetd to start; empty: looked for beside this program and this library.
  std::string driver_program;
  /// The one to start where none lies there.
  std::string driver_elsewhere;
};

/// This process's place in llamaNET: its own arena, the roster with its peers' arenas, the bell by which it
/// waits and wakes, and the way to the driver.
///
/// Threads: one at a time, the application's; only wake() and wake_all() may be called from others too, and
/// one may sleep on the bell while another uses the rest. After a fork()
/// the child must not use it; destroying it there lets go of what belongs to the child and tells nobody.
class Application {
 public:
  /// Errors: closed (no driver listens there), permission_denied (it is another user's, or the token is
  /// wrong), already_exists (the slot's application has attached before), out_of_resources, parse_error (the
  /// predecessor's arena is damaged: the driver's host has been told).
  static Result<std::unique_ptr<Application>> attach(const ApplicationOptions& options);

  /// Leaves in order: says bye, unless leave_silently() was called.
  ~Application();
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;

  std::uint32_t slot() const { return roster_->own_slot(); }
  std::uint32_t incarnation() const { return incarnation_; }
  /// The resolved QoS profile and the identity that the driver's host gave.
  const std::string& profile() const { return profile_; }
  const std::string& identity() const { return identity_; }

  Roster& roster() { return *roster_; }
  const Roster& roster() const { return *roster_; }
  /// Where this application's logs, cursors and endpoints are.
  log::ArenaWriter& arena() { return own_->writer(); }
  OwnArena& own_arena() { return *own_; }
  Bell& bell() { return *bell_; }

  /// Where the ranks of a job on several nodes are; null: of a job on one node.
  const NodeBook* book() const;
  /// Asks the driver for the book as it is now, which takes the place of book(): only if there is one.
  /// Errors: those of the connection, parse_error.
  Status refresh_book();
  /// This rank's links to those of other nodes, which receive where the book says; only if there is a book.
  /// What comes by either ends a sleep on the bell, until it is received. Whoever sleeps gives the time at
  /// which something is due (Carrier::due()) as the limit of Bell::sleep().
  replication::Link& small_link();
  replication::Link& bulk_link();

  /// To be called after each commit that the application of `slot` may be waiting for. One load while it is
  /// awake.
  void wake(std::uint32_t slot) { bell_->wake(roster_->doorbell(slot)); }
  /// The same for the driver, if its arena is mapped (Roster::meet_driver()).
  void wake_driver() { bell_->wake(roster_->driver_doorbell()); }
  void wake_all() {
    bell_->order_commit_before_look();
    for (std::uint32_t slot = 0; slot < roster_->slot_count_max(); ++slot)
      bell_->wake_if_sleeping(roster_->doorbell(slot));
  }

  /// Memory that all applications of this driver which ask for `name` share for writing, mapped read-write.
  /// The first who asks makes it, zeroed; it is kept until all who have asked have called release_segment(),
  /// and an application that dies does not. Errors: invalid_argument (no bytes; another size than it has),
  /// out_of_resources, closed.
  Result<Mapping> shared_segment(std::uint64_t name, std::uint64_t size_bytes);
  /// This application needs it no longer. Its mapping may go before or after. Errors: closed.
  Status release_segment(std::uint64_t name);

  /// Tells the driver's host. Errors: closed.
  Status say(SayKind kind, std::int32_t code, std::string_view text);
  /// The same in two steps, of which a signal handler may take the second.
  std::vector<std::byte> prepare_say(SayKind kind, std::int32_t code, std::string_view text);
  Status say(std::span<const std::byte> prepared) const;
  /// Asks the driver's host for more applications, and waits until they are started. Errors: those of the
  /// connection, invalid_argument when the commands are too long for one message; why none was started is in
  /// the answer.
  Result<Spawned> spawn(const Spawn& spawn);
  /// Tells the driver's host where a replay stands, and waits until the host lets the application go on.
  /// Errors: those of the connection.
  Result<Reached> reach(const Reach& reach);
  /// Publishes, withdraws or looks up a name.
  Result<Named> name(const Name& name);
  /// Of a job on several nodes: reads or moves a number that applications share.
  Result<Moved> move(const Move& move);
  /// Votes in an agreement, or asks again. Errors: those of the connection, unsupported (a driver on demand).
  Result<Agreed> agree(const AgreementVote& vote);
  /// Whether the driver is still there. No wait. Errors: closed.
  Status check_driver();
  /// A descriptor of this object that is no longer open, or is another file's by now: the program has closed
  /// it. -1: there is none.
  int closed_descriptor() const;

  /// Whether this application goes on without its driver, until another one comes: it starts drivers on
  /// demand.
  bool rejoins() const { return options_.start_driver; }
  /// It is without one: lose_driver() or check_driver() found that. A sleep then takes no notice of drivers.
  bool is_alone() const;
  void lose_driver();
  /// Joins the driver that replaces the one which has ended, with the same arena and its number, and starts
  /// it if need be. Peers that join it, too, or have not come yet, stay what they are, but perhaps in other
  /// slots: the new slot of each old one; empty: all have theirs. Then Roster::refresh(). Errors: those of
  /// attach(); already_exists, unsupported, parse_error: this driver will never take the application.
  Result<std::vector<std::uint32_t>> rejoin(bool may_start_driver = true);

  // A standby: a copy of this process, made by fork() while it had no other thread, that may become the
  // application's successor.

  /// In the child of the fork(): connects to the driver by itself, and waits there until it is to be the
  /// successor of the application that has been forked at the end of this call of MPI. Gives the standard
  /// streams. Errors: closed (it is of no use any more), those of the connection.
  Result<std::vector<FileDescriptor>> park(std::uint64_t call);
  /// Then: attaches with the arena as the predecessor left it, of which all that was made in it is to be
  /// opened again. Errors: as attach().
  Status take_over();

  /// In the child of a fork(), at once: from now on its writes to the arena are its own.
  void seal_in_child() { own_->seal(); }

  /// The destructor will not say bye: the process's end is what the driver is to see (a rank's way to end).
  void leave_silently() { silent_ = true; }
  /// Says bye now: nothing of this object may be used any more, and how the process ends is no longer the
  /// driver's to see. Errors: closed.
  Status leave();

 private:
  Application();
  bool is_child_of_fork() const;
  void guard_against_fork();
  void forget_forks();
  static Result<std::unique_ptr<Application>> attach_to(const ApplicationOptions& options);
  Status shake_hands(const ApplicationOptions& options);
  Status open_arena(const ApplicationOptions& options, FileDescriptor file);
  Result<std::vector<std::uint32_t>> rejoin_at(const std::string& socket_name);
  Rejoin roster_of_old_driver() const;

  ApplicationOptions options_;
  std::int32_t owner_pid_ = 0;
  bool silent_ = true;  // until there is something to leave
  std::uint32_t incarnation_ = 0;
  std::string profile_;
  std::string identity_;
  // Each from shake_hands() on, and none without those before it.
  std::unique_ptr<DriverConnection> driver_;
  std::optional<Roster> roster_;
  std::unique_ptr<OwnArena> own_;
  std::unique_ptr<NodeLinks> links_;  // only of a job on several nodes; outlives the bell
  std::optional<Bell> bell_;
};

}  // namespace llamada::llamanet
