#pragma once

#include <sys/stat.h>

#include <fstream>
#include <string>

#include "temporary_folder.hpp"

namespace llamada::system_test {

/// A program for mpirun's --launcher-exec that runs the command on this host, in a session of its own, so
/// that tests of several nodes need no other host.
class NodeAgentScript {
 public:
  /// `before` are commands of a shell that the agent runs first; $1 is the host.
  explicit NodeAgentScript(const std::string& before = ":") {
    std::ofstream(path()) << "#!/bin/sh\n" << before << "\nshift\nexec setsid -w \"$@\"\n";
    chmod(path().c_str(), 0755);
  }
  std::string path() const { return folder_ / "agent"; }
  std::string file(const std::string& name) const { return folder_ / name; }

 private:
  test::TemporaryFolder folder_;
};

}  // namespace llamada::system_test
