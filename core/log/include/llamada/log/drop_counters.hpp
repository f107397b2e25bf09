#pragma once

#include "llamada/log/arena_layout.hpp"

namespace llamada::log {

/// The last counters of an arena: datagrams from other nodes that its owner has dropped, by the reason. The
/// order is that of replication::FrameFault without `none`; behind these comes what the kernel dropped.
inline constexpr std::size_t drop_reasons = 9;
inline constexpr std::size_t drop_counter_first = counter_count_max - drop_reasons;

constexpr Counter drop_counter(std::size_t reason) {
  return static_cast<Counter>(drop_counter_first + reason);
}

/// At the socket: a stranger's, or there was no room.
inline constexpr Counter unread_counter = drop_counter(drop_reasons - 1);

}  // namespace llamada::log
