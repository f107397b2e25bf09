#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "lane.hpp"
#include "packet_port.hpp"

namespace llamada::bed {

/// Carries one node's frames between its link and the network, as two lanes say.
class Relay {
 public:
  /// Between the interfaces `node` (where the node's frames come out) and `network`. Errors: those of the
  /// system.
  static Result<std::unique_ptr<Relay>> open(const std::string& node, const std::string& network,
                                             std::uint64_t seed);
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  /// "seed=7", then faults, to one direction or both: "from" the node, "to" it, "both". `peer`: only frames
  /// between the node and this address. Errors: parse_error.
  Status change(const std::string& direction, std::optional<std::uint64_t> peer,
                std::span<const std::string> words);
  /// "from seen=…\nto seen=…\nwaiting=… overruns=…\n".
  std::string text();

  int node_descriptor() const { return node_.descriptor(); }
  int network_descriptor() const { return network_.descriptor(); }
  /// Takes what has come, and sends what is due.
  void work();
  std::optional<std::chrono::nanoseconds> due() const;

 private:
  Relay(PacketPort node, PacketPort network, std::uint64_t seed);

  PacketPort node_, network_;
  Lane from_, to_;
  std::uint64_t overruns_ = 0;
};

}  // namespace llamada::bed
