#include "node.hpp"

#include <fmt/ranges.h>

#include <charconv>
#include <filesystem>

#include "job.hpp"
#include "llamada/launcher/node_agent.hpp"

namespace llamada::tools {
namespace {

std::uint64_t number_of(const std::string& hexadecimal) {
  std::uint64_t number = 0;
  std::from_chars(hexadecimal.data(), hexadecimal.data() + hexadecimal.size(), number, 16);
  return number;
}

}  // namespace

int run_node(const NodeOptions& options) {
  std::error_code ignored;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe", ignored).string();
  return launcher::run_node_agent(
      self, {"--node", std::to_string(options.node), "--job-number", options.job_number, "--coordinator",
             fmt::format("{}", fmt::join(options.coordinators, ",")), "--port", std::to_string(options.port),
             "--drive-node"});
}

int drive_node(const NodeOptions& options, launcher::Adoption adoption) {
  const launcher::NodeIdentity identity{options.node, number_of(options.job_number), options.coordinators,
                                        options.port};
  const launcher::LastWord last_word((FileDescriptor(options.last_word_descriptor)));
  return launcher::run_node_driver(identity, FileDescriptor(options.control_descriptor), last_word,
                                   arenas_factory(), std::move(adoption));
}

}  // namespace llamada::tools
