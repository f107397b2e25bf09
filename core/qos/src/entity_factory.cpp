#include "llamada/qos/entity_factory.hpp"

namespace llamada::qos {

std::string to_string(const EntityFactory& policy) {
  return fmt::format("autoenable_created_entities {}", policy.autoenable_created_entities);
}

}  // namespace llamada::qos
