#include "llamada/topics/loopback.hpp"

#include "test.hpp"

struct TransportFixture {
  llamada::topics::Loopback domain;
  std::unique_ptr<llamada::topics::Transport> attach() {
    auto transport = domain.attach();
    REQUIRE(transport.has_value());
    return std::move(*transport);
  }
};

#include "transport_conformance.hpp"
