#pragma once

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

 protected:
  ~ProgressHook() = default;
};

}  // namespace llamada::mpi
