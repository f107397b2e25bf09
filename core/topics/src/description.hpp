#pragma once

#include <optional>
#include <span>
#include <vector>

#include "llamada/topics/discovery.hpp"

// The bytes by which endpoints and participants describe themselves in their arena: docs/internals/arena.md,
// "Descriptions".

namespace llamada::topics::detail {

std::vector<std::byte> encode_endpoint(const EndpointSpec& spec);
std::vector<std::byte> encode_participant(const ParticipantInfo& info);

/// Fills in what the bytes say; id, pid and slot are the caller's. Errors: parse_error and those of
/// qos::deserialize().
Result<EndpointInfo> decode_endpoint(std::span<const std::byte> bytes);
Result<ParticipantInfo> decode_participant(std::span<const std::byte> bytes);

}  // namespace llamada::topics::detail
