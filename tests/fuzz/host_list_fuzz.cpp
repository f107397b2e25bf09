// libFuzzer's harness for host files and the value of --host: what is taken can be written down and read
// again, its names are no options, and the ranks of a job find their places or are refused.

#include <cstdlib>
#include <string>

#include "llamada/launcher/placement.hpp"

namespace {

using namespace llamada::launcher;

std::string written(const std::vector<HostEntry>& hosts) {
  std::string text;
  for (const HostEntry& host : hosts) {
    text += host.name;
    if (host.slots) text += " slots=" + std::to_string(*host.slots);
    if (host.max_slots) text += " max-slots=" + std::to_string(*host.max_slots);
    text += '\n';
  }
  return text;
}

bool holds(const std::vector<HostEntry>& hosts) {
  for (const HostEntry& host : hosts)
    if (host.name.empty() || host.name.front() == '-') return false;
  const auto again = parse_host_file(written(hosts), "again");
  if (!again || *again != hosts) return false;
  const auto placement = place_ranks(hosts, {7, HostOrder::by_node, true, {}});
  return !placement || placement->of_rank.size() == 7;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (const auto hosts = parse_host_file(text, "hosts"); hosts && !holds(*hosts)) std::abort();
  if (const auto hosts = parse_host_option(text); hosts && !holds(*hosts)) std::abort();
  return 0;
}
