#pragma once

#include <algorithm>
#include <vector>

#include "llamada/dcps/builtin_topics.hpp"
#include "llamada/dcps/status.hpp"
#include "llamada/topics/discovery.hpp"

namespace llamada::dcps {

/// What writers and readers report alike.

void count_incompatible(IncompatibleQosStatus& status, const std::vector<qos::Incompatibility>& why);

/// The built-in topics' view of an endpoint.
PublicationBuiltinTopicData publication_data(const topics::EndpointInfo& writer);
SubscriptionBuiltinTopicData subscription_data(const topics::EndpointInfo& reader);

}  // namespace llamada::dcps
