#pragma once

#include <cstddef>
#include <cstdint>

#include "p2p/kept_payloads.hpp"

// Which way a message goes from its sender to its receiver, decided in one place before anything is written.
// docs/internals/messages.md has all ways on one page.
//
// What has at most log::publish_fast_bytes_max bytes and finds room at once does not come here
// (Outgoing::send_small): it goes whole into the log.

namespace llamada::mpi {

enum class Way : std::uint8_t {
  log,        ///< whole into the log to the receiver; the send is over (eager)
  log_if,     ///< the same if that takes less time than `memory`; the send waits for its match
  memory,     ///< announced; after the match both ends copy from the sender's memory to the receiver's
  bulk_lane,  ///< announced; after the match it comes in pieces
};

/// What the log may have of a message already, so that a record which refers to it will do (KeptPayloads).
enum class Repeat : std::uint8_t {
  never,
  same,    ///< the same bytes
  nearly,  ///< but for some lines, which go before it (patch.hpp)
};

struct Route {
  Way way = Way::log;
  Repeat repeat = Repeat::never;
  /// A receiver that waits for it takes it out of the log as it comes in (EarlyCopies).
  bool is_shown = false;

  bool operator==(const Route&) const = default;
};

/// What is known of a message and of the two ends.
struct RouteFacts {
  std::size_t bytes = 0;
  /// It lies in one piece in the sender's memory.
  bool lies_together = true;
  /// Histories are kept: the log has to have all of it.
  bool keeps = false;
  /// The receiver shares memory with this rank, and nothing has been heard of its not reaching this process.
  bool is_reachable = true;
  bool is_to_itself = false;
  /// Large messages go both ways at the same time, as NAS MG's do: both ends have work to do.
  bool is_crossing = false;
};

struct RouteLimits {
  /// The first two can be set (MPI_T).
  std::size_t eager_bytes_max = 64 << 10;
  std::size_t memory_bytes_min = 64 << 10;

  /// What is larger is in no cache any more when the receiver takes it out of the log.
  static constexpr std::size_t log_if_bytes_max = 256 << 10;
  /// What is shorter is written as fast as it is found again.
  static constexpr std::size_t repeated_bytes_min = KeptPayloads::bytes_min;
  /// Of what is shorter a copy in new memory takes no longer than the search for what differs.
  static constexpr std::size_t patched_bytes_min = 64 << 10;
  /// What is smaller is in the log soon. The receiver looks at it, too.
  static constexpr std::size_t shown_bytes_min = 64 << 10;
  static constexpr std::size_t shown_bytes_max_crossing = 64 << 10;
};

constexpr Way choose_way(const RouteFacts& message, const RouteLimits& limits) {
  const bool by_memory =
      message.is_reachable && message.lies_together && message.bytes >= limits.memory_bytes_min;
  if (message.keeps) return Way::log;
  if (!by_memory) return message.bytes <= limits.eager_bytes_max ? Way::log : Way::bulk_lane;
  if (message.bytes > RouteLimits::log_if_bytes_max || message.is_to_itself) return Way::memory;
  return Way::log_if;
}

constexpr Route choose(const RouteFacts& message, const RouteLimits& limits) {
  const Way way = choose_way(message, limits);
  if (way == Way::memory || way == Way::bulk_lane || !message.lies_together) return {way};
  const Repeat repeat = message.bytes < RouteLimits::repeated_bytes_min                    ? Repeat::never
                        : message.keeps && message.bytes >= RouteLimits::patched_bytes_min ? Repeat::nearly
                                                                                           : Repeat::same;
  const bool is_shown = message.bytes >= RouteLimits::shown_bytes_min &&
                        !(message.is_crossing && message.bytes > RouteLimits::shown_bytes_max_crossing);
  return {way, repeat, is_shown};
}

}  // namespace llamada::mpi
