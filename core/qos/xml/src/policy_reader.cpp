#include "policy_reader.hpp"

#include <algorithm>
#include <map>
#include <type_traits>

#include "policy_table.hpp"
#include "words.hpp"

namespace llamada::qos::xml {
namespace {

/// The values that stand in one policy's element, by the names of their elements.
using Values = std::map<std::string_view, Value>;

Result<Values> read_values(const Element& element, const PolicyRule& rule) {
  if (auto status = element.check_attributes({}); !status) return propagate(status);
  std::vector<std::string_view> names;
  for (const ValueRule& value : rule.values) names.push_back(value.name);
  auto children = element.children_once(names);
  if (!children) return propagate(children);
  if (children->empty()) {
    return element.fails(Errc::parse_error, "the element is empty; it needs some of: {}", listed(names));
  }
  Values values;
  for (const Element& child : *children) {
    const std::size_t index = std::find(names.begin(), names.end(), child.name()) - names.begin();
    auto value = read_value(child, rule.values[index]);
    if (!value) return propagate(value);
    values.emplace(rule.values[index].name, std::move(*value));
  }
  return values;
}

/// A policy that nothing enforces here may stand there with the standard's default, which changes nothing.
Status check_defaults(const Element& element, const PolicyRule& rule, const Values& values) {
  for (const ValueRule& value : rule.values) {
    const auto given = values.find(value.name);
    if (given == values.end() || given->second == value.default_value) continue;
    return element.fails(Errc::unsupported, "{} {} is not enforced yet; only the default is accepted: {}",
                         value.name, value_to_string(given->second, value.type),
                         value_to_string(value.default_value, value.type));
  }
  return {};
}

/// Puts a value in its field if it stands there.
template <typename Field>
void put(const Values& values, std::string_view name, Field& field) {
  const auto given = values.find(name);
  if (given == values.end()) return;
  if constexpr (std::is_enum_v<Field>) {
    field = kind_from_name<Field>(std::get<std::string>(given->second)).value_or(field);
  } else if constexpr (std::is_unsigned_v<Field>) {
    field = static_cast<Field>(std::get<std::uint64_t>(given->second));
  } else {
    field = std::get<Field>(given->second);
  }
}

void put(const Values& values, Reliability& policy) {
  put(values, "kind", policy.kind);
  put(values, "max_blocking_time", policy.max_blocking_time);
}

void put(const Values& values, Durability& policy) { put(values, "kind", policy.kind); }

void put(const Values& values, History& policy) {
  put(values, "kind", policy.kind);
  put(values, "depth", policy.depth);
}

void put(const Values& values, ResourceLimits& policy) {
  put(values, "max_samples", policy.max_samples);
  put(values, "max_instances", policy.max_instances);
  put(values, "max_samples_per_instance", policy.max_samples_per_instance);
}

void put(const Values& values, Liveliness& policy) {
  put(values, "kind", policy.kind);
  put(values, "lease_duration", policy.lease_duration);
}

void put(const Values& values, RankReplacement& policy) {
  put(values, "kind", policy.kind);
  put(values, "max_replacements_per_rank", policy.max_replacements_per_rank);
  put(values, "max_replacements_per_job", policy.max_replacements_per_job);
  put(values, "log_bytes_per_node", policy.log_bytes_per_node);
  put(values, "on_unprotected", policy.on_unprotected);
}

/// What check_consistent() and check_enforced() have to say of one policy, at its element.
template <typename Policy>
Status check_policy(const Element& element, const Policy& policy) {
  if constexpr (requires { check_consistent(policy); }) {
    if (auto status = check_consistent(policy); !status) return element.fails(status.error());
  }
  if constexpr (requires { check_enforced(policy); }) {
    if (auto status = check_enforced(policy); !status) return element.fails(status.error());
  }
  return {};
}

template <typename Policy>
Status put_checked(const Element& element, const Values& values, Policy& policy) {
  put(values, policy);
  return check_policy(element, policy);
}

/// One enforced policy of a writer or a reader.
template <typename Qos>
Status put_entity_policy(const Element& element, const Values& values, Qos& qos) {
  const std::string_view name = element.name();
  if (name == "reliability") return put_checked(element, values, qos.reliability);
  if (name == "durability") return put_checked(element, values, qos.durability);
  if (name == "history") return put_checked(element, values, qos.history);
  if (name == "resource_limits") return put_checked(element, values, qos.resource_limits);
  if (name == "liveliness") return put_checked(element, values, qos.liveliness);
  return element.fails(Errc::unsupported, "the policy is not enforced yet");
}

Status read_policy(const Element& element, Entity entity, Profile& profile) {
  const PolicyRule& rule = *find_policy(element.name(), entity);
  auto values = read_values(element, rule);
  if (!values) return propagate(values);
  if ((rule.enforced & entity) == 0) return check_defaults(element, rule, *values);
  if (entity == Entity::writer) return put_entity_policy(element, *values, profile.datawriter_qos);
  if (entity == Entity::reader) return put_entity_policy(element, *values, profile.datareader_qos);
  return put_checked(element, *values, profile.rank_replacement);
}

/// <datawriter_qos> and its kin.
Status read_entity(const Element& element, Entity entity, Profile& profile) {
  for (const char* name : {"name", "base_name", "topic_filter"}) {
    if (element.attribute(name) == nullptr) continue;
    return element.fails(Errc::unsupported,
                         "attribute '{}' of {} is not enforced yet; only qos_profile may have names", name,
                         element.name());
  }
  if (auto status = element.check_attributes({}); !status) return status;
  auto policies = element.children_once(policy_names(entity));
  if (!policies) return propagate(policies);
  for (const Element& policy : *policies) {
    if (auto status = read_policy(policy, entity, profile); !status) return status;
  }
  return {};
}

}  // namespace

Status read_profile_element(const Element& element, Profile& profile) {
  std::vector<std::string_view> names = policy_names(Entity::profile);
  for (const EntityRule& rule : entity_rules()) names.push_back(rule.element);
  auto children = element.children_once(names);
  if (!children) return propagate(children);
  for (const Element& child : *children) {
    const auto rules = entity_rules();
    const auto rule = std::find_if(rules.begin(), rules.end(),
                                   [&child](const EntityRule& each) { return each.element == child.name(); });
    auto status = rule != rules.end() ? read_entity(child, rule->entity, profile)
                                      : read_policy(child, Entity::profile, profile);
    if (!status) return status;
  }
  return {};
}

}  // namespace llamada::qos::xml
