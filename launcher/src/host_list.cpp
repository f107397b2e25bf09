#include "llamada/launcher/host_list.hpp"

#include <algorithm>
#include <charconv>

namespace llamada::launcher {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_ipv6(std::string_view name) {
  return std::count(name.begin(), name.end(), ':') >= 2 &&
         name.find_first_not_of("0123456789abcdefABCDEF:.") == name.npos;
}

/// A name goes to ssh as a word of its own, so it must not look like an option of ssh.
bool is_host_name(std::string_view name) {
  if (is_ipv6(name)) return true;
  if (name.empty() || name.front() == '-' || name.front() == '@' || name.back() == '@') return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return is_letter_or_digit(c) || c == '.' || c == '-' || c == '_' || c == '@';
  });
}

/// Words between blanks; "slots = 4" is one word, "slots=4".
std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  bool joins = false;
  for (std::size_t at = 0; at < line.size();) {
    if (is_blank(line[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < line.size() && !is_blank(line[end])) ++end;
    const std::string_view word = line.substr(at, end - at);
    if (!words.empty() && (joins || word.front() == '='))
      words.back() += word;
    else
      words.emplace_back(word);
    joins = words.back().back() == '=';
    at = end;
  }
  return words;
}

Result<std::uint32_t> parse_slots(std::string_view text, std::string_view what) {
  std::uint32_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || value > host_slots_max)
    return failure(Errc::invalid_argument, "{} must be a number from 0 to {}, not '{}'", what, host_slots_max,
                   text);
  return value;
}

/// "node1", "node1:4", "::1", "[::1]:4".
Result<HostEntry> parse_host(std::string_view text) {
  HostEntry entry;
  std::string_view name = text, count;
  const bool has_brackets = text.starts_with('[');
  const std::size_t colon = text.rfind(':');
  if (has_brackets) {
    const std::size_t close = std::min(text.find(']'), text.size());
    name = text.substr(1, close - 1);
    const std::string_view behind = text.substr(std::min(close + 1, text.size()));
    if (close == text.size() || (!behind.empty() && behind.front() != ':'))
      return failure(Errc::invalid_argument, "'{}' is not a host: ']' is missing, or characters follow it",
                     text);
    if (!behind.empty()) count = behind.substr(1);
  } else if (colon != text.npos && text.find(':') == colon) {
    name = text.substr(0, colon);
    count = text.substr(colon + 1);
  }
  if (has_brackets ? !is_ipv6(name) : !is_host_name(name))
    return failure(Errc::invalid_argument, "'{}' is not the name of a host", text);
  entry.name = name;
  const bool has_count = name.size() + (has_brackets ? 2 : 0) < text.size();
  if (!has_count) return entry;
  auto slots = parse_slots(count, fmt::format("the number behind '{}:'", name));
  if (!slots) return propagate(slots);
  entry.slots = *slots;
  return entry;
}

Status set_attribute(HostEntry& entry, const std::string& word) {
  const std::size_t equals = word.find('=');
  const std::string_view name = std::string_view(word).substr(0, equals);
  const bool is_slots = name == "slots", is_most = name == "max-slots" || name == "max_slots";
  if (equals == word.npos || (!is_slots && !is_most))
    return failure(Errc::invalid_argument, "only slots=N and max-slots=N may follow a host, not '{}'", word);
  auto value = parse_slots(std::string_view(word).substr(equals + 1), name);
  if (!value) return propagate(value);
  std::optional<std::uint32_t>& field = is_slots ? entry.slots : entry.max_slots;
  if (field)
    return failure(Errc::invalid_argument, "'{}' sets a value of the host '{}' a second time", word,
                   entry.name);
  field = *value;
  return {};
}

Status check_slots(const HostEntry& entry) {
  if (entry.slots && entry.max_slots && *entry.slots > *entry.max_slots)
    return failure(Errc::invalid_argument,
                   "the host '{}' has {} slots, and at most {} may be used (max-slots)", entry.name,
                   *entry.slots, *entry.max_slots);
  return {};
}

