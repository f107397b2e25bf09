#include "llamada/launcher/slurm_allocation.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace llamada::launcher {
namespace {

/// Digits in a number of a node's name.
constexpr std::size_t digits_max = 9;

Result<std::uint32_t> parse_number(std::string_view text) {
  std::uint32_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || text.size() > digits_max || read.ptr != text.data() + text.size())
    return failure(Errc::invalid_argument, "'{}' is not a number of at most {} digits", text, digits_max);
  return value;
}

/// "7", or with the width of the first "007".
std::string padded(std::uint32_t number, std::size_t width) {
  std::string text = std::to_string(number);
  return text.size() < width ? std::string(width - text.size(), '0') + text : text;
}

/// Up to the next comma that is outside of brackets.
std::string_view first_of_list(std::string_view text) {
  bool inside = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '[') inside = true;
    if (text[at] == ']') inside = false;
    if (text[at] == ',' && !inside) return text.substr(0, at);
  }
  return text;
}

/// "1-3" or "5": adds the numbers as they are written.
Status add_range(std::vector<std::string>& numbers, std::string_view range) {
  const std::size_t dash = range.find('-');
  const std::string_view from = range.substr(0, dash);
  auto first = parse_number(from);
  if (!first) return propagate(first);
  auto last = dash == range.npos ? first : parse_number(range.substr(dash + 1));
  if (!last) return propagate(last);
  if (*last < *first || *last - *first >= host_count_max - numbers.size())
    return failure(Errc::invalid_argument, "'{}' is not a range of at most {} nodes", range, host_count_max);
  for (std::uint32_t number = *first; number <= *last; ++number)
    numbers.push_back(padded(number, from.size()));
  return {};
}

/// What stands between brackets: "1-3,5".
Result<std::vector<std::string>> parse_ranges(std::string_view text) {
  std::vector<std::string> numbers;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    if (auto status = add_range(numbers, text.substr(at, end - at)); !status) return propagate(status);
    at = end + 1;
  }
  return numbers;
}

/// "rack[0-1]n[1-3]": every combination, the last brackets counting fastest.
Result<std::vector<std::string>> parse_group(std::string_view text) {
  std::vector<std::string> names{""};
  while (!text.empty()) {
    const std::size_t open = std::min(text.find('['), text.size());
    for (std::string& name : names) name += text.substr(0, open);
    if (open == text.size()) break;
    const std::size_t close = text.find(']', open);
    if (close == text.npos) return failure(Errc::invalid_argument, "']' is missing in '{}'", text);
    auto numbers = parse_ranges(text.substr(open + 1, close - open - 1));
    if (!numbers) return propagate(numbers);
    if (names.size() * numbers->size() > host_count_max)
      return failure(Errc::invalid_argument, "there are more than {} nodes", host_count_max);
    std::vector<std::string> longer;
    for (const std::string& name : names)
      for (const std::string& number : *numbers) longer.push_back(name + number);
    names = std::move(longer);
    text = text.substr(close + 1);
  }
  return names;
}

/// "4(x3),2": 4, 4, 4, 2.
Result<std::vector<std::uint32_t>> parse_counts(std::string_view text) {
  std::vector<std::uint32_t> counts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    const std::size_t times_at = word.find("(x");
    auto count = parse_number(word.substr(0, times_at));
    if (!count) return propagate(count);
    std::uint32_t times = 1;
    if (times_at != word.npos) {
      if (word.back() != ')') return failure(Errc::invalid_argument, "')' is missing in '{}'", word);
      auto read = parse_number(word.substr(times_at + 2, word.size() - times_at - 3));
      if (!read) return propagate(read);
      times = *read;
    }
    if (*count > host_slots_max || times > host_count_max - counts.size())
      return failure(Errc::invalid_argument, "'{}' is more than a job may have", word);
    counts.insert(counts.end(), times, *count);
    at = end + 1;
  }
  return counts;
}

tl::unexpected<Error> unreadable(std::string_view variable, const std::string& value, const Error& error) {
  return failure(Errc::invalid_argument, "{} is '{}', which cannot be read: {}", variable, value,
                 error.text());
}

}  // namespace

Result<std::vector<std::string>> parse_slurm_nodes(std::string_view text) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at <= text.size();) {
    const std::string_view word = first_of_list(text.substr(at));
    if (word.empty()) return failure(Errc::invalid_argument, "a name is missing");
    auto group = parse_group(word);
    if (!group) return propagate(group);
    if (names.size() + group->size() > host_count_max)
      return failure(Errc::invalid_argument, "there are more than {} nodes", host_count_max);
    names.insert(names.end(), group->begin(), group->end());
    at += word.size() + 1;
  }
  return names;
}

Result<std::vector<HostEntry>> hosts_of_slurm(const SlurmAllocation& allocation) {
  auto names = parse_slurm_nodes(allocation.nodes);
  if (!names) return unreadable("SLURM_JOB_NODELIST", allocation.nodes, names.error());
  const bool by_tasks = !allocation.tasks_per_node.empty();
  const std::string_view variable = by_tasks ? "SLURM_TASKS_PER_NODE" : "SLURM_JOB_CPUS_PER_NODE";
  const std::string& value = by_tasks ? allocation.tasks_per_node : allocation.cpus_per_node;
  if (value.empty())
    return failure(Errc::invalid_argument,
                   "SLURM_JOB_NODELIST is set, but neither SLURM_TASKS_PER_NODE nor SLURM_JOB_CPUS_PER_NODE "
                   "is: give the number of ranks of each node with --host");
  auto counts = parse_counts(value);
  if (!counts) return unreadable(variable, value, counts.error());
  if (counts->size() != names->size())
    return failure(Errc::invalid_argument, "SLURM_JOB_NODELIST '{}' has {} nodes, and {} '{}' is for {}",
                   allocation.nodes, names->size(), variable, value, counts->size());
  std::vector<HostEntry> hosts;
  for (std::size_t i = 0; i < names->size(); ++i) hosts.push_back({(*names)[i], (*counts)[i], {}});
  return hosts;
}

}  // namespace llamada::launcher
