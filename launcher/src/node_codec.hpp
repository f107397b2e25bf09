#pragma once

#include <cstddef>
#include <vector>

#include "llamada/launcher/stream_decoder.hpp"
#include "node_messages.hpp"

// The messages between the coordinator of a job and a node's supervisor as bytes, for a stream between them:
// docs/internals/job-control.md. StreamDecoder<ToNode> and StreamDecoder<FromNode> read them.

namespace llamada::launcher::node {

std::vector<std::byte> encode(const ToNode& message);
std::vector<std::byte> encode(const FromNode& message);

}  // namespace llamada::launcher::node
