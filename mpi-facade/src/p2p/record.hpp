#pragma once

#include <cstdint>

#include "llamada/log/arena_layout.hpp"

/// What lies in the log from one rank to another.
///
///   kind             label         flags           payload
///   message          context, tag  1: synchronous  the message; patched: but for what the last patch has
///                                  2: patched
///   patch            context, tag  -               PatchLines (patch.hpp) for the message behind it
///   announcement     context, tag  1: synchronous  Announcement: the payload follows after the match
///   acknowledgement  context, 0    -               {ordinal u64}: the synchronous message is matched
///   grant            0             -               Grant: it is matched, and is to come by the bulk lane
///   direct grant     0             -               DirectGrant: it is matched, and both copy (DirectCopies)
///   taken in         0             -               {count u64}: so many messages of the receiver's log to
///   the
///                                                  sender have been taken in (send_bounds.hpp)
///   bulk             0             -               the next piece of what was granted first (bulk lane)
///
/// Messages and announcements are numbered by (context), from 1, in the order of the log: the message's
/// ordinal. The others are not numbered; acknowledgements may be repeated.
namespace llamada::mpi {

inline constexpr std::uint8_t kind_message = 16;
inline constexpr std::uint8_t kind_announcement = 17;
inline constexpr std::uint8_t kind_acknowledgement = 18;
inline constexpr std::uint8_t kind_grant = 19;
inline constexpr std::uint8_t kind_bulk = 20;
inline constexpr std::uint8_t kind_direct_grant = 21;
inline constexpr std::uint8_t kind_patch = 22;
inline constexpr std::uint8_t kind_taken_in = 23;

inline constexpr std::uint16_t flag_synchronous = 1;
inline constexpr std::uint16_t flag_patched = 2;

struct Announcement {
  std::uint64_t size = 0;
  std::uint64_t send_id = 0;  ///< the sender's number for it
  std::uint64_t address = 0;  ///< where it lies in the sender's process; 0: it comes by the bulk lane
  std::uint64_t desk = 0;     ///< of the sender for the receiver, in its arena
};
struct Grant {
  std::uint64_t send_id = 0;
  std::uint64_t is_unreachable = 0;  ///< 1: the receiver cannot reach the sender's memory, and never will
};
struct DirectGrant {
  std::uint64_t send_id = 0;
  std::uint64_t address = 0;  ///< where it is to lie in the receiver's process
  std::uint64_t bytes = 0;    ///< of it: what the receiver has room for
  std::uint64_t desk = 0;     ///< of the receiver for the sender, in its arena
  std::uint32_t number = 0;   ///< of the copy, from 1, among those between the two in this direction
  std::uint32_t left = 0;     ///< so many more messages, whose grants follow, belong to the same copy
};
static_assert(sizeof(DirectGrant) <= log::inline_payload_max);

/// The log from this rank to `destination`, and its bulk lane.
constexpr log::LogKey message_log_key(int destination) {
  return {1, static_cast<std::uint64_t>(destination)};
}
constexpr log::LogKey bulk_log_key(int destination) { return {3, static_cast<std::uint64_t>(destination)}; }

constexpr std::uint64_t make_label(std::uint32_t context, int tag) {
  return std::uint64_t{context} << 32 | static_cast<std::uint32_t>(tag);
}
constexpr std::uint32_t label_context(std::uint64_t label) { return static_cast<std::uint32_t>(label >> 32); }
constexpr int label_tag(std::uint64_t label) { return static_cast<int>(static_cast<std::uint32_t>(label)); }

}  // namespace llamada::mpi
