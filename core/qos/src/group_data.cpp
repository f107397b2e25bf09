#include "llamada/qos/group_data.hpp"

namespace llamada::qos {

Status check_consistent(const GroupData& policy) { return check_opaque_value(policy.id, policy.value); }

std::string to_string(const GroupData& policy) { return opaque_to_string(policy.value); }

}  // namespace llamada::qos
