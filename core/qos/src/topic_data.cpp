#include "llamada/qos/topic_data.hpp"

namespace llamada::qos {

Status check_consistent(const TopicData& policy) { return check_opaque_value(policy.id, policy.value); }

std::string to_string(const TopicData& policy) { return opaque_to_string(policy.value); }

}  // namespace llamada::qos
