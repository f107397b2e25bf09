#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "element.hpp"
#include "llamada/base/result.hpp"
#include "llamada/qos/fields.hpp"

// The values that stand in the elements of policies. Errc::parse_error names the legal values and the nearest
// one.
namespace llamada::qos::xml {

/// <sec> and <nanosec>, of which a missing one is 0. A standby_interval is a text: seconds, auto or off.
Status read_value(const Element& element, std::string_view name, Duration& value);
/// By its name a count from 0 or LENGTH_UNLIMITED, a depth from 0, or a number that may be negative.
Status read_value(const Element& element, std::string_view name, std::int32_t& value);
/// From 0.
Status read_value(const Element& element, std::string_view name, std::uint32_t& value);
/// Bytes, above 0, also with KiB, MiB or GiB.
Status read_value(const Element& element, std::string_view name, std::uint64_t& value);
/// true, false, 1 or 0.
Status read_value(const Element& element, std::string_view name, bool& value);
/// Any text, which may be empty.
Status read_value(const Element& element, std::string_view name, std::string& value);
/// Pairs of hexadecimal digits, blanks between them or not; or numbers up to 255 with commas between them,
/// decimal or with 0x. One number alone is a pair unless it begins with 0x. May be empty.
Status read_value(const Element& element, std::string_view name, std::vector<std::byte>& value);
/// Any number of <element>, each of which may be empty.
Status read_value(const Element& element, std::string_view name, std::vector<std::string>& value);

/// The name of one of `kinds`, with or without the suffix of its IDL name.
Result<std::string> read_kind_name(const Element& element, std::span<const std::string_view> kinds,
                                   std::string_view suffix);

/// What DDS's IDL puts behind the names of a policy's kinds.
constexpr std::string_view idl_suffix(DurabilityKind) { return "_DURABILITY_QOS"; }
constexpr std::string_view idl_suffix(PresentationAccessScope) { return "_PRESENTATION_QOS"; }
constexpr std::string_view idl_suffix(OwnershipKind) { return "_OWNERSHIP_QOS"; }
constexpr std::string_view idl_suffix(LivelinessKind) { return "_LIVELINESS_QOS"; }
constexpr std::string_view idl_suffix(ReliabilityKind) { return "_RELIABILITY_QOS"; }
constexpr std::string_view idl_suffix(DestinationOrderKind) { return "_DESTINATIONORDER_QOS"; }
constexpr std::string_view idl_suffix(HistoryKind) { return "_HISTORY_QOS"; }
constexpr std::string_view idl_suffix(RankReplacementKind) { return ""; }
constexpr std::string_view idl_suffix(OnUnprotected) { return ""; }

template <typename Kind>
requires std::is_enum_v<Kind> Status read_value(const Element& element, std::string_view, Kind& value) {
  std::vector<std::string_view> names;
  for (const KindName<Kind>& entry : kind_names(Kind{})) names.push_back(entry.name);
  auto name = read_kind_name(element, names, idl_suffix(Kind{}));
  if (!name) return propagate(name);
  value = kind_from_name<Kind>(*name).value_or(value);
  return {};
}

}  // namespace llamada::qos::xml
