#include "values.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>

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
  return element.fails(Errc::parse_error, "{} is not legal; legal: {}", quoted(text), legal);
}

tl::unexpected<Error> not_legal(const Element& element, std::string_view text,
                                std::span<const std::string_view> legal) {
  return element.fails(Errc::parse_error, "{} is not legal; legal: {}{}", quoted(text), listed(legal),
                       suggestion(text, legal));
}

Result<Value> read_kind(const Element& element, const ValueRule& rule) {
  auto text = element.text();
  if (!text) return propagate(text);
  std::string_view name = *text;
  if (!rule.suffix.empty() && name.ends_with(rule.suffix)) name.remove_suffix(rule.suffix.size());
  if (std::find(rule.kinds.begin(), rule.kinds.end(), name) == rule.kinds.end()) {
    // With a misspelt kind before the right suffix, the nearest is sought among the short names.
    return element.fails(Errc::parse_error, "{} is not legal; legal: {}{}", quoted(*text), listed(rule.kinds),
                         suggestion(name, rule.kinds));
  }
  return Value(std::string(name));
}

/// <sec> or <nanosec>: a number, or nothing for infinite.
Result<std::optional<std::int64_t>> read_duration_part(const Element& element, std::int64_t high,
                                                       std::string_view infinite_name) {
  auto text = element.text();
  if (!text) return propagate(text);
  if (*text == "DURATION_INFINITY" || *text == infinite_name) return std::optional<std::int64_t>();
  if (*text == std::to_string(int32_max)) return std::optional<std::int64_t>(int32_max);
  const auto number = number_in<std::int64_t>(*text, 0, high);
  if (!number) {
    const std::array<std::string_view, 2> names{"DURATION_INFINITY", infinite_name};
    return element.fails(Errc::parse_error, "{} is not legal; legal: a whole number from 0 to {}, {}{}",
                         quoted(*text), high, listed(names), suggestion(*text, names));
  }
  return number;
}

Result<Value> read_duration(const Element& element) {
  if (auto status = element.check_attributes({}); !status) return propagate(status);
  constexpr std::array<std::string_view, 2> names{"sec", "nanosec"};
  auto parts = element.children_once(names);
  if (!parts) return propagate(parts);
  if (parts->empty())
    return element.fails(Errc::parse_error, "the duration is empty; it needs sec or nanosec");
  std::optional<std::int64_t> sec(0);
  std::optional<std::int64_t> nanosec;
  bool nanosec_given = false;
  for (const Element& part : *parts) {
    if (auto status = part.check_attributes({}); !status) return propagate(status);
    const bool is_sec = part.name() == "sec";
    auto number = is_sec ? read_duration_part(part, int32_max, "DURATION_INFINITE_SEC")
                         : read_duration_part(part, 999'999'999, "DURATION_INFINITE_NSEC");
    if (!number) return propagate(number);
    (is_sec ? sec : nanosec) = *number;
    nanosec_given = nanosec_given || !is_sec;
  }
  // The standard's infinite duration is 0x7fffffff in both.
  const bool nanosec_infinite = nanosec_given && nanosec.value_or(int32_max) == int32_max;
  if (!sec || (sec == int32_max && nanosec_infinite)) {
    if (!nanosec_given || nanosec_infinite) return Value(duration_infinite);
    return element.fails(Errc::parse_error, "sec is infinite and nanosec is not; make both infinite");
  }
  if (nanosec_infinite) {
    return element.fails(Errc::parse_error, "nanosec is infinite and sec is not; make both infinite");
  }
  return Value(Duration(std::chrono::seconds(*sec)) + Duration(nanosec.value_or(0)));
}

Result<Value> read_length(const Element& element) {
  auto text = element.text();
  if (!text) return propagate(text);
  if (*text == "LENGTH_UNLIMITED") return Value(length_unlimited);
  const auto number = number_in<std::int32_t>(*text, 0, int32_max);
  if (!number) {
    constexpr std::array<std::string_view, 1> names{"LENGTH_UNLIMITED"};
    return element.fails(Errc::parse_error,
                         "{} is not legal; legal: a whole number from 0 to {}, LENGTH_UNLIMITED{}",
                         quoted(*text), int32_max, suggestion(*text, names));
  }
  return Value(*number);
}

template <typename Stored, typename Number>
Result<Value> read_number(const Element& element, Number low, Number high) {
  auto text = element.text();
  if (!text) return propagate(text);
  const auto number = number_in<Number>(*text, low, high);
  if (!number) return not_legal(element, *text, fmt::format("a whole number from {} to {}", low, high));
  return Value(static_cast<Stored>(*number));
}

Result<Value> read_boolean(const Element& element) {
  auto text = element.text();
  if (!text) return propagate(text);
  if (*text == "true" || *text == "1") return Value(std::string("true"));
  if (*text == "false" || *text == "0") return Value(std::string("false"));
  constexpr std::array<std::string_view, 4> names{"true", "false", "1", "0"};
  return not_legal(element, *text, names);
}

Result<Value> read_size(const Element& element) {
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
      number_in<std::uint64_t>(digits, 1, std::numeric_limits<std::int64_t>::max() >> unit.shift);
  if (!number) {
    return not_legal(element, *text,
                     "bytes from 1 to 2^63-1, as a whole number alone or with KiB, MiB or GiB");
  }
  return Value(*number << unit.shift);
}

Result<Value> read_opaque(const Element& element) {
  auto children = element.children();
  if (children && children->empty()) return Value(std::string());
  return Value(std::string("given"));
}

}  // namespace

Result<Value> read_value(const Element& element, const ValueRule& rule) {
  if (auto status = element.check_attributes({}); !status) return propagate(status);
  switch (rule.type) {
    case ValueType::kind:
      return read_kind(element, rule);
    case ValueType::duration:
      return read_duration(element);
    case ValueType::length:
      return read_length(element);
    case ValueType::depth:
      return read_number<std::int32_t, std::int32_t>(element, 0, int32_max);
    case ValueType::count:
      return read_number<std::uint64_t, std::uint64_t>(element, 0, 0xffffffff);
    case ValueType::integer:
      return read_number<std::int32_t, std::int32_t>(element, std::numeric_limits<std::int32_t>::min(),
                                                     int32_max);
    case ValueType::boolean:
      return read_boolean(element);
    case ValueType::size:
      return read_size(element);
    case ValueType::opaque:
      return read_opaque(element);
  }
  return element.fails(Errc::unsupported, "the element is not read");
}

std::string value_to_string(const Value& value, ValueType type) {
  if (const auto* text = std::get_if<std::string>(&value)) return text->empty() ? "empty" : *text;
  if (const auto* duration = std::get_if<Duration>(&value)) return to_string(*duration);
  if (const auto* number = std::get_if<std::int32_t>(&value)) {
    return type == ValueType::length ? length_to_string(*number) : fmt::format("{}", *number);
  }
  return fmt::format("{}", std::get<std::uint64_t>(value));
}

}  // namespace llamada::qos::xml
