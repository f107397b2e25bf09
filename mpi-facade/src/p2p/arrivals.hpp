#pragma once

#include <memory>
#include <vector>

#include "p2p/incoming.hpp"
#include "p2p/request.hpp"
#include "p2p/shared_payloads.hpp"

namespace llamada::mpi {

/// The messages of one rank that came before their receives, each with its payload. Objects are reused, and
/// never move.
///
/// Threads: the engine's.
class Arrivals {
 public:
  /// `stays`: payloads stay in the logs of this node (histories are kept); all others are copied.
  explicit Arrivals(bool stays) : stays_(stays) {}

  /// A message has come that nobody waits for.
  Arrival& add(const IncomingMessage& message);
  /// It has been received, or dropped.
  void recycle(Arrival& arrival);
  /// Logs are reused from now on: what lies in them is copied.
  void copy_all();

 private:
  Arrival& take_unused();
  void copy_payload(Arrival& arrival, const IncomingMessage& message);

  bool stays_;
  SharedPayloads shared_payloads_;
  std::vector<std::unique_ptr<Arrival>> arrivals_;
  Arrival* free_ = nullptr;
};

}  // namespace llamada::mpi
