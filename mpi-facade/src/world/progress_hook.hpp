#pragma once

#include "llamada/log/arena_layout.hpp"

namespace llamada::mpi {

/// What is carried forward whenever a rank makes progress or looks for a message: a link to ranks that share
/// no memory with this one.
///
/// Threads: the engine's.
class ProgressHook {
 public:
  /// Never waits. True when something was done that others may build on.
  virtual bool carry() = 0;
  /// Whether the rank is in a call that waits, and so answers at once.
  virtual void set_waiting(bool /*waits*/) {}

  // The ends of logs that cross the link, if their key is that of a log which keeps nothing for replacements.

  /// This rank will read nothing more of that rank's log: the copy is discarded, and so is this rank's
  /// cursor.
  virtual void stop_reading(int /*world_rank*/, log::LogKey /*key*/) {}
  /// Whether that rank may still read this rank's log.
  virtual bool is_read_by(int /*world_rank*/, log::LogKey /*key*/) { return false; }
  /// This rank has discarded its log, which nobody reads any more.
  virtual void withdraw(log::LogKey /*key*/) {}

 protected:
  ~ProgressHook() = default;
};

}  // namespace llamada::mpi
