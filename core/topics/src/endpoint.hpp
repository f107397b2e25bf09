#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "llamada/topics/domain_participant.hpp"

// What writers, readers and the participant share about entries of the endpoint directory.

namespace llamada::topics::detail {

/// LogKey::high of a DataWriter's log; low is {arena id, endpoint index}.
inline constexpr std::uint64_t sample_log_key = 0x4154414453504344;  // "DCPSDATA"
/// LogKey::high of the log in which an application tells VOLATILE readers where they begin; low is its
/// arena's id.
inline constexpr std::uint64_t grant_log_key = 0x544e524753504344;  // "DCPSGRNT"
inline constexpr std::uint8_t kind_grant = 2;

/// The payload of a grant.
struct Grant {
  std::uint32_t reader_slot;
  std::uint32_t reader_id;
  std::uint32_t cursor_index;
  std::uint32_t writer_endpoint;
  LogPosition position;
};
static_assert(sizeof(Grant) == 40 && sizeof(Grant) <= inline_payload_max);

template <std::size_t size>
std::string_view text_in(const char (&text)[size]) {
  return {text, ::strnlen(text, size)};
}

inline bool is_same_topic(const EndpointEntry& entry, std::string_view topic, std::string_view type) {
  return text_in(entry.topic) == topic && text_in(entry.type) == type;
}

inline bool is_alive(const EndpointEntry& entry) {
  // Pairs with the release store of its owner's destructor: what it committed last can be seen.
  return entry.alive.load(std::memory_order_acquire) != 0;
}

/// Counts the pair when it does not fit; true when it fits.
bool check_pair(const qos::DataWriterQos& offered, const qos::DataReaderQos& requested,
                IncompatibleQosStatus& status);
/// The policies that are matched, as the entry has them.
qos::DataWriterQos offered_by(const EndpointEntry& entry);
qos::DataReaderQos requested_by(const EndpointEntry& entry);

/// "RELIABLE KEEP_ALL TRANSIENT_LOCAL".
template <typename Qos>
std::string short_text(const Qos& qos) {
  return fmt::format("{} {} {}", qos::to_string(qos.reliability.kind), qos::to_string(qos.history.kind),
                     qos::to_string(qos.durability.kind));
}

template <typename Qos>
Result<std::uint32_t> announce(ArenaWriter& arena, EndpointKind kind, std::uint32_t log,
                               std::string_view topic, std::string_view type, const Qos& qos) {
  const std::string text = short_text(qos);
  return arena.add_endpoint({.kind = kind,
                             .log = log,
                             .topic = topic,
                             .type = type,
                             .qos = text,
                             .reliability = static_cast<std::uint8_t>(qos.reliability.kind),
                             .durability = static_cast<std::uint8_t>(qos.durability.kind)});
}

}  // namespace llamada::topics::detail
