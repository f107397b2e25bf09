#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "llamada/base/crash_point.hpp"
#include "llamada/base/kept_descriptor.hpp"
#include "llamada/base/result.hpp"
#include "llamada/llamanet/driver_page.hpp"
#include "llamada/llamanet/protocol.hpp"
#include "llamada/llamanet/shared_memory.hpp"
#include "llamada/log/arena_writer.hpp"

namespace llamada::llamanet {

class ArenaMemory;

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

/// This process's place in llamaNET: its own arena, its peers' arenas, waiting and waking, and the way to the
/// driver.
///
/// Threads: one at a time, the application's; only wake() and wake_all() may be called from others too, and
/// one may sleep() while another uses the rest. After a fork()
/// the child must not use it; destroying it there lets go of what belongs to the child and tells nobody.
class Application {
 public:
  /// No sleep is longer without a look around.
  static constexpr std::chrono::milliseconds nap_max{100};

  /// Errors: closed (no driver listens there), permission_denied (it is another user's, or the token is
  /// wrong), already_exists (the slot's application has attached before), out_of_resources, parse_error (the
  /// predecessor's arena is damaged: the driver's host has been told).
  static Result<std::unique_ptr<Application>> attach(const ApplicationOptions& options);

  /// Leaves in order: says bye, unless leave_silently() was called.
  ~Application();
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;

  std::uint32_t slot() const { return slot_; }
  std::uint32_t incarnation() const { return incarnation_; }
  /// The resolved QoS profile and the identity that the driver's host gave.
  const std::string& profile() const { return profile_; }
  const std::string& identity() const { return identity_; }
  log::ArenaWriter& arena() { return *arena_; }

  /// The roster. Stays mapped while the Application lives.
  const DriverPage& page() const { return *reinterpret_cast<const DriverPage*>(page_.data()); }
  std::uint32_t slot_count() const { return page().slot_count.load(std::memory_order_acquire); }
  std::uint32_t slot_count_max() const { return static_cast<std::uint32_t>(peers_.size()); }
  const PageSlot& page_slot(std::uint32_t slot) const { return page_slots(&page())[slot]; }
  SlotState slot_state(std::uint32_t slot) const {
    return static_cast<SlotState>(page_slot(slot).state.load(std::memory_order_acquire));
  }
  /// Pairs with the driver's release store: what the roster says is at least this new.
  std::uint64_t generation() const { return page().generation.load(std::memory_order_acquire); }
  bool is_protected() const { return page().is_protected.load(std::memory_order_acquire) != 0; }
  /// A descriptor of this object that is no longer open, or is another file's by now: the program has closed
  /// it. -1: there is none.
  int closed_descriptor() const;
  bool is_ending() const { return page().ending.load(std::memory_order_acquire) != 0; }

  /// The arena of a slot, read-only; nothing when the slot had none at the last refresh().
  log::PeerArena peer(std::uint32_t slot) const;
  /// Which arena that is: no two that the driver ever made share a number. 0: none.
  std::uint32_t peer_arena(std::uint32_t slot) const { return peers_[slot].arena; }
  /// Maps arenas that have come since, unmaps none, and closes the eventfds of applications that are done.
  /// True when an arena has come or gone. Errors: closed (the driver is gone).
  Result<bool> refresh();
  /// Maps the arena of this slot, if it has one and none is mapped. Errors: closed.
  Status meet(std::uint32_t slot);
  /// Unmaps the arena of this slot, in which no reader may stand any more, and tells the driver, which gives
  /// the slot to nobody before. Nothing if none is mapped. Errors: closed.
  Status part(std::uint32_t slot);
  /// Unmaps the arenas that refresh() has replaced or found gone. No reader may stand in them any more.
  void release_replaced() { replaced_.clear(); }

  /// To be called after each commit that the application of `slot` may be waiting for. One load while it is
  /// awake.
  void wake(std::uint32_t slot) {
    order_commit_before_look();
    wake_if_sleeping(slot);
  }
  /// This application's own sleep ends. Any thread.
  void wake_self() {
    order_commit_before_look();
    if (arena_->header().sleeping.load(std::memory_order_relaxed) != 0) ring(event_.get());
  }
  void wake_all() {
    order_commit_before_look();
    for (std::uint32_t slot = 0; slot < peers_.size(); ++slot) wake_if_sleeping(slot);
  }

  /// Makes some of the memory that the arena grows into next, for as long as it is not far ahead: what an
  /// application that has to wait may do meanwhile. Takes some microseconds.
  void prepare_ahead();

  /// Makes and maps the next `size_bytes` that the arena grows into, or all that it may grow. Takes 40 µs for
  /// 1 MiB, and ten times that on a virtual machine whose host has to find it. Errors: out_of_resources
  /// (there is not so much memory).
  Status prepare_next(std::uint64_t size_bytes);

  /// Whether whoever commits must fence before the look at a sleeping flag: where membarrier is refused.
  bool needs_fence() const { return needs_fence_; }

