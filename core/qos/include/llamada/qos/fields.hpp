#pragma once

#include <concepts>
#include <type_traits>

#include "llamada/qos/deadline.hpp"
#include "llamada/qos/destination_order.hpp"
#include "llamada/qos/durability.hpp"
#include "llamada/qos/durability_service.hpp"
#include "llamada/qos/entity_factory.hpp"
#include "llamada/qos/group_data.hpp"
#include "llamada/qos/history.hpp"
#include "llamada/qos/latency_budget.hpp"
#include "llamada/qos/lifespan.hpp"
#include "llamada/qos/liveliness.hpp"
#include "llamada/qos/ownership.hpp"
#include "llamada/qos/ownership_strength.hpp"
#include "llamada/qos/partition.hpp"
#include "llamada/qos/presentation.hpp"
#include "llamada/qos/rank_replacement.hpp"
#include "llamada/qos/reader_data_lifecycle.hpp"
#include "llamada/qos/reliability.hpp"
#include "llamada/qos/resource_limits.hpp"
#include "llamada/qos/send_window.hpp"
#include "llamada/qos/time_based_filter.hpp"
#include "llamada/qos/topic_data.hpp"
#include "llamada/qos/transport_priority.hpp"
#include "llamada/qos/user_data.hpp"
#include "llamada/qos/writer_data_lifecycle.hpp"

