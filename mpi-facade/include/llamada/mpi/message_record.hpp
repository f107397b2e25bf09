#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "llamada/log/arena_layout.hpp"

/// The format of what lies in the log from one rank to another, for the facade and for tools that look at it
/// (docs/internals/messages.md).
///
///   kind             label         flags           payload
///   message          context, tag  1: synchronous  the message; patched: but for what the last patch has
///                                  2: patched
///   patch            context, tag  -               PatchLines for the message behind it
///   announcement     context, tag  1: synchronous  Announcement: the payload follows after the match
///   acknowledgement  context, 0    -               {ordinal u64}: the synchronous message is matched
///   grant            0             -               Grant: it is matched, and is to come by the bulk lane
///   direct grant     0             -               DirectGrant: it is matched, and both copy (DirectCopies)
///   taken in         0             -               {count u64}: so many messages of the receiver's log to
///   the
///                                                  sender have been taken in (send_bounds.hpp)
///   revoked          (context, 0)  -               {0 u64}: nobody may use this context any more; each who
///   is
///                                                  told tells all members (MPIX_Comm_revoke)
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
inline constexpr std::uint8_t kind_revoked = 24;

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

/// What a message has instead of some lines of an earlier one, whose payload its record refers to: the
/// payload of the record before it (kind_patch), PatchLines one after the other, with ascending offsets.
struct PatchLine {
  static constexpr std::size_t line_bytes = 64;
  std::uint64_t offset = 0;          ///< in the message; a multiple of 64
  std::byte bytes[line_bytes] = {};  ///< zeros behind the message's end
};
static_assert(sizeof(PatchLine) == 72);

/// Calls `put(offset, bytes)` for each piece of a message of so many bytes. False: that is no patch for it.
template <typename Put>
bool apply_patch(std::span<const std::byte> patch, std::size_t message_bytes, Put put) {
  if (patch.size() % sizeof(PatchLine) != 0) return false;
  for (; !patch.empty(); patch = patch.subspan(sizeof(PatchLine))) {
    PatchLine line;
    std::memcpy(&line, patch.data(), sizeof(line));
    if (line.offset >= message_bytes) return false;
    const std::size_t size = std::min<std::size_t>(sizeof(line.bytes), message_bytes - line.offset);
    put(static_cast<std::size_t>(line.offset), std::span<const std::byte>(line.bytes, size));
  }
  return true;
}

/// The context ids that are the same in each job: of MPI_COMM_WORLD (each world of a job has its own, with
/// this id) and MPI_COMM_SELF.
inline constexpr std::uint32_t context_of_world = 1;
inline constexpr std::uint32_t context_of_self = 2;

/// Histories begin anew at each checkpoint, in other logs: its number is in their keys, above what kind of
/// log it is. 0: the start of the program.
inline constexpr std::uint32_t checkpoint_number_max = (1U << 24) - 1;
constexpr std::uint64_t log_kind(std::uint64_t kind, std::uint32_t checkpoint) {
  return kind | std::uint64_t{checkpoint} << 8;
}
constexpr std::uint64_t kind_of_log(const log::LogKey& key) { return key.high & 0xff; }
constexpr std::uint32_t checkpoint_of_log(const log::LogKey& key) {
  return static_cast<std::uint32_t>(key.high >> 8) & checkpoint_number_max;
}

/// The log from this rank to `destination`, and its bulk lane.
inline constexpr std::uint64_t message_log_kind = 1, bulk_log_kind = 3;
constexpr log::LogKey message_log_key(int destination, std::uint32_t checkpoint = 0) {
  return {log_kind(message_log_kind, checkpoint), static_cast<std::uint64_t>(destination)};
}
constexpr log::LogKey bulk_log_key(int destination, std::uint32_t checkpoint = 0) {
  return {log_kind(bulk_log_kind, checkpoint), static_cast<std::uint64_t>(destination)};
}

constexpr std::uint64_t make_label(std::uint32_t context, int tag) {
  return std::uint64_t{context} << 32 | static_cast<std::uint32_t>(tag);
}
constexpr std::uint32_t label_context(std::uint64_t label) { return static_cast<std::uint32_t>(label >> 32); }
constexpr int label_tag(std::uint64_t label) { return static_cast<int>(static_cast<std::uint32_t>(label)); }

}  // namespace llamada::mpi
