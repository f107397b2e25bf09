#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/service/kept_topic.hpp"

namespace llamada::service {

// What services of one domain tell each other: docs/internals/kept-topics.md, "Between services". The joining
// one writes to the topic link_up, the serving one to link_down.

inline constexpr const char* link_up = "llamada persistence: to the serving service";
inline constexpr const char* link_down = "llamada persistence: to a joining service";
inline constexpr const char* link_type = "llamada::service::Link";
inline constexpr std::uint32_t link_version = 2;

enum class LinkKind : std::uint8_t {
  // What one of the two has.
  join = 1,  ///< number: link_version
  topic,     ///< topic_index, kept_topic; flag: items of it are damaged
  writer,    ///< topic_index, sample.origin.writer, seen, qos
  sample,    ///< topic_index, sample; flag: the body follows
  end,       ///< This is all.
  // What happens from then on.
  took,    ///< topic_index, sample, number: its topics::ChangeKind; flag: a stronger writer was heard; body
  came,    ///< topic_index, sample.origin.writer, number: the participant of its EndpointId, qos
  gone,    ///< topic_index, sample.origin.writer; flag: it died
  writes,  ///< topic_index, sample.origin.writer, number: as came, sample.instance
  lapsed,  ///< topic_index, sample.origin.writer
};

/// One message of a link, with the fields that its kind names.
struct LinkRecord {
  LinkKind kind = LinkKind::end;
  std::uint32_t topic_index = 0;
  std::uint64_t number = 0;
  bool flag = false;
  KeptSample sample;
  Seen seen;
  KeptTopic kept_topic;
  qos::EndpointQos qos;
  std::span<const std::byte> body;  ///< Within the bytes that were decoded.
};

std::vector<std::byte> encode(const LinkRecord& record);
/// Errors: parse_error (damaged, or of another version), those of qos::deserialize().
Result<LinkRecord> decode_link(std::span<const std::byte> bytes);

}  // namespace llamada::service
