#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "llamada/base/siphash.hpp"

// The frame: what one datagram carries between two endpoints of a job. Byte layout:
// docs/internals/replication.md.

namespace llamada::replication {

/// A rank's slot in the job, or driver_endpoint() of a node.
using EndpointNumber = std::uint32_t;
constexpr EndpointNumber driver_endpoint(std::uint32_t node) { return 0x80000000U + node; }

inline constexpr std::uint16_t frame_mark = 0x4d4c;  // "LM"
inline constexpr std::uint8_t frame_version = 2;

/// FrameHead::flags.
inline constexpr std::uint8_t frame_answers_at_once = 1;  ///< the sender waits in a call and answers at once
inline constexpr std::uint8_t frame_of_understudy = 2;    ///< a driver that speaks for a rank
inline constexpr std::uint8_t frame_is_bulk = 8;          ///< of the session on the bulk link

/// What a receiver has of a session's datagrams.
struct Seen {
  std::uint64_t all = 0;   ///< all numbers up to this one have come and were applied
  std::uint64_t more = 0;  ///< bit k: number all + 2 + k has come, too
  bool operator==(const Seen&) const = default;
};

/// The first 64 bytes of a frame, little-endian.
struct FrameHead {
  std::uint16_t mark = frame_mark;
  std::uint8_t version = frame_version;
  std::uint8_t flags = 0;
  std::uint32_t job = 0;  ///< low half of the job's number
  EndpointNumber from = 0;
  EndpointNumber to = 0;
  std::uint16_t from_incarnation = 0;
  std::uint16_t to_incarnation = 0;
  /// Low half of the number of the cut that the sender is in: it is not applied before the receiver is in it.
  std::uint32_t cut = 0;
  std::uint64_t number = 0;  ///< of this datagram in its session, from 1; 0: acknowledges only
  Seen seen;
  std::uint32_t size_bytes = 0;  ///< of all that follows the head
  std::uint32_t crc = 0;         ///< CRC-32C of all that follows the head
  std::uint64_t mac = 0;         ///< SipHash-2-4 of the 56 bytes before, with the job's key
};
inline constexpr std::size_t frame_head_bytes = 64;
static_assert(sizeof(FrameHead) == frame_head_bytes);

/// A datagram to be sent: `head` begins with the frame's head; `tail` follows it, may be empty, and is
/// borrowed from where a payload lies.
struct Datagram {
  std::span<const std::byte> head;
  std::span<const std::byte> tail;
  std::size_t size_bytes() const { return head.size() + tail.size(); }
};

/// Who an endpoint is, and the secret of its job.
struct Identity {
  std::uint32_t job = 0;
  EndpointNumber endpoint = 0;
  std::uint16_t incarnation = 1;
  SipHashKey key;
};

/// Completes `head` with size, CRC and MAC for the body that lies behind its first 64 bytes in `frame`, and
/// goes on in `tail`, and stores it in those first bytes.
void seal_frame(std::span<std::byte> frame, std::span<const std::byte> tail, FrameHead head,
                const SipHashKey& key);

enum class FrameFault : std::uint8_t {
  none,
  foreign,     ///< too short, or another mark or version
  other_job,   ///< of another job
  not_for_us,  ///< to another endpoint
  forged,      ///< the MAC is not one of this job's key
  damaged,     ///< the size or the CRC is wrong
  other_life,  ///< from or to an incarnation that is not the current one
  malformed,   ///< a submessage cannot be
  repeated,    ///< its datagram was here before: it was sent again, by its sender or by a stranger
  count        ///< of these values
};
const char* to_string(FrameFault fault);

struct CheckedFrame {
  FrameFault fault = FrameFault::none;
  FrameHead head;
  std::span<const std::byte> body;
};

/// Looks at what a datagram says, cheapest first: a stranger's costs a few comparisons, a forged one a MAC
/// over 56 bytes. Reads nothing behind the datagram, allocates nothing. The body is checked by its CRC only:
/// see is_well_formed().
CheckedFrame check_frame(std::span<const std::byte> datagram, const Identity& own);

}  // namespace llamada::replication
