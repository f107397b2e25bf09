#include "process/pmi_lines.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace llamada::mpi {
namespace {

/// Larger numbers are no nodes.
constexpr std::uint32_t mapping_number_max = 1 << 20;
constexpr std::size_t mapping_blocks_max = 4096;

struct Block {
  std::uint32_t first = 0, nodes = 0, each = 0;
};

/// A reader of "(vector,(0,2,4))".
class MappingReader {
 public:
  explicit MappingReader(std::string_view text) : text_(text) {}

  bool take(std::string_view word) {
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  std::optional<std::uint32_t> number() {
    std::uint32_t number = 0;
    const auto read = std::from_chars(text_.data(), text_.data() + text_.size(), number);
    if (read.ec != std::errc() || number > mapping_number_max) return std::nullopt;
    text_.remove_prefix(static_cast<std::size_t>(read.ptr - text_.data()));
    return number;
  }
  std::optional<Block> block() {
    if (!take("(")) return std::nullopt;
    const auto first = number();
    const auto nodes = first && take(",") ? number() : std::nullopt;
    const auto each = nodes && take(",") ? number() : std::nullopt;
    if (!each || !take(")") || *nodes == 0 || *each == 0) return std::nullopt;
    return Block{*first, *nodes, *each};
  }
  bool is_at_end() const { return text_.empty(); }

 private:
  std::string_view text_;
};

std::optional<std::vector<Block>> read_blocks(std::string_view text) {
  MappingReader reader(text);
  std::vector<Block> blocks;
  if (!reader.take("(vector")) return std::nullopt;
  while (reader.take(",") && blocks.size() < mapping_blocks_max) {
    const auto block = reader.block();
    if (!block) return std::nullopt;
    blocks.push_back(*block);
  }
  if (blocks.empty() || !reader.take(")") || !reader.is_at_end()) return std::nullopt;
  return blocks;
}

/// The node of each process, as the process manager numbers them.
std::vector<std::uint32_t> spread(const std::vector<Block>& blocks, std::uint32_t size) {
  std::vector<std::uint32_t> nodes;
  nodes.reserve(size);
  for (;;)
    for (const Block& block : blocks)
      for (std::uint32_t node = block.first; node < block.first + block.nodes; ++node)
        for (std::uint32_t i = 0; i < block.each; ++i) {
          if (nodes.size() == size) return nodes;
          nodes.push_back(node);
        }
}

}  // namespace

std::string pmi_line(std::string_view command, const std::vector<PmiField>& fields) {
  std::string line = "cmd=" + std::string(command);
  for (const PmiField& field : fields)
    line.append(1, ' ').append(field.name).append(1, '=').append(field.value);
  return line += '\n';
}

Result<std::map<std::string, std::string, std::less<>>> parse_pmi_line(std::string_view line) {
  std::map<std::string, std::string, std::less<>> fields;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
    if (word.empty()) continue;
    const std::size_t equals = word.find('=');
    // Texts for people have blanks in them.
    if (equals == word.npos || equals == 0) continue;
    fields.emplace(word.substr(0, equals), word.substr(equals + 1));
  }
  if (!fields.contains("cmd"))
    return failure(Errc::parse_error, "the process manager has sent a line that is none of PMI-1");
  return fields;
}

Result<std::vector<std::uint32_t>> parse_process_mapping(std::string_view text, std::uint32_t size) {
  const auto blocks = read_blocks(text);
  if (!blocks)
    return failure(Errc::parse_error, "PMI_process_mapping is '{}', which cannot be read",
                   text.substr(0, 200));
  std::vector<std::uint32_t> nodes = spread(*blocks, size);
  std::map<std::uint32_t, std::uint32_t> numbers;
  for (std::uint32_t& node : nodes)
    node = numbers.emplace(node, static_cast<std::uint32_t>(numbers.size())).first->second;
  return nodes;
}

}  // namespace llamada::mpi
