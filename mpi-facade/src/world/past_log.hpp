#pragma once

#include <cstdint>

namespace llamada::mpi {

/// What this process wrote before it passed a checkpoint, with whatever refers to it: others may still read
/// it, until all ranks have passed.
///
/// Threads: the rank's MPI thread.
class PastLog {
 public:
  virtual ~PastLog() = default;
  /// Behind which checkpoint it was written.
  virtual std::uint32_t checkpoint() const = 0;
  /// Gives back all of its memory, here and on other nodes: nobody reads it any more.
  virtual void discard() = 0;
};

}  // namespace llamada::mpi
