#pragma once

#include <cstdint>

/// Signals from outside that the program handles, under rank_replacement REBUILD. The handler in the kernel
/// is ours: it only notes the signal. The program's handler is called at the next delivery point, which is
/// recorded: where an MPI call begins or waits, and in libc's functions that wait or change what is done
/// about signals. A replacement calls the handler at the same points. Signals that come while it replays
/// wait until it is live.
///
/// A signal that the process sends to itself is handled at once and not recorded: a replacement sends it
/// again. Signals that tell of the program's own faults (SIGSEGV, SIGPIPE, ...) are the kernel's business.
/// When no delivery point comes for a while, the handler is called where the program is, and the protection
/// of the job ends at the next delivery point.
///
/// docs/decisions/0022-signals.md. Threads: the rank's delivers; any may receive signals.
namespace llamada::mpi {
class CallCounter;

namespace interpose {

/// A delivery point in a function of libc, by the rank's thread. Whether a handler was called. errno stays.
bool was_signal_delivered();

/// Whether the program has a handler for a signal from outside: else no call can be interrupted.
bool are_signals_handled();

/// For MPI_Init: the calls of MPI are delivery points from now on. While `repeats` says that predecessors
/// came further, signals that come wait. It may be asked in a handler.
void deliver_signals_at(CallCounter& calls, bool (*repeats)());
/// A delivery point in an MPI call that waits.
void deliver_signals_in_call();

}  // namespace interpose
}  // namespace llamada::mpi
