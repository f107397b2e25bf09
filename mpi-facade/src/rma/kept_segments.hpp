#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "object/group.hpp"
#include "rma/control.hpp"
#include "world/world.hpp"

namespace llamada::mpi::rma {

/// A window's segment, by the name under which the ranks share it.
struct WindowSegment {
  /// For what windows it has room: behind the same kind of control any amount of memory, or none.
  enum class Kind : std::uint8_t {
    plain,    ///< the memory is the program's; all members reach each other's
    dynamic,  ///< the same, with Control::Regions
    memory,   ///< behind the control there is memory of the members
  };

  std::uint64_t name = 0;
  Kind kind = Kind::plain;
  SharedSegment memory;

  Control control(const Group& group) const {
    return {memory.data(), static_cast<std::size_t>(group.size())};
  }
};

/// The segments of windows that all members have freed, for the next windows of the same ranks: a new segment
/// takes an answer of llamanetd, a file and its pages. Each rank keeps its own list; that all have kept the
/// same, they tell each other when they make a window. What is kept is mapped, and held with the driver, as a
/// window's is: a rank that dies, and MPI_Finalize, let go of it in the same way.
///
/// Threads: as of Runtime.
class KeptSegments {
 public:
  static constexpr std::size_t count_max = 16;
  /// Larger ones go back to the system: to clear them takes longer than to make new ones, or they take too
  /// much from others while nobody uses them.
  static constexpr std::size_t segment_bytes_max = 4 * 1024 * 1024, all_bytes_max = 2 * segment_bytes_max;

  /// What this rank has written, or others have for it, is made zero before the segment is handed out again:
  /// its words of the control, and `own` memory behind it. Everybody has done with all of the segment. Those
  /// that were kept first go where there are too many.
  void keep(Reference<Group> group, WindowSegment segment, std::span<std::byte> own);
  /// The one that was kept last for these ranks, in this order; cleared, as far as it is this rank's. Others'
  /// parts are clean when they have taken it, too.
  std::optional<WindowSegment> take(const Group& group, WindowSegment::Kind kind);

  std::size_t count() const { return entries_.size(); }

 private:
  struct Entry {
    Reference<Group> group;
    WindowSegment segment;
    std::span<std::byte> own;
  };
  std::size_t bytes() const;

  std::deque<Entry> entries_;  ///< oldest first
};

}  // namespace llamada::mpi::rma
