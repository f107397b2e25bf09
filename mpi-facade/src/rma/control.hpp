#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>

#include "rma/lock_words.hpp"

namespace llamada::mpi::rma {

/// What a window's members share beside the memory that it shows: a view of the first bytes of its segment.
///
///   0                      Head
///   64                     n Members, one for each rank of the window
///   behind                 n * n PairCounters: [target * n + origin]
///   behind, dynamic only   n * Regions
///   at the next page       the memory of MPI_Win_allocate(_shared)
///
/// Zeroed memory is a control of which nobody has used anything.
class Control {
 public:
  struct alignas(64) Head {
    Meeting fence;
  };
  /// Each word has one purpose and is of one rank; the two locks are on lines of their own.
  struct Member {
    alignas(64) AccumulateLock accumulate;
    alignas(64) TargetLock lock;
    /// This member waits for somebody's lock: written by it, before it looks for the last time.
    std::atomic<std::uint32_t> waits{0};
  };
  /// The memory that one member has attached to a dynamic window. Written by it alone: `version` is odd while
  /// it does. Who attaches more than there is room for is not checked any more.
  struct Regions {
    static constexpr std::size_t count_max = 510;
    struct Region {
      std::atomic<std::uint64_t> begin{0};
      std::atomic<std::uint64_t> end{0};
    };
    std::atomic<std::uint64_t> version{0};
    std::atomic<std::uint32_t> count{0};
    std::atomic<std::uint32_t> unchecked{0};
    Region regions[count_max];
  };

  Control() = default;
  Control(std::byte* memory, std::size_t members) : memory_(memory), members_(members) {}

  /// Without the memory behind it; a multiple of the page.
  static std::size_t size_bytes(std::size_t members, bool dynamic);

  /// Makes zero what is this rank's, and the counters of those who access it: as in new memory. Nobody uses
  /// them; who is to use them hears of it afterwards. The head stays: members may still find its meeting
  /// open.
  void clear(std::size_t rank, bool dynamic) const;

  Head& head() const { return *reinterpret_cast<Head*>(memory_); }
  Member& member(std::size_t rank) const { return reinterpret_cast<Member*>(memory_ + sizeof(Head))[rank]; }
  PairCounters& pair(std::size_t target, std::size_t origin) const {
    return reinterpret_cast<PairCounters*>(memory_ + pairs_offset(members_))[target * members_ + origin];
  }
  Regions& regions(std::size_t rank) const {
    return reinterpret_cast<Regions*>(memory_ + regions_offset(members_))[rank];
  }

 private:
  static std::size_t pairs_offset(std::size_t members) { return sizeof(Head) + members * sizeof(Member); }
  static std::size_t regions_offset(std::size_t members);

  std::byte* memory_ = nullptr;
  std::size_t members_ = 0;
};

/// What a rank has attached, as it keeps it itself, and tells the others (MPI 3.1, 11.2.4).
/// False: it overlaps with what is attached.
bool attach(Control::Regions& regions, std::uint64_t begin, std::uint64_t size_bytes);
/// False: nothing that begins there is attached.
bool detach(Control::Regions& regions, std::uint64_t begin);
/// Whether all of [begin, begin + size) is attached; true when nobody can tell.
bool is_attached(const Control::Regions& regions, std::uint64_t begin, std::uint64_t size_bytes);

}  // namespace llamada::mpi::rma
