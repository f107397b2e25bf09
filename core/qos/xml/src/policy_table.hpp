#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "values.hpp"

// The 22 policies of DDS 1.4, 2.2.3, as DDS-XML 1.0 writes them, and rank_replacement.
namespace llamada::qos::xml {

/// The elements that hold policies.
enum Entity : unsigned {
  participant = 1,
  publisher = 2,
  subscriber = 4,
  topic = 8,
  writer = 16,
  reader = 32,
  profile = 64,
};

struct PolicyRule {
  std::string_view element;  ///< "resource_limits"
  unsigned entities;         ///< The Entity values in which it may stand.
  unsigned enforced;         ///< Those in which any consistent value is taken; elsewhere only the defaults.
  std::vector<ValueRule> values;
};

struct EntityRule {
  std::string_view element;  ///< "datawriter_qos"
  Entity entity;
};

std::span<const EntityRule> entity_rules();
std::span<const PolicyRule> policy_rules();

/// The names of the policies that may stand in an entity.
std::vector<std::string_view> policy_names(Entity entity);

/// The rule of a policy that may stand in that entity, or null.
const PolicyRule* find_policy(std::string_view element, Entity entity);

}  // namespace llamada::qos::xml
