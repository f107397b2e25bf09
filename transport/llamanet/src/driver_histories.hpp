#pragma once

#include <cstdint>
#include <vector>

#include "driver_roster.hpp"
#include "llamada/log/peer_arena.hpp"

namespace llamada::llamanet {

/// The histories that a driver on demand keeps. The arena of an application that left in order goes at once,
/// as DDS has it for a DataWriter that is deleted. That of an application that died stays for newcomers if it
/// had a TRANSIENT_LOCAL writer, as long as anybody is attached, and at most kept_max of them: the oldest
/// goes first. (Readers that have it mapped keep it in any case.)
class DriverHistories {
 public:
  static constexpr std::size_t kept_max = 16;

  /// `roster` is borrowed.
  explicit DriverHistories(DriverRoster& roster) : roster_(roster) {}

  /// The application of `slot` has died: the roster says so already.
  void on_death(std::uint32_t slot);
  /// Some application has left: frees the slots whose histories are no longer kept.
  void drop();

 private:
  bool has_lasting_writer(std::uint32_t slot) const;

  DriverRoster& roster_;
  std::vector<std::uint32_t> kept_;  // slots of the dead, the oldest death first
};

/// Whether a DataWriter whose history newcomers are to get lives in this arena.
bool has_lasting_writer(const log::PeerArena& arena);

}  // namespace llamada::llamanet
