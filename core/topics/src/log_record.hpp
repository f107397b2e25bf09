#pragma once

#include <cstring>
#include <optional>
#include <span>

#include "llamada/log/log_reader.hpp"
#include "llamada/topics/origin.hpp"
#include "llamada/topics/sample.hpp"

// How a sample's header travels in a record of a log: docs/internals/arena.md, "Samples in a log".

namespace llamada::topics::detail {

inline constexpr std::uint16_t record_kind_mask = 7;    // of Record::flags: a ChangeKind
inline constexpr std::uint16_t record_is_extended = 8;  // the header has all its fields
inline constexpr std::uint16_t record_has_origin = 16;  // an Origin stands behind the payload

/// In front of the payload of a small record (its first `compact_header_bytes` unless it is extended), or in
/// the extra bytes of a large one (then always all).
struct RecordHeader {
  std::int64_t source_timestamp_ns;
  std::uint64_t group_sequence;
  std::uint32_t coherent_set;
  std::uint32_t reserved;
};
inline constexpr std::size_t compact_header_bytes = 8;
static_assert(sizeof(RecordHeader) == 24 && sizeof(RecordHeader) <= log::extra_bytes_max);

inline RecordHeader record_header(const SampleHeader& header) {
  return {header.source_timestamp_ns, header.group_sequence, header.coherent_set, 0};
}

inline bool needs_extension(const SampleHeader& header) {
  return header.group_sequence != 0 || header.coherent_set != 0;
}

inline std::uint16_t record_flags(const SampleHeader& header, bool extended) {
  return static_cast<std::uint16_t>(static_cast<std::uint16_t>(header.kind) |
                                    (extended ? record_is_extended : 0));
}

static_assert(sizeof(Origin) == 24);

/// The Origin behind the payload, which is reduced to the sample's; none: the sample is its writer's own.
/// False when there is no room for one.
inline bool take_origin(log::Record& record, std::optional<Origin>& origin) {
  if ((record.flags & record_has_origin) == 0) return true;
  if (record.payload.size() < sizeof(Origin)) return false;
  const std::size_t size_bytes = record.payload.size() - sizeof(Origin);
  std::memcpy(&origin.emplace(), record.payload.data() + size_bytes, sizeof(Origin));
  record.payload = record.payload.first(size_bytes);
  return true;
}

/// The header of a record, whose payload is reduced to the sample's. False when it can be no sample's.
inline bool take_header(log::Record& record, std::uint64_t sequence_number, SampleHeader& header) {
  const auto kind = record.flags & record_kind_mask;
  if (record.kind != log::kind_data || kind > static_cast<int>(ChangeKind::coherent_end)) return false;
  header.sequence_number = sequence_number;
  header.instance = record.label;
  header.kind = static_cast<ChangeKind>(kind);
  const bool apart = !record.extra.empty();
  const auto bytes = apart ? record.extra : record.payload;
  if (!apart && (record.flags & record_is_extended) == 0) {
    if (bytes.size() < compact_header_bytes) return false;
    std::memcpy(&header.source_timestamp_ns, bytes.data(), compact_header_bytes);
    record.payload = bytes.subspan(compact_header_bytes);
    return true;
  }
  RecordHeader from;
  if (bytes.size() < sizeof(from)) return false;
  std::memcpy(&from, bytes.data(), sizeof(from));
  if (!apart) record.payload = bytes.subspan(sizeof(from));
  header.source_timestamp_ns = from.source_timestamp_ns;
  header.coherent_set = from.coherent_set;
  header.group_sequence = from.group_sequence;
  return true;
}

}  // namespace llamada::topics::detail
