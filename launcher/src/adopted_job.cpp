#include <algorithm>
#include <charconv>
#include <map>

#include "llamada/launcher/adoption.hpp"
#include "llamada/launcher/options.hpp"

namespace llamada::launcher {
namespace {

constexpr std::size_t words_of_adopted = 8;

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = std::min(text.find(','), text.size());
    parts.emplace_back(text.substr(0, end));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

template <typename Number>
bool read_number(const std::string& text, Number& number) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

bool read_nodes(const std::string& text, AdoptedJob& job) {
  for (const std::string& word : split(text)) {
    std::uint32_t node = 0;
    if (!read_number(word, node) || node >= job.hosts.size()) return false;
    job.node_of_rank.push_back(node);
  }
  return true;
}

}  // namespace

Result<Options> options_of_adopted(std::span<const std::string> words, const Environment& environment) {
  AdoptedJob job;
  if (words.size() != words_of_adopted)
    return failure(Errc::parse_error, "{} is for ranks that another launcher has started", adopt_ranks_word);
  job.processes = words[2];
  job.hosts = split(words[3]);
  const bool is_read = parse_adopted(job.processes) && read_nodes(words[4], job) &&
                       read_number(words[5], job.report) && read_number(words[6], job.manager);
  if (!is_read || words[1] != std::to_string(job.node_of_rank.size()))
    return failure(Errc::parse_error, "{}: its words do not fit each other", adopt_ranks_word);
  const std::vector<std::string> command{"-n", words[1], "--", words[7]};
  auto options = parse_options(command, environment);
  if (!options) return options;
  options->input_to_rank_0 = false;
  options->adopted = std::move(job);
  return options;
}

}  // namespace llamada::launcher
