#pragma once

#include <cstdint>

#include "llamada/topics/arena_layout.hpp"

/// What lies in the log from one rank to another.
///
///   kind           label          flags          payload
///   data           context, tag   1: synchronous the message
///   announcement   context, tag   1: synchronous {size u64, send id u64}: the payload follows by the bulk
///   lane acknowledgement context, 0    -              {ordinal u64}: the synchronous message with this
///   ordinal is matched grant          0              -              {send id u64}: the announced message is
///   matched bulk           0              -              in the bulk lane: the next piece of what was
///   granted first
///
/// Data and announcements are numbered by (context), from 1, in the order of the log: the message's ordinal.
/// The others are not numbered; acknowledgements may be repeated.
namespace llamada::mpi {

inline constexpr std::uint8_t kind_message = 16;
inline constexpr std::uint8_t kind_announcement = 17;
inline constexpr std::uint8_t kind_acknowledgement = 18;
inline constexpr std::uint8_t kind_grant = 19;
inline constexpr std::uint8_t kind_bulk = 20;

inline constexpr std::uint16_t flag_synchronous = 1;

struct Announcement {
  std::uint64_t size = 0;
  std::uint64_t send_id = 0;
};

/// The log from this rank to `destination`, and its bulk lane.
constexpr topics::LogKey message_log_key(int destination) {
  return {1, static_cast<std::uint64_t>(destination)};
}
constexpr topics::LogKey bulk_log_key(int destination) {
  return {3, static_cast<std::uint64_t>(destination)};
}

constexpr std::uint64_t make_label(std::uint32_t context, int tag) {
  return std::uint64_t{context} << 32 | static_cast<std::uint32_t>(tag);
}
constexpr std::uint32_t label_context(std::uint64_t label) { return static_cast<std::uint32_t>(label >> 32); }
constexpr int label_tag(std::uint64_t label) { return static_cast<int>(static_cast<std::uint32_t>(label)); }

}  // namespace llamada::mpi
