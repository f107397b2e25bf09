#pragma once

namespace llamada::launcher {

// What mpirun's own verdicts look like to the shell that started it (docs/mpirun.md). Everything else is the
// job's: the first non-zero exit code of a rank, or 128 + the signal that ended one.
inline constexpr int exit_deadlock = 119;  ///< ranks that can never go on, with --on-deadlock end
inline constexpr int exit_output = 120;    ///< output, an output file or the report could not be written
inline constexpr int exit_damaged = 121;   ///< a rank has written over its arena, by a wild pointer
inline constexpr int exit_diverged = 122;  ///< a replacement did not repeat what its predecessor had done
inline constexpr int exit_unprotected =
    123;  ///< histories no longer fit log_bytes_per_node, and on_unprotected is STOP
inline constexpr int exit_timeout = 124;   ///< --timeout
inline constexpr int exit_launcher = 125;  ///< mpirun's own failure: options, llamanetd or the guardian lost
inline constexpr int exit_not_executable = 126;  ///< the program is there and cannot be run
inline constexpr int exit_not_found = 127;       ///< there is no such program
inline constexpr int exit_signal_base = 128;

}  // namespace llamada::launcher
