#pragma once

#include "llamada/log/log_reader.hpp"
#include "llamada/log/log_writer.hpp"

namespace llamada::mpi::replay {

/// A log in the arena that a copy of the process has taken over.
struct ReopenedLog {
  log::LogWriter writer;
  log::LogReader since;  ///< what predecessors have published since the copy was made
};

/// `copied` is the writer as it was when the copy was made; `key` and `options` are those it was opened with.
/// Errors: as LogWriter::open() and position().
Result<ReopenedLog> reopen(log::ArenaWriter& arena, log::LogWriter& copied, log::LogKey key,
                           const log::LogOptions& options);

}  // namespace llamada::mpi::replay
