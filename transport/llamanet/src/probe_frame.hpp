#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "llamada/base/siphash.hpp"

// The datagrams by which the drivers of a job find out which links reach each other: pure functions. The
// layout is in docs/internals/driver-protocol.md, "Several nodes".

namespace llamada::llamanet {

inline constexpr std::size_t probe_head_bytes = 48;

/// One node asks, and the other one sends the same back as an answer, as long as it was.
struct ProbeFrame {
  bool is_answer = false;
  std::uint64_t job = 0;
  std::uint32_t from = 0;  ///< the node that sends this frame
  std::uint32_t to = 0;
  std::uint32_t number = 0;      ///< of the try
  std::uint32_t size_bytes = 0;  ///< of the datagram
  std::int64_t clock_ns = 0;     ///< time since 1970 where and when it was sent
  bool operator==(const ProbeFrame&) const = default;
};

/// Writes the frame into `datagram`, which has its size: at least probe_head_bytes. What follows the head
/// becomes 0.
void write_probe(std::span<std::byte> datagram, const ProbeFrame& frame, const SipHashKey& key);
/// Nothing: this is no probe, or nobody who has the key has sent it, or it is not as long as it says.
std::optional<ProbeFrame> read_probe(std::span<const std::byte> datagram, const SipHashKey& key);

}  // namespace llamada::llamanet
