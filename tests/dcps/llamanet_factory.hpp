#pragma once

#include "dcps_support.hpp"
#include "llamada/llamanet/transport.hpp"

namespace llamada::dcps::test {

/// Participants that join the node whose driver listens there.
inline DomainParticipantFactory::OpenTransport join_node(std::string socket_name) {
  return [socket_name = std::move(socket_name)](DomainId) -> Result<std::unique_ptr<topics::Transport>> {
    llamanet::ApplicationOptions options;
    options.socket_name = socket_name;
    return llamanet::LlamanetTransport::open(options);
  };
}

}  // namespace llamada::dcps::test
