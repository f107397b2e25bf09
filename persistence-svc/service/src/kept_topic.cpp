#include "llamada/service/kept_topic.hpp"

#include <fmt/core.h>

#include "llamada/base/bytes.hpp"

namespace llamada::service {
namespace {

constexpr std::uint32_t topic_version = 1;

tl::unexpected<Error> not_a_topic(const char* what) {
  return failure(Errc::parse_error, "{} in the store is not one that this release of Llamada has written",
                 what);
}

/// Nothing stands behind the number if there are no gaps, as in older releases.
void encode(const Seen& seen, ByteWriter& to) {
  to.number(seen.last());
  for (const Seen::Gap& gap : seen.gaps()) {
    to.number(gap.first);
    to.number(gap.last);
  }
}

Seen take_seen(ByteReader& from) {
  Seen seen;
  seen.through(from.number<std::uint64_t>());
  std::uint64_t before = 0;
  while (from.ok() && from.left_bytes() > 0 && seen.gaps().size() < Seen::gap_count_max) {
    const auto first = from.number<std::uint64_t>();
    const auto last = from.number<std::uint64_t>();
    from.require(before < first && first <= last && last <= seen.last());
    if (from.ok()) seen.add_gap({first, last});
    before = last;
  }
  return seen;
}

void put(ByteWriter& to, const topics::Guid& guid) {
  to.number(guid.participant);
  to.number(guid.endpoint);
}

topics::Guid take_guid(ByteReader& from) {
  topics::Guid guid;
  guid.participant = from.number<std::uint64_t>();
  guid.endpoint = from.number<std::uint64_t>();
  return guid;
}

}  // namespace

std::string stream_name(const TopicKey& key) {
  return fmt::format("topic {} {} {:016x} {}/{}", key.domain, key.keyed ? "keyed" : "plain", key.type_hash,
                     key.topic, key.type);
}

std::vector<std::byte> encode(const KeptTopic& topic) {
  ByteWriter to;
  to.number(topic_version);
  to.number(topic.key.domain);
  to.text(topic.key.topic);
  to.text(topic.key.type);
  to.number(topic.key.type_hash);
  to.number(std::uint8_t{topic.key.keyed});
  to.text(topic.type_description);
  return to.take();
}

Result<KeptTopic> decode_topic(std::span<const std::byte> description) {
  ByteReader from(description);
  if (from.number<std::uint32_t>() != topic_version) return not_a_topic("a stream");
  KeptTopic topic;
  topic.key.domain = from.number<std::uint32_t>();
  topic.key.topic = from.text();
  topic.key.type = from.text();
  topic.key.type_hash = from.number<std::uint64_t>();
  topic.key.keyed = from.boolean();
  topic.type_description = from.text();
  if (!from.is_complete()) return not_a_topic("a stream");
  return topic;
}

std::vector<std::byte> encode_head(const KeptSample& sample) {
  ByteWriter to;
  put(to, sample.origin.writer);
  to.number(sample.origin.number);
  to.number(static_cast<std::uint8_t>(sample.kind));
  return to.take();
}

Result<KeptSample> decode_sample(const store::Item& item) {
  ByteReader from(item.head);
  KeptSample sample;
  sample.origin.writer = take_guid(from);
  sample.origin.number = from.number<std::uint64_t>();
  const auto kind = from.number<std::uint8_t>();
  from.require(kind <= static_cast<std::uint8_t>(topics::ChangeKind::disposed));
  if (item.kind != item_sample || !from.is_complete()) return not_a_topic("a sample");
  sample.kind = static_cast<topics::ChangeKind>(kind);
  sample.instance = item.group;
  sample.source_timestamp_ns = item.time_ns;
  sample.is_merged = (item.flags & flag_merged) != 0;
  return sample;
}

std::vector<std::byte> encode_head(const KeptWriter& writer) {
  ByteWriter to;
  put(to, writer.guid);
  encode(writer.seen, to);
  return to.take();
}

Result<KeptWriter> decode_writer(const store::Item& item) {
  ByteReader from(item.head);
  KeptWriter writer;
  writer.guid = take_guid(from);
  writer.seen = take_seen(from);
  if (item.kind != item_writer || !from.is_complete()) return not_a_topic("the record of a writer");
  auto qos = qos::deserialize(item.body);
  if (!qos) return propagate(qos);
  writer.qos = std::move(*qos);
  return writer;
}

std::vector<std::byte> encode_head(const KeptClaim& claim) {
  ByteWriter to;
  put(to, claim.writer);
  to.number(claim.participant);
  return to.take();
}

Result<KeptClaim> decode_claim(const store::Item& item) {
  ByteReader from(item.head);
  KeptClaim claim;
  claim.writer = take_guid(from);
  claim.participant = from.number<std::uint64_t>();
  if (item.kind != item_claim || !from.is_complete()) return not_a_topic("the claim of a writer");
  return claim;
}

}  // namespace llamada::service
