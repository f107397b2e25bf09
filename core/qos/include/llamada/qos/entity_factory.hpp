#pragma once

#include "llamada/base/result.hpp"
#include "llamada/qos/policy.hpp"

namespace llamada::qos {

/// ENTITY_FACTORY (DDS 1.4, 2.2.3.20): whether entities are enabled as soon as they are created. Changeable,
/// for what is created from then on; nothing to match.
struct EntityFactory {
  static constexpr PolicyId id = PolicyId::entity_factory;

  bool autoenable_created_entities = true;

  bool operator==(const EntityFactory&) const = default;
};

/// "autoenable_created_entities true".
std::string to_string(const EntityFactory& policy);

}  // namespace llamada::qos
