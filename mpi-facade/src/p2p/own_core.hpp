#pragma once

#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <type_traits>

#include "llamada/base/clock.hpp"
#include "world/world.hpp"

namespace llamada::mpi {

/// What the facade keeps in the user area of a rank's arena.
struct RankArea {
  std::atomic<std::uint32_t> core;  // relaxed: 1 + the core that the rank was on when it last waited long
};
static_assert(sizeof(RankArea) == 4 && std::is_standard_layout_v<RankArea>);

/// Keeps the ranks of a job that has a core for each of them on different ones. Where more than they want to
/// run, the system now and then puts two on one core beside somebody who has another to himself, and leaves
/// it at that; the two then take turns at each message. So whoever is about to wait, and finds another where
/// it is itself, moves. Only the ranks of the same MPI_COMM_WORLD are looked at.
///
/// On which cores the thread may run is afterwards as it was. Whoever is bound to fewer than there are ranks
/// is not moved.
///
/// Threads: the rank's.
class OwnCore {
 public:
  /// Both are borrowed.
  OwnCore(World& world, const Clock& clock) : world_(world), clock_(clock) {}

  /// Before a wait that is not short: says where this rank runs, and if another was last seen there, moves to
  /// a core where none was. A tenth of a microsecond; now and then a look at each of the others; some
  /// microseconds to move.
  void settle();

  /// The first core after `here` (core 0 follows the last) that is in `allowed` and not in `taken`; -1: none.
  static int next_free(int here, const cpu_set_t& allowed, const cpu_set_t& taken);

 private:
  bool is_time_to_look();
  void look_at_others();
  void say(int core);
  void move_from(int here, const cpu_set_t& taken);

  /// Times the number of ranks: a look at each takes a tenth of a microsecond.
  static constexpr std::chrono::microseconds between_looks{100};

  World& world_;
  const Clock& clock_;
  int said_ = -1;
  std::chrono::nanoseconds next_look_{};
};

}  // namespace llamada::mpi
