#pragma once

#include <cstdint>

#include "llamada/dcps/instance_handle.hpp"
#include "llamada/topics/discovery.hpp"

namespace llamada::dcps {

/// The handles of a writer or reader and of a participant in the domain.
inline InstanceHandle handle_of(const topics::EndpointId& id) { return {id.participant, id.endpoint}; }
inline InstanceHandle participant_handle(std::uint64_t id) { return {id, ~std::uint64_t{0}}; }

}  // namespace llamada::dcps
