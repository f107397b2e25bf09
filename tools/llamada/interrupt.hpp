#pragma once

#include <chrono>

namespace llamada::tools {

/// Takes SIGINT and SIGTERM as the wish that the command end, in good order. At most one at a time, made
/// before other threads are: they inherit that both signals are blocked.
class Interrupt {
 public:
  Interrupt();

  /// Whether it has come, or comes within that time.
  bool wait(std::chrono::duration<double> at_most) const;
};

}  // namespace llamada::tools
