#include "values.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <limits>
#include <optional>

#include "vendors.hpp"
#include "words.hpp"

namespace llamada::qos::xml {
namespace {

constexpr std::int64_t int32_max = std::numeric_limits<std::int32_t>::max();

/// The whole text as a decimal number in [low, high].
template <typename Number>
std::optional<Number> number_in(std::string_view text, Number low, Number high) {
  Number number{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (number < low || number > high) return std::nullopt;
  return number;
}

tl::unexpected<Error> not_legal(const Element& element, std::string_view text, std::string_view legal) {
  if (const std::string_view reason = foreign_value(text); !reason.empty())
    return element.fails(Errc::unsupported, "{}", reason);
  return element.fails(Errc::parse_error, "{} is not legal; legal: {}", quoted(text), legal);
}

tl::unexpected<Error> not_legal(const Element& element, std::string_view text,
                                std::span<const std::string_view> legal) {
  return not_legal(element, text, listed(legal) + suggestion(text, legal));
}

/// The standard's infinite duration is 0x7fffffff in both parts; vendors also write it as such, and
/// nanoseconds as 0xffffffff.
constexpr std::array<std::string_view, 3> greatest_numbers{"0x7fffffff", "0xffffffff", "4294967295"};

bool is_infinite_text(std::string_view text) {
  return text == "DURATION_INFINITY" || text == "DURATION_INFINITE";
}

/// <sec> or <nanosec>: a number, or nothing for infinite.
Result<std::optional<std::int64_t>> read_duration_part(const Element& element, std::int64_t high,
                                                       std::string_view infinite_name) {
  auto text = element.text();
  if (!text) return propagate(text);
  if (is_infinite_text(*text) || *text == infinite_name) return std::optional<std::int64_t>();
  if (*text == "DURATION_ZERO_SEC" || *text == "DURATION_ZERO_NSEC") return std::optional<std::int64_t>(0);
  if (*text == std::to_string(int32_max)) return std::optional<std::int64_t>(int32_max);
  if (std::find(greatest_numbers.begin(), greatest_numbers.end(), *text) != greatest_numbers.end())
    return std::optional<std::int64_t>(int32_max);
  const auto number = number_in<std::int64_t>(*text, 0, high);
  if (!number) {
    const std::array<std::string_view, 2> names{"DURATION_INFINITY", infinite_name};
    return not_legal(
        element, *text,
        fmt::format("a whole number from 0 to {}, {}{}", high, listed(names), suggestion(*text, names)));
  }
  return number;
}

Result<Duration> read_duration(const Element& element) {
  constexpr std::array<std::string_view, 2> names{"sec", "nanosec"};
  // Fast DDS writes an infinite duration as a text.
  if (const auto text = element.text_or_empty(); text && is_infinite_text(*text))
    return Duration(duration_infinite);
  auto parts = element.children_once(names);
  if (!parts) return propagate(parts);
  if (parts->empty())
    return element.fails(Errc::parse_error, "the duration is empty; it needs sec or nanosec");
  std::optional<std::int64_t> sec(0);
  std::optional<std::int64_t> nanosec;
  bool sec_given = false;
  bool nanosec_given = false;
  for (const Element& part : *parts) {
    if (auto status = part.check_attributes({}); !status) return propagate(status);
    const bool is_sec = part.name() == "sec";
    auto number = is_sec ? read_duration_part(part, int32_max, "DURATION_INFINITE_SEC")
                         : read_duration_part(part, 999'999'999, "DURATION_INFINITE_NSEC");
    if (!number) return propagate(number);
    (is_sec ? sec : nanosec) = *number;
    (is_sec ? sec_given : nanosec_given) = true;
  }
  // The standard's infinite duration is 0x7fffffff in both.
  const bool nanosec_infinite = nanosec_given && nanosec.value_or(int32_max) == int32_max;
  if (!sec || (sec == int32_max && nanosec_infinite)) {
    if (!nanosec_given || nanosec_infinite) return Duration(duration_infinite);
    return element.fails(Errc::parse_error, "sec is infinite and nanosec is not; make both infinite");
  }
  if (nanosec_infinite) {
    if (!sec_given) return Duration(duration_infinite);
    return element.fails(Errc::parse_error, "nanosec is infinite and sec is not; make both infinite");
  }
  return Duration(std::chrono::seconds(*sec)) + Duration(nanosec.value_or(0));
}

/// Decimal seconds above 0, such as 30 or 0.5.
std::optional<Duration> seconds_in(std::string_view text) {
  constexpr double seconds_max = 1e9;
  double seconds = 0;
  const auto [end, code] =
      std::from_chars(text.data(), text.data() + text.size(), seconds, std::chars_format::fixed);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  const bool is_in_range = seconds > 0 && seconds <= seconds_max;
  const auto duration = Duration(is_in_range ? static_cast<std::int64_t>(seconds * 1e9) : 0);
  return duration > Duration{} ? std::optional<Duration>(duration) : std::nullopt;
}

Status read_standby_interval(const Element& element, Duration& value) {
  constexpr std::array<std::string_view, 2> names{"auto", "off"};
  auto text = element.text();
  if (!text) return propagate(text);
  const bool is_name = std::find(names.begin(), names.end(), *text) != names.end();
  const auto duration =
      is_name ? std::optional<Duration>(*text == "off" ? standby_off : standby_automatic) : seconds_in(*text);
  if (!duration)
    return not_legal(element, *text,
                     fmt::format("seconds above 0, {}{}", listed(names), suggestion(*text, names)));
  value = *duration;
  return {};
}

Status read_length(const Element& element, std::int32_t& value) {
  auto text = element.text();
  if (!text) return propagate(text);
  const bool is_unlimited = *text == "LENGTH_UNLIMITED" || *text == std::to_string(length_unlimited);
  const auto number = is_unlimited ? std::optional<std::int32_t>(length_unlimited)
                                   : number_in<std::int32_t>(*text, 0, int32_max);
  if (!number) {
    constexpr std::array<std::string_view, 1> names{"LENGTH_UNLIMITED"};
    return not_legal(
        element, *text,
        fmt::format("a whole number from 0 to {}, LENGTH_UNLIMITED{}", int32_max, suggestion(*text, names)));
  }
  value = *number;
  return {};
}

template <typename Number>
Status read_number(const Element& element, Number low, Number high, Number& value) {
  auto text = element.text();
  if (!text) return propagate(text);
  const auto number = number_in<Number>(*text, low, high);
  if (!number) return not_legal(element, *text, fmt::format("a whole number from {} to {}", low, high));
  value = *number;
  return {};
}

bool is_blank(char character) {
  return character == ' ' || character == '\t' || character == '\r' || character == '\n';
}

std::string without_blanks(std::string_view text) {
  std::string out;
  std::copy_if(text.begin(), text.end(), std::back_inserter(out), [](char each) { return !is_blank(each); });
  return out;
}

std::optional<std::byte> byte_in(std::string_view digits, int base) {
  unsigned byte = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, base);
  if (digits.empty() || code != std::errc{} || end != digits.data() + digits.size() || byte > 255)
    return std::nullopt;
  return static_cast<std::byte>(byte);
}

/// "34, 0x44, 255", without the blanks.
std::optional<std::vector<std::byte>> listed_bytes(std::string_view text) {
  std::vector<std::byte> bytes;
  while (true) {
    const std::size_t comma = text.find(',');
    std::string_view number = text.substr(0, comma);
    const bool is_hex = number.starts_with("0x") || number.starts_with("0X");
    const auto byte = is_hex ? byte_in(number.substr(2), 16) : byte_in(number, 10);
    if (!byte) return std::nullopt;
    bytes.push_back(*byte);
    if (comma == text.npos) return bytes;
    text.remove_prefix(comma + 1);
  }
}

/// "0a 0b 0C" or "0a0b0C": blanks may stand between pairs only.
std::optional<std::vector<std::byte>> paired_bytes(std::string_view text) {
  std::vector<std::byte> bytes;
  while (!text.empty()) {
    if (is_blank(text.front())) {
      text.remove_prefix(1);
      continue;
    }
    const auto byte = text.size() < 2 ? std::nullopt : byte_in(text.substr(0, 2), 16);
    if (!byte) return std::nullopt;
    bytes.push_back(*byte);
    text.remove_prefix(2);
  }
  return bytes;
}

}  // namespace

Result<std::string> read_kind_name(const Element& element, std::span<const std::string_view> kinds,
                                   std::string_view suffix) {
  auto text = element.text();
  if (!text) return propagate(text);
  std::string_view name = *text;
  if (!suffix.empty() && name.ends_with(suffix)) {
    name.remove_suffix(suffix.size());
    // RTI Connext's names in C begin with the module's.
    if (name.starts_with("DDS_")) name.remove_prefix(4);
  }
  if (std::find(kinds.begin(), kinds.end(), name) == kinds.end()) {
    // With a misspelt kind before the right suffix, the nearest is sought among the short names.
    return not_legal(element, *text, listed(kinds) + suggestion(name, kinds));
  }
  return std::string(name);
}

Status read_value(const Element& element, std::string_view name, Duration& value) {
  if (is_standby_interval(name)) return read_standby_interval(element, value);
  auto duration = read_duration(element);
  if (!duration) return propagate(duration);
  value = *duration;
  return {};
}

Status read_value(const Element& element, std::string_view name, std::int32_t& value) {
  if (is_length(name)) return read_length(element, value);
  constexpr std::int32_t lowest = std::numeric_limits<std::int32_t>::min();
  return read_number<std::int32_t>(element, name.ends_with("depth") ? 0 : lowest, int32_max, value);
}

Status read_value(const Element& element, std::string_view, std::uint32_t& value) {
  return read_number<std::uint32_t>(element, 0, std::numeric_limits<std::uint32_t>::max(), value);
}

Status read_value(const Element& element, std::string_view, std::uint64_t& value) {
  auto text = element.text();
  if (!text) return propagate(text);
  struct Unit {
    std::string_view name;
    int shift;
  };
  constexpr std::array<Unit, 4> units{{{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"", 0}}};
  std::string_view digits = *text;
  const Unit& unit = *std::find_if(units.begin(), units.end(),
                                   [digits](const Unit& each) { return digits.ends_with(each.name); });
  digits.remove_suffix(unit.name.size());
  while (digits.ends_with(' ')) digits.remove_suffix(1);
  const auto number =
      number_in<std::uint64_t>(digits, 0, std::numeric_limits<std::int64_t>::max() >> unit.shift);
  if (!number) {
    return not_legal(element, *text,
                     "bytes from 0 to 2^63-1, as a whole number alone or with KiB, MiB or GiB");
  }
  value = *number << unit.shift;
  return {};
}

Status read_value(const Element& element, std::string_view, bool& value) {
  auto text = element.text();
  if (!text) return propagate(text);
  const bool yes = *text == "true" || *text == "1";
  if (!yes && *text != "false" && *text != "0") {
    constexpr std::array<std::string_view, 4> names{"true", "false", "1", "0"};
    return not_legal(element, *text, names);
  }
  value = yes;
  return {};
}

Status read_value(const Element& element, std::string_view, std::string& value) {
  auto text = element.text_or_empty();
  if (!text) return propagate(text);
  value = std::move(*text);
  return {};
}

Status read_value(const Element& element, std::string_view, std::vector<std::byte>& value) {
  auto text = element.text_or_empty();
  if (!text) return propagate(text);
  const bool is_list = text->find_first_of(",xX") != text->npos;
  auto bytes = is_list ? listed_bytes(without_blanks(*text)) : paired_bytes(*text);
  if (!bytes) {
    return not_legal(element, *text,
                     "bytes as pairs of hexadecimal digits, '0a 0b', or as numbers with commas, '10, 0x0b'");
  }
  value = std::move(*bytes);
  return {};
}

Status read_value(const Element& element, std::string_view, std::vector<std::string>& value) {
  auto children = element.children();
  if (!children) return propagate(children);
  std::vector<std::string> names;
  for (const Element& child : *children) {
    if (child.name() != "element") return child.unknown(std::array<std::string_view, 1>{"element"});
    if (auto status = child.check_attributes({}); !status) return status;
    auto text = child.text_or_empty();
    if (!text) return propagate(text);
    names.push_back(std::move(*text));
  }
  value = std::move(names);
  return {};
}

}  // namespace llamada::qos::xml
