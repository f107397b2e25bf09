#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "llamada/base/file_descriptor.hpp"
#include "llamada/base/result.hpp"
#include "llamada/llamanet/arena_view.hpp"
#include "llamada/llamanet/driver.hpp"
#include "llamada/llamanet/driver_page.hpp"
#include "llamada/llamanet/mapped_arena.hpp"
#include "llamada/llamanet/memory_source.hpp"
#include "llamada/llamanet/protocol.hpp"
#include "llamada/llamanet/shared_memory.hpp"

namespace llamada::llamanet {

/// What the driver holds for one slot.
struct DriverSlot {
  FileDescriptor arena;  // writable
  FileDescriptor event;
  MappedArena header;            // no more of it
  FileDescriptor process;        // pidfd of the application; none when nobody is attached or reserved
  std::uint64_t connection = 0;  // of the application; 0: none
  std::uint64_t token = 0;
  std::string name;
  std::string identity;
  std::uint32_t serial = 0;         // of the arena, also when it has been let go of
  std::set<std::uint32_t> holders;  // of an added slot: whose applications were given this arena, and have it
  bool is_added = false;            // of a world that was spawned: nobody takes its application's place
};

/// The roster: the driver's page and what stands behind each of its entries. The page's one writer. Each
/// change raises the generation; who must look at it is woken.
class DriverRoster {
 public:
  static Result<DriverRoster> create(const DriverOptions& options);

  std::uint32_t count() const;
  std::uint32_t count_max() const { return page_ref().slot_count_max; }
  DriverSlot& operator[](std::uint32_t index) { return slots_[index]; }
  const DriverSlot& operator[](std::uint32_t index) const { return slots_[index]; }
  const PageSlot& entry(std::uint32_t index) const { return page_slots(&page_ref())[index]; }
  SlotState state(std::uint32_t index) const;
  ArenaView view(std::uint32_t index) const;
  const MemorySource& memory() const { return memory_; }
  /// Of the slots' arenas: a directory on a disk, or memory().
  const MemorySource& arena_memory() const { return on_disk_ ? *on_disk_ : memory_; }
  bool is_on_disk() const { return on_disk_.has_value(); }
  int page_descriptor() const { return page_read_only_.get(); }
  std::uint64_t arena_size_bytes() const { return arena_size_bytes_; }
  std::uint32_t attached_count() const;
  /// How many slots add() cannot give out.
  std::uint32_t in_use() const;

  /// A slot that nobody uses, with a new arena. Errors: out_of_resources when there is none.
  Result<std::uint32_t> take();
  /// So many in a row, with new arenas: the first of them. They lie behind all others, or were those of
  /// applications that are done and whose arenas nobody holds any more. Errors: out_of_resources, and then
  /// there is none.
  Result<std::uint32_t> add(std::uint32_t count);
  /// The application of `holder` is given the arena of an added slot: nobody else gets that slot before it
  /// lets go of the arena with this serial number, or ends.
  void hold(std::uint32_t index, std::uint32_t holder);
  void let_go(std::uint32_t index, std::uint32_t serial, std::uint32_t holder);
  /// The next slot, for an application of another node: it has no arena. Errors: out_of_resources.
  Status add_remote(std::uint32_t node);
  /// More slots behind the others, of a job on several nodes, by the node of each. Those of the own node have
  /// arenas. Those of others are free until expect_remote(). Errors: out_of_resources, those of the system:
  /// then the slots are there, free and without arenas, and stay so.
  Status add_of_nodes(std::span<const std::uint32_t> nodes);
  /// The application of an added slot of another node can be reached from now on.
  void expect_remote(std::uint32_t index);
  bool is_remote(std::uint32_t index) const {
    return entry(index).node.load(std::memory_order_relaxed) != page_ref().node;
  }
  void set_remote(std::uint32_t index, SlotState state, std::uint32_t incarnation);

  void expect(std::uint32_t index, std::uint64_t token, std::uint32_t incarnation);
  std::uint32_t next_incarnation(std::uint32_t index);
  void attach(std::uint32_t index, std::uint32_t pid, FileDescriptor process, std::uint64_t connection);

  // For a driver that replaces one which has ended: driver_roster_takeover.cpp.

  /// The slot of the arena with this serial number.
  std::optional<std::uint32_t> find_arena(std::uint32_t serial) const;
  /// Keeps places for the applications of the predecessor that have not come yet, as `rejoin` lists them, and
  /// calls `watch` with the pidfd of each and its slot. Errors: out_of_resources, those of `watch`.
  Status take_over(const Rejoin& rejoin, const std::function<Status(int, std::uint32_t)>& watch);
  bool is_reserved(std::uint32_t index) const {
    return state(index) == SlotState::expected && slots_[index].process;
  }
  /// Puts an arena that an application of the predecessor has brought into its place, or a free one. Errors:
  /// already_exists (an application of this driver has the serial number), out_of_resources.
  Result<std::uint32_t> adopt(const Rejoin& brought, FileDescriptor arena, FileDescriptor event);

  /// Makes the file of the slot's arena as long as the arena.
  Status lengthen(std::uint32_t index);
  /// The application is gone and the arena stays.
  void leave(std::uint32_t index, SlotState state);
  /// The arena goes too.
  void free(std::uint32_t index);
  /// Closes the arenas and eventfds of added slots that are done: who has to do with those has mapped them
  /// before. Not while an answer that names slots waits to be sent.
  void let_go_of_done();
  /// What is kept may use at most so many bytes from now on, and not more than before.
  void limit_log(std::uint64_t size_bytes);
  void set_unprotected();
  /// Raises the generation: applications look anew.
  void announce();
  void set_ending();
  std::uint32_t raise_survey();
  void begin_cut(std::uint64_t number);
  const std::atomic<std::uint64_t>& cut() const { return page_ref().cut; }

  /// The driver has an arena of its own.
  void set_has_arena();

  void wake_all();
  /// Our commit before our look at its sleeping word.
  void wake(std::uint32_t index);

 private:
  DriverPage& page_ref() const { return *reinterpret_cast<DriverPage*>(page_.data()); }
  PageSlot& own_entry(std::uint32_t index) { return page_slots(&page_ref())[index]; }
  Result<std::uint32_t> make(std::uint32_t index);
  bool may_be_added(std::uint32_t index) const;
  void end_holder(std::uint32_t holder);
  Status furnish(std::uint32_t index);
  void add_free(std::uint32_t node);
  void set_state(std::uint32_t index, SlotState state);
  void publish();
  std::uint32_t next_serial();
  void continue_serials(std::uint32_t serial);
  Result<std::uint32_t> reserve(const RosterLine& line, FileDescriptor process);
  Result<std::uint32_t> free_slot(std::uint32_t wanted);

  MemorySource memory_;
  std::optional<MemorySource> on_disk_;  // DriverOptions::log_directory
  FileDescriptor page_read_only_;
  Mapping page_;
  std::vector<DriverSlot> slots_;
  std::uint64_t arena_size_bytes_ = 0;
  std::uint32_t arena_serial_ = 0;
  std::uint64_t roster_of_ns_ = 0;  // the predecessor's start whose roster was taken over; 0: none was
  bool on_demand_ = false;
  bool has_arenas_ = false;
};

}  // namespace llamada::llamanet