  /// Sleeps until somebody wakes this application or something changed in the roster, at most nap_max or
  /// `at_most`. `look_again` is called once the sleeping flag can be seen by all; when it returns true there
  /// is no sleep. Errors: closed (the driver is gone: an application of a job has to end).
  ///
  /// WakersBy::fence: all who wake this application go by full fences between their commits and wake(). Else
  /// it is the sleeper who makes them all pass one (membarrier), which interrupts every core that runs one of
  /// them.
  enum class WakersBy { look, fence };
  Status sleep(const std::function<bool()>& look_again, std::chrono::nanoseconds at_most = nap_max,
               WakersBy wakers_by = WakersBy::look);

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
  Status say(const std::vector<std::byte>& prepared) const;
  /// Asks the driver's host for more applications, and waits until they are started. Errors: those of the
  /// connection, invalid_argument when the commands are too long for one message; why none was started is in
  /// the answer.
  Result<Spawned> spawn(const Spawn& spawn);
  /// Tells the driver's host where a replay stands, and waits until the host lets the application go on.
  /// Errors: those of the connection.
  Status reach(const Reach& reach);
  /// Publishes, withdraws or looks up a name.
  Result<Named> name(const Name& name);
  /// Whether the driver is still there. No wait. Errors: closed.
  Status check_driver();

  /// Whether this application goes on without its driver, until another one comes: it starts drivers on
  /// demand.
  bool rejoins() const { return options_.start_driver; }
  /// It is without one: lose_driver() or check_driver() found that. sleep() then takes no notice of drivers.
  bool is_alone() const { return rejoins() && driver_lost_.load(std::memory_order_relaxed); }
  void lose_driver() { driver_lost_.store(true, std::memory_order_relaxed); }
  /// Joins the driver that replaces the one which has ended, with the same arena and its number, and starts
  /// it if need be. Peers that join it, too, or have not come yet, stay what they are, but perhaps in other
  /// slots: the new slot of each old one; empty: all have theirs. Then refresh(). Errors: those of attach();
  /// already_exists, unsupported, parse_error: this driver will never take the application.
  Result<std::vector<std::uint32_t>> rejoin(bool may_start_driver = true);

  /// In the child of a fork(), at once: from now on its writes to the arena are its own.
  void seal_in_child();

  /// The destructor will not say bye: the process's end is what the driver is to see (a rank's way to end).
  void leave_silently() { silent_ = true; }

 private:
  // One slot as this application sees it.
  struct PeerSlot {
    const log::ArenaHeader* header = nullptr;
    std::uint32_t arena = 0;
    std::uint64_t file_bytes = 0;  // when it was mapped; a file never gets shorter
    Mapping mapping;
    KeptDescriptor event;
  };

  Application();
  bool is_child_of_fork() const;
  void guard_against_fork();
  void forget_forks();
  static Result<std::unique_ptr<Application>> attach_to(const ApplicationOptions& options);
  Status shake_hands(const ApplicationOptions& options);
  Status open_arena(const ApplicationOptions& options, const Attached& attached, FileDescriptor arena);
  template <typename Answer, typename Question>
  Result<Answer> ask_driver(const Question& question);
  Status map_first_peers(const ApplicationOptions& options);
  Status map_peers(std::uint32_t first, std::uint32_t count, bool& changed);
  Status map_peer(std::uint32_t slot, const Peer& peer, FileDescriptor arena, FileDescriptor event);
  void replace_peer(std::uint32_t slot, PeerSlot by);
  Status nap(std::chrono::nanoseconds at_most);
  Result<std::vector<std::uint32_t>> rejoin_at(const std::string& socket_name);
  Rejoin roster_of_old_driver() const;
  std::vector<std::uint32_t> follow_peers();
  bool may_grow(std::uint64_t more_bytes);
  std::uint64_t live_bytes_of_all() const;

  // Our commit before our look at `sleeping`: the sleeper's membarrier orders the two, if the compiler does
  // not.
  void order_commit_before_look() const {
    if (needs_fence_)
      std::atomic_thread_fence(std::memory_order_seq_cst);
    else
      std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  void wake_if_sleeping(std::uint32_t slot) {
    auto* header = peers_[slot].header;
    // Relaxed: see order_commit_before_look().
    if (header != nullptr && header->sleeping.load(std::memory_order_relaxed) != 0) ring_peer(slot);
  }
  void ring_peer(std::uint32_t slot);

  ApplicationOptions options_;
  std::atomic<bool> driver_lost_{false};
  KeptDescriptor driver_;
  std::mutex driver_mutex_;  // while an answer is on its way, or it is seen whether there is one
  KeptDescriptor event_;
  Mapping page_;
  std::unique_ptr<ArenaMemory> memory_;
  std::vector<PeerSlot> peers_;  // slot_count_max of them: moved by rejoin() only
  std::vector<PeerSlot> replaced_;
  std::uint32_t slot_ = 0;
  std::uint32_t incarnation_ = 0;
  std::uint32_t request_ = 0;
  std::int32_t owner_pid_ = 0;
  bool needs_fence_ = false;
  bool silent_ = false;
  std::string profile_;
  std::string identity_;
  std::uint64_t seen_generation_ = 0;
  std::unique_ptr<log::ArenaWriter> arena_;
};

}  // namespace llamada::llamanet
