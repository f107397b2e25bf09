#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "llamada/base/file_descriptor.hpp"
#include "llamada/base/result.hpp"
#include "llamada/llamanet/arena_view.hpp"
#include "llamada/llamanet/mapped_arena.hpp"
#include "llamada/llamanet/mapped_page.hpp"
#include "llamada/log/peer_arena.hpp"

namespace llamada::llamanet {

/// One driver and all of its arenas, read-only, at the time of open() or the last refresh(): for tools.
/// Disturbs nobody.
///
/// Threads: one at a time.
class Inspector {
 public:
  struct Slot {
    std::uint32_t index = 0;
    SlotState state = SlotState::free;
    std::uint32_t incarnation = 0;
    std::uint32_t pid = 0;
    std::uint32_t deaths = 0;
    std::uint32_t arena_id = 0;  // PageSlot::arena
    // Where it runs, if that is another node of the job: then the slot has no arena and no pid.
    std::optional<std::uint32_t> other_node;
    // Null when the slot has no arena. It stays mapped as long as anybody keeps it.
    std::shared_ptr<const MappedArena> arena;

    log::PeerArena peer() const { return arena ? arena->reading() : log::PeerArena{}; }
    ArenaView view() const { return arena ? arena->view() : ArenaView(); }
  };

  static constexpr std::chrono::milliseconds usual_patience = std::chrono::seconds(5);
  /// Errors: closed (no driver listens there), permission_denied, timeout (the driver has not answered within
  /// the `patience`, as one that is stopped), parse_error (its page is none that this version knows).
  static Result<Inspector> open(const std::string& socket_name,
                                std::chrono::milliseconds patience = usual_patience);

  /// Asks all applications what they wait for: each that waits answers in its arena, soon. Gives the number
  /// of the question. Errors: closed.
  Result<std::uint32_t> raise_survey();

  const std::string& name() const { return name_; }
  const std::string& profile() const { return profile_; }
  std::uint32_t pid() const { return pid_; }
  bool is_protected() const { return page_->is_protected.load(std::memory_order_relaxed) != 0; }
  std::uint64_t log_bytes_max() const { return page_->log_bytes_max.load(std::memory_order_relaxed); }
  /// The slots that are not free, in their order.
  const std::vector<Slot>& slots() const { return slots_; }

  /// Another number after each change of the roster: one load. Acquire: what slots() says after a refresh()
  /// is at least this new.
  std::uint64_t generation() const { return page_->generation.load(std::memory_order_acquire); }
  /// Looks at all slots again; the driver is asked only if there are arenas that are not mapped yet. A slot
  /// whose arena is the same keeps its mapping. Errors, after which slots() is new but for such arenas:
  /// closed (the driver has ended), timeout, parse_error.
  Status refresh();
  /// Whether the driver has ended, or has cut the connection. Its arenas stay mapped.
  bool has_ended() const;

 private:
  Status look_at(const std::string& socket_name, std::chrono::milliseconds patience);
  Slot read_slot(std::uint32_t index) const;
  Status map_all(std::uint32_t slot_count, std::vector<Slot>& into);
  Status map_slots(std::uint32_t first, std::uint32_t count, std::vector<Slot>& into);
  std::shared_ptr<const MappedArena> known(std::uint32_t index, std::uint32_t arena_id) const;
  Error late() const;

  FileDescriptor driver_;
  MappedPage page_;
  std::string name_;
  std::string profile_;
  std::uint32_t pid_ = 0;
  std::chrono::milliseconds patience_{};
  std::vector<Slot> slots_;
};

/// Names that look like a user's drivers, and are sockets of other users.
struct ForeignNames {
  std::size_t count = 0;
  std::set<std::uint32_t> owners;

  void add(std::uint32_t owner) {
    ++count;
    owners.insert(owner);
  }
};

struct FoundDrivers {
  std::vector<std::string> names;  ///< of their sockets, sorted
  ForeignNames foreign;            ///< left out; they stay among the names where the kernel tells no owners
};

/// All drivers of a user in the environment's name space that listen now. Errors: invalid_argument (the name
/// space), unsupported (sockets cannot be listed).
Result<FoundDrivers> find_drivers(std::uint32_t uid);
/// The users other than `uid` whose node's driver listens now, in the same name space: this user's
/// participants never meet theirs. Errors: as find_drivers().
Result<std::set<std::uint32_t>> other_users_with_drivers(std::uint32_t uid);
/// The socket name of the driver of the job that this mpirun has started. Errors: not_found, those above.
Result<std::string> find_job_driver(std::uint32_t uid, std::int32_t mpirun_pid);
/// The same of all nodes of that job that are on this machine. Errors: those above but not_found.
Result<std::vector<std::string>> find_job_drivers(std::uint32_t uid, std::int32_t mpirun_pid);

}  // namespace llamada::llamanet