// The fields of each policy by name, once for all that reads, writes or shows them.
namespace llamada::qos {

/// `T` is `Policy` or `const Policy`.
template <typename T, typename Policy>
concept OneOf = std::same_as<std::remove_const_t<T>, Policy>;

/// each_field(policy, visit) calls visit("kind", policy.kind) for each field in the standard's order. A field
/// is an enumeration with kind_names(), a Duration, an int32_t (uint32_t, uint64_t or a std::string in
/// RankReplacement), a bool, a std::vector<std::byte> or a std::vector<std::string>.
template <OneOf<UserData> Policy, typename Visitor>
void each_field(Policy& policy, Visitor&& visit) {
  visit("value", policy.value);
}

template <OneOf<TopicData> Policy, typename Visitor>
void each_field(Policy& policy, Visitor&& visit) {
  visit("value", policy.value);
}

template <OneOf<GroupData> Policy, typename Visitor>
void each_field(Policy& policy, Visitor&& visit) {
  visit("value", policy.value);
}

template <OneOf<Durability> Policy, typename Visitor>
void each_field(Policy& policy, Visitor&& visit) {
  visit("kind", policy.kind);
}

template <OneOf<DurabilityService> Policy, typename Visitor>
void each_field(Policy& policy, Visitor&& visit) {
  visit("service_cleanup_delay", policy.service_cleanup_delay);
  visit("history_kind", policy.history_kind);
  visit("history_depth", policy.history_depth);
  visit("max_samples", policy.max_samples);
  visit("max_instances", policy.max_instances);
  visit("max_samples_per_instance", policy.max_samples_per_instance);
}

template <OneOf<Presentation> Policy, typename Visitor>
void each_field(Policy& policy, Visitor&& visit) {
  visit("access_scope", policy.access_scope);
  visit("coherent_access", policy.coherent_access);
  visit("ordered_access", policy.ordered_access);
}

template <OneOf<Deadline> Policy, typename Visitor>
void each_field(Policy& policy, Visitor&& visit) {
  visit("period", policy.period);
}

template <OneOf<LatencyBudget> Policy, typename Visitor>
void each_field(Policy& policy, Visitor&& visit) {
  visit("duration", policy.duration);
}

template <OneOf<Ownership> Policy, typename Visitor>
void each_field(Policy& policy, Visitor&& visit) {
  visit("kind", policy.kind);
}

template <OneOf<OwnershipStrength> Policy, typename Visitor>
void each_field(Policy& policy, Visitor&& visit) {
  visit("value", policy.value);
}

template <OneOf<Liveliness> Policy, typename Visitor>
void each_field(Policy& policy, Visitor&& visit) {
  visit("kind", policy.kind);
  visit("lease_duration", policy.lease_duration);
}

template <OneOf<TimeBasedFilter> Policy, typename Visitor>
void each_field(Policy& policy, Visitor&& visit) {
  visit("minimum_separation", policy.minimum_separation);
}

template <OneOf<Partition> Policy, typename Visitor>
void each_field(Policy& policy, Visitor&& visit) {
  visit("name", policy.name);
}

template <OneOf<Reliability> Policy, typename Visitor>
void each_field(Policy& policy, Visitor&& visit) {
  visit("kind", policy.kind);
  visit("max_blocking_time", policy.max_blocking_time);
}

template <OneOf<TransportPriority> Policy, typename Visitor>
void each_field(Policy& policy, Visitor&& visit) {
  visit("value", policy.value);
}

template <OneOf<Lifespan> Policy, typename Visitor>
void each_field(Policy& policy, Visitor&& visit) {
  visit("duration", policy.duration);
}

template <OneOf<DestinationOrder> Policy, typename Visitor>
void each_field(Policy& policy, Visitor&& visit) {
  visit("kind", policy.kind);
}

template <OneOf<History> Policy, typename Visitor>
void each_field(Policy& policy, Visitor&& visit) {
  visit("kind", policy.kind);
  visit("depth", policy.depth);
}

template <OneOf<ResourceLimits> Policy, typename Visitor>
void each_field(Policy& policy, Visitor&& visit) {
  visit("max_samples", policy.max_samples);
  visit("max_instances", policy.max_instances);
  visit("max_samples_per_instance", policy.max_samples_per_instance);
}

template <OneOf<EntityFactory> Policy, typename Visitor>
void each_field(Policy& policy, Visitor&& visit) {
  visit("autoenable_created_entities", policy.autoenable_created_entities);
}

template <OneOf<WriterDataLifecycle> Policy, typename Visitor>
void each_field(Policy& policy, Visitor&& visit) {
  visit("autodispose_unregistered_instances", policy.autodispose_unregistered_instances);
}

template <OneOf<ReaderDataLifecycle> Policy, typename Visitor>
void each_field(Policy& policy, Visitor&& visit) {
  visit("autopurge_nowriter_samples_delay", policy.autopurge_nowriter_samples_delay);
  visit("autopurge_disposed_samples_delay", policy.autopurge_disposed_samples_delay);
}

template <OneOf<SendWindow> Policy, typename Visitor>
void each_field(Policy& policy, Visitor&& visit) {
  visit("min", policy.min);
  visit("max", policy.max);
}

template <OneOf<RankReplacement> Policy, typename Visitor>
void each_field(Policy& policy, Visitor&& visit) {
  visit("kind", policy.kind);
  visit("max_replacements_per_rank", policy.max_replacements_per_rank);
  visit("max_replacements_per_job", policy.max_replacements_per_job);
  visit("log_bytes_per_node", policy.log_bytes_per_node);
  visit("log_bytes_at_start", policy.log_bytes_at_start);
  visit("on_unprotected", policy.on_unprotected);
  visit("log_directory", policy.log_directory);
  visit("standby_interval", policy.standby_interval);
}

/// True if a field of that name and of type int32_t is a count that may be LENGTH_UNLIMITED.
bool is_length(std::string_view field);

/// True if a field of that name and of type Duration is `auto`, `off` or seconds: standby_to_string().
bool is_standby_interval(std::string_view field);

/// A field as messages show it: "KEEP_ALL", "100 ms", "LENGTH_UNLIMITED", "true", "2 bytes: 00 ff", "'a',
/// 'b*'" or "empty".
std::string field_to_string(std::string_view name, std::int32_t field);
std::string field_to_string(std::string_view name, std::uint32_t field);
std::string field_to_string(std::string_view name, std::uint64_t field);
std::string field_to_string(std::string_view name, bool field);
std::string field_to_string(std::string_view name, const Duration& field);
std::string field_to_string(std::string_view name, const std::string& field);
std::string field_to_string(std::string_view name, const std::vector<std::byte>& field);
std::string field_to_string(std::string_view name, const std::vector<std::string>& field);
template <typename Kind>
requires std::is_enum_v<Kind> std::string field_to_string(std::string_view, Kind field) {
  return std::string(to_string(field));
}

}  // namespace llamada::qos
