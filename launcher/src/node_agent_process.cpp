#include "node_agent_process.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "spawn.hpp"

namespace llamada::launcher {
namespace {

std::vector<std::string> own_environment() {
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) variables.emplace_back(*entry);
  return variables;
}

}  // namespace

Result<NodeAgentProcess> NodeAgentProcess::start(const std::vector<std::string>& command,
                                                 const NodeSecret& secret,
                                                 const AgentSurroundings& surroundings) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return system_failure("pipe");
  const FileDescriptor input(ends[0]);
  NodeAgentProcess agent;
  agent.input_ = FileDescriptor(ends[1]);
  if (write(ends[1], secret.data(), secret.size()) != static_cast<ssize_t>(secret.size()))
    return system_failure("cannot hand on the secret of the job");
  // Not 2 itself: what is put in place must not be a standard descriptor.
  const FileDescriptor errors(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3));
  SpawnRequest request;
  request.program = command[0];
  request.arguments = command;
  request.environment = own_environment();
  request.standard_input = input.get();
  request.standard_output = request.standard_error = errors.get();
  request.signal_mask = surroundings.signal_mask;
  request.descriptor_limit = surroundings.descriptor_limit;
  request.parent = getpid();
  auto process = spawn(request);
  if (!process) return propagate(process);
  agent.pid_ = process->pid;
  agent.program_ = std::filesystem::path(command[0]).filename().string();
  return agent;
}

std::string NodeAgentProcess::name() const { return fmt::format("{} (pid {})", program_, pid_); }

std::optional<int> NodeAgentProcess::look() {
  int status = 0;
  if (has_ended_ || waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  has_ended_ = true;
  return status;
}

}  // namespace llamada::launcher
