#pragma once

#include <string>

namespace llamada::tools {

struct StandAloneOptions {
  std::string name = "node";
  /// End when the last application has left; otherwise run until a signal comes.
  bool ends_with_last = false;
  /// Where to write one byte as soon as applications can connect, to this driver or to one that was here
  /// before; -1: nowhere.
  int ready_descriptor = -1;
};

/// The driver of a node, for DDS programs. Returns the exit code.
int run_stand_alone(const StandAloneOptions& options);

}  // namespace llamada::tools
