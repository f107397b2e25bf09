#pragma once

#include "llamada/base/result.hpp"
#include "llamada/qos/policy.hpp"

namespace llamada::qos {

enum class HistoryKind : std::uint8_t { keep_last, keep_all };

std::span<const KindName<HistoryKind>> kind_names(HistoryKind);

/// HISTORY (DDS 1.4, 2.2.3.18): which samples of an instance are kept. Each end has its own: there is nothing
/// to match.
struct History {
  static constexpr PolicyId id = PolicyId::history;

  HistoryKind kind = HistoryKind::keep_last;
  /// Samples kept for each instance. Only KEEP_LAST looks at it.
  std::int32_t depth = 1;

  bool operator==(const History&) const = default;
};

/// Errc::invalid_argument if KEEP_LAST has a depth below 1.
Status check_consistent(const History& policy);

/// "KEEP_LAST, depth 1", "KEEP_ALL".
std::string to_string(const History& policy);

}  // namespace llamada::qos
