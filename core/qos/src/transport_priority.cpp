#include "llamada/qos/transport_priority.hpp"

namespace llamada::qos {

std::string to_string(const TransportPriority& policy) { return fmt::format("value {}", policy.value); }

}  // namespace llamada::qos
