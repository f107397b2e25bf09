#include "llamada/qos/policy.hpp"

#include <algorithm>
#include <array>

namespace llamada::qos {
namespace {

struct PolicyFacts {
  PolicyId id;
  std::string_view name;
  std::string_view element;
  bool changeable;
  bool requested_offered;
};

constexpr std::array<PolicyFacts, 24> facts{{
    {PolicyId::user_data, "USER_DATA", "user_data", true, false},
    {PolicyId::durability, "DURABILITY", "durability", false, true},
    {PolicyId::presentation, "PRESENTATION", "presentation", false, true},
    {PolicyId::deadline, "DEADLINE", "deadline", true, true},
    {PolicyId::latency_budget, "LATENCY_BUDGET", "latency_budget", true, true},
    {PolicyId::ownership, "OWNERSHIP", "ownership", false, true},
    {PolicyId::ownership_strength, "OWNERSHIP_STRENGTH", "ownership_strength", true, false},
    {PolicyId::liveliness, "LIVELINESS", "liveliness", false, true},
    {PolicyId::time_based_filter, "TIME_BASED_FILTER", "time_based_filter", true, false},
    {PolicyId::partition, "PARTITION", "partition", true, false},
    {PolicyId::reliability, "RELIABILITY", "reliability", false, true},
    {PolicyId::destination_order, "DESTINATION_ORDER", "destination_order", false, true},
    {PolicyId::history, "HISTORY", "history", false, false},
    {PolicyId::resource_limits, "RESOURCE_LIMITS", "resource_limits", false, false},
    {PolicyId::entity_factory, "ENTITY_FACTORY", "entity_factory", true, false},
    {PolicyId::writer_data_lifecycle, "WRITER_DATA_LIFECYCLE", "writer_data_lifecycle", true, false},
    {PolicyId::reader_data_lifecycle, "READER_DATA_LIFECYCLE", "reader_data_lifecycle", true, false},
    {PolicyId::topic_data, "TOPIC_DATA", "topic_data", true, false},
    {PolicyId::group_data, "GROUP_DATA", "group_data", true, false},
    {PolicyId::transport_priority, "TRANSPORT_PRIORITY", "transport_priority", true, false},
    {PolicyId::lifespan, "LIFESPAN", "lifespan", true, false},
    {PolicyId::durability_service, "DURABILITY_SERVICE", "durability_service", false, false},
    {PolicyId::rank_replacement, "rank_replacement", "rank_replacement", false, false},
    {PolicyId::send_window, "SEND_WINDOW", "send_window", false, false},
}};

const PolicyFacts* facts_of(PolicyId policy) {
  const auto found = std::find_if(facts.begin(), facts.end(),
                                  [policy](const PolicyFacts& each) { return each.id == policy; });
  return found == facts.end() ? nullptr : &*found;
}

constexpr auto policy_ids = [] {
  std::array<PolicyId, facts.size()> ids{};
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = facts[i].id;
  return ids;
}();

}  // namespace

std::span<const PolicyId> all_policies() { return policy_ids; }

std::string_view to_string(PolicyId policy) {
  const PolicyFacts* found = facts_of(policy);
  return found == nullptr ? "?" : found->name;
}

std::string_view element_name(PolicyId policy) {
  const PolicyFacts* found = facts_of(policy);
  return found == nullptr ? "?" : found->element;
}

bool is_changeable(PolicyId policy) {
  const PolicyFacts* found = facts_of(policy);
  return found != nullptr && found->changeable;
}

bool is_requested_offered(PolicyId policy) {
  const PolicyFacts* found = facts_of(policy);
  return found != nullptr && found->requested_offered;
}

std::string to_string(Duration duration) {
  if (duration == duration_infinite) return "infinite";
  const std::int64_t count = duration.count();
  if (count % 1'000'000'000 == 0) return fmt::format("{} s", count / 1'000'000'000);
  if (count % 1'000'000 == 0) return fmt::format("{} ms", count / 1'000'000);
  if (count % 1'000 == 0) return fmt::format("{} us", count / 1'000);
  return fmt::format("{} ns", count);
}

std::string length_to_string(std::int32_t length) {
  return length == length_unlimited ? "LENGTH_UNLIMITED" : fmt::format("{}", length);
}

std::string opaque_to_string(std::span<const std::byte> value) {
  if (value.empty()) return "empty";
  constexpr std::size_t shown_max = 16;
  std::string text = fmt::format("{} byte{}:", value.size(), value.size() == 1 ? "" : "s");
  for (std::byte each : value.first(std::min(value.size(), shown_max)))
    text += fmt::format(" {:02x}", std::to_integer<unsigned>(each));
  return text + (value.size() > shown_max ? " ..." : "");
}

Status check_opaque_value(PolicyId policy, std::span<const std::byte> value) {
  if (value.size() <= opaque_value_size_max_bytes) return {};
  return failure(Errc::invalid_argument, "{}: value has {} bytes; the limit is {}", to_string(policy),
                 value.size(), opaque_value_size_max_bytes);
}

}  // namespace llamada::qos
