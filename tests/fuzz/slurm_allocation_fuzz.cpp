// libFuzzer's harness for what Slurm says of an allocation: two lines, the nodes and the tasks of each. What
// is read has as many hosts as counts, within the bounds.

#include <cstdlib>
#include <string>

#include "llamada/launcher/slurm_allocation.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace llamada::launcher;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::size_t line = std::min(text.find('\n'), text.size());
  const std::string nodes = text.substr(0, line), tasks = text.substr(std::min(line + 1, text.size()));
  const auto names = parse_slurm_nodes(nodes);
  const auto hosts = hosts_of_slurm({nodes, tasks, {}});
  if (names && (names->empty() || names->size() > host_count_max)) std::abort();
  if (hosts && (!names || hosts->size() != names->size())) std::abort();
  return 0;
}
