#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "llamada/qos/liveliness.hpp"

namespace llamada::launcher {

/// What one look at a rank's process shows. Plain values, so that tests can say anything.
struct LifeSign {
  enum class State {
    asleep,    ///< it waits in the kernel: it lives, however long that takes
    runnable,  ///< one of its threads runs, or wants to
    stopped,   ///< by SIGSTOP or another stop signal
    frozen,    ///< its control group is
  };
  std::int32_t pid = 0;  ///< another one: a new process, whose lease begins anew
  State state = State::asleep;
  std::uint64_t progress = 0;    ///< changes whenever one of its threads has had a processor
  std::int32_t tracer = 0;       ///< the debugger that is attached to it; 0: none
  bool outside_mpi = false;      ///< between MPI_Init and MPI_Finalize, and in no MPI call
  std::uint64_t call_index = 0;  ///< MPI calls begun
};

/// How a rank has shown no sign of life.
enum class Silence : std::uint8_t { stopped, frozen, starved, outside_mpi };

/// What a look has found.
struct LeaseFinding {
  enum class Kind : std::uint8_t {
    over,       ///< the rank has been silent for the whole lease: it counts as dead. Once for each process
    debugger,   ///< a debugger is attached, so its lease is suspended. Once for each process
    lingering,  ///< its lease was over a whole lease ago, and the process is still there. Once for each
                ///< process
  };
  Kind kind = Kind::over;
  Silence silence = Silence::stopped;  ///< of over and lingering
  std::int64_t silent_for_ns = 0;      ///< of over
  std::int32_t tracer = 0;             ///< of debugger
  bool operator==(const LeaseFinding&) const = default;
};

/// What of the time between two looks counts: at most two intervals. When the observer itself was stopped,
/// frozen or late, nobody else is to blame.
constexpr std::chrono::nanoseconds counted(std::chrono::nanoseconds elapsed,
                                           std::chrono::nanoseconds interval) {
  return std::min(elapsed, 2 * interval);
}

/// The LIVELINESS leases of a job's ranks on one node (DDS 1.4, 2.2.3.11), as a pure state machine: looks
/// and the time in, findings out.
///
/// AUTOMATIC: a process that has been stopped, frozen, or runnable without a processor for a whole lease is
/// dead. One that sleeps in the kernel (a read(), a nanosleep(), a wait in MPI) lives. MANUAL_BY_PARTICIPANT:
/// the same, and one that was outside MPI for a whole lease.
///
/// Time counts from the first look that shows the silence to the last, so a rank that was silent for less
/// than its lease is never found. Between two looks at most two intervals count: when the observer itself was
/// stopped, frozen or late, all leases move by what it missed.
class Leases {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// `policy.lease_duration` is not infinite.
  explicit Leases(const qos::Liveliness& policy);

  /// How often to look: a tenth of the lease, and at most once a second.
  std::chrono::nanoseconds look_interval() const;

  /// A look at all ranks begins; see() follows for each. `held`: the whole job is suspended, so the time
  /// since the last look counts for nobody.
  void begin_look(TimePoint now, bool held);
  std::optional<LeaseFinding> see(std::uint32_t slot, const LifeSign& sign);

 private:
  struct Lease {
    LifeSign last;
    std::chrono::nanoseconds still{0};    ///< without a processor
    std::chrono::nanoseconds outside{0};  ///< of MPI
    std::optional<Silence> over;
    std::chrono::nanoseconds since_over{0};
    bool lingering_told = false;
    bool debugger_told = false;
  };

  std::optional<LeaseFinding> judge(Lease& lease) const;
  std::optional<LeaseFinding> look_at_dead(Lease& lease) const;

  qos::Liveliness policy_;
  std::optional<TimePoint> last_look_;
  std::chrono::nanoseconds elapsed_{0};  ///< since the last look, as far as it counts
  std::map<std::uint32_t, Lease> leases_;
};

/// "was stopped for 1.1 s, longer than the LIVELINESS lease of 1 s".
std::string describe_silence(const LeaseFinding& finding, std::chrono::nanoseconds lease);

}  // namespace llamada::launcher
