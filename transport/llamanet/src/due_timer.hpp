#pragma once

#include "llamada/base/file_descriptor.hpp"
#include "llamada/base/result.hpp"
#include "llamada/replication/session.hpp"

namespace llamada::llamanet {

/// A descriptor that is readable from a moment on.
class DueTimer {
 public:
  /// Errors: system.
  static Result<DueTimer> open();
  int descriptor() const { return timer_.get(); }
  /// It is not readable any more until it is set.
  void clear() const;
  /// `due`: replication::never stops it.
  void set(replication::Time due, replication::Time now) const;

 private:
  FileDescriptor timer_;
};

}  // namespace llamada::llamanet
