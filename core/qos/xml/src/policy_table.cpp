#include "policy_table.hpp"

#include <array>

#include "llamada/qos/profile.hpp"

namespace llamada::qos::xml {
namespace {

using std::string;
using enum ValueType;

template <typename Kind>
std::vector<std::string_view> names_of() {
  std::vector<std::string_view> names;
  for (const KindName<Kind>& entry : kind_names(Kind{})) names.push_back(entry.name);
  return names;
}

ValueRule kind_rule(std::string_view name, std::vector<std::string_view> kinds, string default_kind,
                    std::string_view suffix) {
  return {name, kind, std::move(default_kind), std::move(kinds), suffix};
}

/// Limits as RESOURCE_LIMITS and DURABILITY_SERVICE have them.
ValueRule limit_rule(std::string_view name) { return {name, length, length_unlimited}; }

constexpr unsigned ends = writer | reader;

std::vector<PolicyRule> enforced_rules() {
  return {
      {"reliability",
       topic | ends,
       ends,
       {kind_rule("kind", names_of<ReliabilityKind>(), "BEST_EFFORT", "_RELIABILITY_QOS"),
        {"max_blocking_time", duration, Duration(std::chrono::milliseconds(100))}}},
      {"durability",
       topic | ends,
       ends,
       {kind_rule("kind", names_of<DurabilityKind>(), "VOLATILE", "_DURABILITY_QOS")}},
      {"history",
       topic | ends,
       ends,
       {kind_rule("kind", names_of<HistoryKind>(), "KEEP_LAST", "_HISTORY_QOS"),
        {"depth", depth, std::int32_t{1}}}},
      {"resource_limits",
       topic | ends,
       ends,
       {limit_rule("max_samples"), limit_rule("max_instances"), limit_rule("max_samples_per_instance")}},
      {"liveliness",
       topic | ends,
       ends,
       {kind_rule("kind", names_of<LivelinessKind>(), "AUTOMATIC", "_LIVELINESS_QOS"),
        {"lease_duration", duration, duration_infinite}}},
      {"rank_replacement",
       profile,
       profile,
       {kind_rule("kind", names_of<RankReplacementKind>(), "ABORT", ""),
        {"max_replacements_per_rank", count, std::uint64_t{RankReplacement{}.max_replacements_per_rank}},
        {"max_replacements_per_job", count, std::uint64_t{RankReplacement{}.max_replacements_per_job}},
        {"log_bytes_per_node", size, RankReplacement{}.log_bytes_per_node},
        kind_rule("on_unprotected", names_of<OnUnprotected>(), "CONTINUE", "")}},
  };
}

std::vector<PolicyRule> default_only_rules() {
  return {
      {"user_data", participant | ends, 0, {{"value", opaque, string()}}},
      {"topic_data", topic, 0, {{"value", opaque, string()}}},
      {"group_data", publisher | subscriber, 0, {{"value", opaque, string()}}},
      {"durability_service",
       topic | writer,
       0,
       {{"service_cleanup_delay", duration, Duration::zero()},
        kind_rule("history_kind", names_of<HistoryKind>(), "KEEP_LAST", "_HISTORY_QOS"),
        {"history_depth", depth, std::int32_t{1}},
        limit_rule("max_samples"),
        limit_rule("max_instances"),
        limit_rule("max_samples_per_instance")}},
      {"presentation",
       publisher | subscriber,
       0,
       {kind_rule("access_scope", {"INSTANCE", "TOPIC", "GROUP"}, "INSTANCE", "_PRESENTATION_QOS"),
        {"coherent_access", boolean, string("false")},
        {"ordered_access", boolean, string("false")}}},
      {"deadline", topic | ends, 0, {{"period", duration, duration_infinite}}},
      {"latency_budget", topic | ends, 0, {{"duration", duration, Duration::zero()}}},
      {"ownership",
       topic | ends,
       0,
       {kind_rule("kind", {"SHARED", "EXCLUSIVE"}, "SHARED", "_OWNERSHIP_QOS")}},
      {"ownership_strength", writer, 0, {{"value", integer, std::int32_t{0}}}},
      {"time_based_filter", reader, 0, {{"minimum_separation", duration, Duration::zero()}}},
      {"partition", publisher | subscriber, 0, {{"name", opaque, string()}}},
      {"transport_priority", topic | writer, 0, {{"value", integer, std::int32_t{0}}}},
      {"lifespan", topic | writer, 0, {{"duration", duration, duration_infinite}}},
      {"destination_order",
       topic | ends,
       0,
       {kind_rule("kind", {"BY_RECEPTION_TIMESTAMP", "BY_SOURCE_TIMESTAMP"}, "BY_RECEPTION_TIMESTAMP",
                  "_DESTINATIONORDER_QOS")}},
      {"entity_factory",
       participant | publisher | subscriber,
       0,
       {{"autoenable_created_entities", boolean, string("true")}}},
      {"writer_data_lifecycle", writer, 0, {{"autodispose_unregistered_instances", boolean, string("true")}}},
      {"reader_data_lifecycle",
       reader,
       0,
       {{"autopurge_nowriter_samples_delay", duration, duration_infinite},
        {"autopurge_disposed_samples_delay", duration, duration_infinite}}},
  };
}

std::vector<PolicyRule> all_rules() {
  std::vector<PolicyRule> rules = enforced_rules();
  for (PolicyRule& rule : default_only_rules()) rules.push_back(std::move(rule));
  return rules;
}

}  // namespace

std::span<const EntityRule> entity_rules() {
  static constexpr std::array<EntityRule, 6> rules{{
      {"datawriter_qos", writer},
      {"datareader_qos", reader},
      {"topic_qos", topic},
      {"publisher_qos", publisher},
      {"subscriber_qos", subscriber},
      {"domainparticipant_qos", participant},
  }};
  return rules;
}

std::span<const PolicyRule> policy_rules() {
  static const std::vector<PolicyRule> rules = all_rules();
  return rules;
}

std::vector<std::string_view> policy_names(Entity entity) {
  std::vector<std::string_view> names;
  for (const PolicyRule& rule : policy_rules()) {
    if ((rule.entities & entity) != 0) names.push_back(rule.element);
  }
  return names;
}

const PolicyRule* find_policy(std::string_view element, Entity entity) {
  for (const PolicyRule& rule : policy_rules()) {
    if (rule.element == element && (rule.entities & entity) != 0) return &rule;
  }
  return nullptr;
}

}  // namespace llamada::qos::xml
