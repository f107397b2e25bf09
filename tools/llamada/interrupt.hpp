#pragma once

#include <chrono>

#include "llamada/base/file_descriptor.hpp"

namespace llamada::tools {

/// Takes SIGINT and SIGTERM as the wish that the command end, in good order. At most one at a time.
class Interrupt {
 public:
  Interrupt();

  /// Whether it has come, or comes within that time.
  bool wait(std::chrono::duration<double> at_most) const;

 private:
  FileDescriptor signals_;
};

}  // namespace llamada::tools