/// How many ranks an entry is for; one, if it does not say.
std::uint32_t slots_of(const HostEntry& entry) {
  return entry.slots.value_or(std::min(entry.max_slots.value_or(1), std::uint32_t{1}));
}

std::uint32_t sum_of(std::uint32_t one, std::uint32_t other) { return std::min(one + other, host_slots_max); }

/// Adds up what two entries of one host say.
Status add(std::vector<HostEntry>& list, HostEntry entry) {
  if (auto status = check_slots(entry); !status) return status;
  const auto same = std::find_if(list.begin(), list.end(),
                                 [&entry](const HostEntry& each) { return each.name == entry.name; });
  if (same == list.end()) return list.push_back(std::move(entry)), Status();
  const std::uint32_t slots = slots_of(*same), more = slots_of(entry);
  if (same->max_slots || entry.max_slots)
    same->max_slots = sum_of(same->max_slots.value_or(slots), entry.max_slots.value_or(more));
  same->slots = sum_of(slots, more);
  return {};
}

Status add_line(std::vector<HostEntry>& list, std::string_view line, const std::string& place) {
  const std::vector<std::string> words = words_of(line.substr(0, line.find('#')));
  if (words.empty()) return {};
  auto entry = parse_host(words[0]);
  if (!entry) return propagate(entry);
  entry->place = place;
  for (std::size_t i = 1; i < words.size(); ++i)
    if (auto status = set_attribute(*entry, words[i]); !status) return status;
  return add(list, std::move(*entry));
}

std::string_view without_domain(std::string_view host) { return host.substr(0, host.find('.')); }

bool is_address(std::string_view name) {
  return name.find(':') != name.npos ||
         std::all_of(name.begin(), name.end(), [](char c) { return c == '.' || (c >= '0' && c <= '9'); });
}

}  // namespace

Result<std::vector<HostEntry>> parse_host_file(std::string_view text, std::string_view file) {
  std::vector<HostEntry> list;
  for (std::size_t at = 0, number = 1; at < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string place = fmt::format("{}:{}", file, number);
    if (auto status = add_line(list, text.substr(at, end - at), place); !status)
      return tl::unexpected<Error>(status.error().within(place));
    if (list.size() > host_count_max)
      return failure(Errc::invalid_argument, "{}: more than {} hosts", file, host_count_max);
    at = end + 1;
  }
  if (list.empty()) return failure(Errc::invalid_argument, "{}: this file names no host", file);
  return list;
}

Result<std::vector<HostEntry>> parse_host_option(std::string_view text) {
  std::vector<HostEntry> list;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    if (end > at || text.empty()) {
      auto entry = parse_host(text.substr(at, end - at));
      if (!entry) return propagate(entry);
      if (auto status = add(list, std::move(*entry)); !status) return propagate(status);
    }
    if (list.size() > host_count_max)
      return failure(Errc::invalid_argument, "more than {} hosts", host_count_max);
    at = end + 1;
  }
  if (list.empty()) return failure(Errc::invalid_argument, "'{}' names no host", text);
  return list;
}

std::vector<HostEntry> as_one_host(const std::vector<HostEntry>& hosts,
                                   const std::function<bool(const HostEntry&)>& is_one) {
  std::vector<HostEntry> list;
  const auto first = std::find_if(hosts.begin(), hosts.end(), is_one);
  for (HostEntry host : hosts) {
    if (is_one(host)) host.name = first->name;
    static_cast<void>(add(list, std::move(host)));  // each was accepted when the list was read
  }
  return list;
}

bool is_this_host(std::string_view name, std::string_view own_host,
                  const std::vector<std::string>& own_addresses) {
  if (name == "localhost" || name == "::1" || (is_address(name) && name.starts_with("127."))) return true;
  if (std::find(own_addresses.begin(), own_addresses.end(), name) != own_addresses.end()) return true;
  if (is_address(name) || own_host.empty()) return false;
  if (name == own_host) return true;
  // "node7" is "node7.cluster"; but "node7.other" is not.
  const bool has_both_domains = name.find('.') != name.npos && own_host.find('.') != own_host.npos;
  return !has_both_domains && without_domain(name) == without_domain(own_host);
}

}  // namespace llamada::launcher
