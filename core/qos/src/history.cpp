#include "llamada/qos/history.hpp"

#include <array>

namespace llamada::qos {

std::span<const KindName<HistoryKind>> kind_names(HistoryKind) {
  static constexpr std::array<KindName<HistoryKind>, 2> names{{
      {HistoryKind::keep_last, "KEEP_LAST"},
      {HistoryKind::keep_all, "KEEP_ALL"},
  }};
  return names;
}

Status check_consistent(const History& policy) {
  if (policy.kind == HistoryKind::keep_last && policy.depth < 1) {
    return failure(Errc::invalid_argument, "HISTORY: KEEP_LAST with depth {}; depth must be at least 1",
                   policy.depth);
  }
  return {};
}

std::string to_string(const History& policy) {
  if (policy.kind == HistoryKind::keep_all) return "KEEP_ALL";
  return fmt::format("{}, depth {}", to_string(policy.kind), policy.depth);
}

}  // namespace llamada::qos
