// libFuzzer's harness for what a process manager says by PMI-1: each line is refused or gives fields that can
// be written and read again; a process mapping gives each process a node, numbered in the order of their
// first ones.

#include <cstdlib>
#include <string>

#include "process/pmi_lines.hpp"

namespace {

using namespace llamada::mpi;

bool holds(const std::string& line) {
  const auto fields = parse_pmi_line(line);
  if (!fields) return true;
  std::vector<PmiField> others;
  for (const auto& [name, value] : *fields)
    if (name != "cmd") others.push_back({name, value});
  std::string written = pmi_line(fields->at("cmd"), others);
  written.pop_back();
  const auto again = parse_pmi_line(written);
  return again && *again == *fields;
}

bool is_numbered_in_order(const std::vector<std::uint32_t>& nodes) {
  std::uint32_t known = 0;
  for (const std::uint32_t node : nodes) {
    if (node > known) return false;
    known += node == known;
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (!holds(text)) std::abort();
  for (const std::uint32_t processes : {1U, 2U, 7U, 300U})
    if (const auto nodes = parse_process_mapping(text, processes);
        nodes && (nodes->size() != processes || !is_numbered_in_order(*nodes)))
      std::abort();
  return 0;
}
