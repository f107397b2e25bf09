#pragma once

#include <cstdint>
#include <optional>

#include "llamada/log/peer_arena.hpp"
#include "llamada/replication/frame.hpp"
#include "llamada/replication/log_name.hpp"

namespace llamada::replication {

struct PeerState;

/// Where a process reads a log that it serves.
struct LogSource {
  log::PeerArena arena;
  std::uint32_t index = 0;
  /// Of a log that another process writes: the cursor that stands for the keeper in that process's arena.
  /// Null: it has none there.
  const log::CursorEntry* keeper = nullptr;
};

/// The logs of other processes that a carrier can serve: histories, in arenas that are mapped here. Called
/// from within Carrier::work(); must not call the carrier.
class Histories {
 public:
  virtual ~Histories() = default;
  /// Where a log is that `keeper` asks for, if it is there by now. It stays mapped.
  virtual std::optional<LogSource> find(const LogName& name, EndpointNumber keeper) = 0;
  /// Who an endpoint is that the carrier has not met, and that has the job's key. Nothing: it is not met.
  virtual std::optional<PeerState> introduce(EndpointNumber stranger) = 0;
};

/// The key of the cursor that stands for a keeper elsewhere, in the arena of the log's writer.
constexpr log::LogKey keeper_key(log::LogKey key) { return {key.high | std::uint64_t{1} << 63, key.low}; }

}  // namespace llamada::replication
