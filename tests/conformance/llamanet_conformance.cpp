#include "../unit/llamanet/node.hpp"
#include "llamada/llamanet/transport.hpp"

struct TransportFixture {
  TransportFixture() : node(options()) { node.start(); }

  static llamada::llamanet::DriverOptions options() {
    llamada::llamanet::DriverOptions options;
    options.on_demand = true;
    options.slot_count_max = 16;
    options.arena_size_bytes = 256 << 20;
    return options;
  }
  std::unique_ptr<llamada::topics::Transport> attach() {
    llamada::llamanet::ApplicationOptions options;
    options.socket_name = node.socket_name();
    auto application = llamada::llamanet::Application::attach(options);
    REQUIRE(application);
    return std::make_unique<llamada::llamanet::LlamanetTransport>(std::move(*application));
  }

  llamada::llamanet::Node node;
};

#include "transport_conformance.hpp"
