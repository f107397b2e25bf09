#include "llamada/qos/ownership_strength.hpp"

namespace llamada::qos {

std::string to_string(const OwnershipStrength& policy) { return fmt::format("value {}", policy.value); }

}  // namespace llamada::qos
