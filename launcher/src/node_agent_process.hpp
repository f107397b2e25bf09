#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "llamada/base/file_descriptor.hpp"
#include "llamada/base/result.hpp"
#include "node_handshake.hpp"

namespace llamada::launcher {

/// The surroundings of this process at its start, which agents are to have, too.
struct AgentSurroundings {
  sigset_t signal_mask{};
  rlimit descriptor_limit{};
};

/// The process that has started a llamanetd on another host, and whose standard input keeps it alive there:
/// ssh, or what stands in for it. It dies with the thread that has started it.
class NodeAgentProcess {
 public:
  /// Executes `command`, and writes the secret to its standard input, which stays open. Its output and errors
  /// go to our standard error.
  static Result<NodeAgentProcess> start(const std::vector<std::string>& command, const NodeSecret& secret,
                                        const AgentSurroundings& surroundings);

  pid_t pid() const { return pid_; }
  /// "ssh (pid 77)".
  std::string name() const;
  /// Its wait status, the first time that it is seen to have ended.
  std::optional<int> look();
  /// Nothing lives on the other side once its standard input has ended.
  void close_input() { input_.reset(); }
  bool has_ended() const { return has_ended_; }
  /// Somebody else has waited for it.
  void set_ended() { has_ended_ = true; }

 private:
  std::string program_;
  pid_t pid_ = 0;
  FileDescriptor input_;
  bool has_ended_ = false;
};

}  // namespace llamada::launcher
