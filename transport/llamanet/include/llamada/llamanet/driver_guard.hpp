#pragma once

#include <string>

#include "llamada/base/file_descriptor.hpp"
#include "llamada/base/result.hpp"

namespace llamada::llamanet {

/// While it stands, the kernel kills this process (SIGKILL) as soon as the driver is dead: also one that
/// computes and never asks. For ranks that are no children of their driver's. It is a connection of its own,
/// on which nobody says anything, and whose signal for input (F_SETSIG) is SIGKILL.
///
/// Threads: any one.
class DriverGuard {
 public:
  /// Errors: closed (the driver has ended), those of the system.
  static Result<DriverGuard> raise(const std::string& socket_name);
  /// From now on the driver may end. The destructor does the same.
  void lift() { connection_.reset(); }

 private:
  explicit DriverGuard(FileDescriptor connection) : connection_(std::move(connection)) {}
  FileDescriptor connection_;
};

}  // namespace llamada::llamanet
