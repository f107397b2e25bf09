#include "llamada/qos/user_data.hpp"

namespace llamada::qos {

Status check_consistent(const UserData& policy) { return check_opaque_value(policy.id, policy.value); }

std::string to_string(const UserData& policy) { return opaque_to_string(policy.value); }

}  // namespace llamada::qos
