#include "link_record.hpp"

#include "llamada/base/bytes.hpp"

namespace llamada::service {
namespace {

tl::unexpected<Error> damaged() {
  return failure(Errc::parse_error, "a message between two persistence services is not of this release");
}

bool has_qos(LinkKind kind) { return kind == LinkKind::writer || kind == LinkKind::came; }

/// As the record of a writer in a store has it.
std::vector<std::byte> encode_seen(const LinkRecord& record) {
  return encode_head(KeptWriter{record.sample.origin.writer, record.seen, {}});
}

}  // namespace

std::vector<std::byte> encode(const LinkRecord& record) {
  ByteWriter to;
  to.number(static_cast<std::uint8_t>(record.kind));
  to.number(record.topic_index);
  to.number(record.number);
  to.number(std::uint8_t{record.flag});
  const KeptSample& sample = record.sample;
  to.number(sample.origin.writer.participant);
  to.number(sample.origin.writer.endpoint);
  to.number(sample.origin.number);
  to.number(static_cast<std::uint8_t>(sample.kind));
  to.number(sample.instance);
  to.number(sample.source_timestamp_ns);
  to.number(std::uint8_t{sample.is_merged});
  if (record.kind == LinkKind::topic) to.block(encode(record.kept_topic));
  if (record.kind == LinkKind::writer) to.block(encode_seen(record));
  if (has_qos(record.kind)) to.block(qos::serialize(record.qos));
  to.bytes(record.body);
  return to.take();
}

Result<LinkRecord> decode_link(std::span<const std::byte> bytes) {
  ByteReader from(bytes);
  LinkRecord record;
  const auto kind = from.number<std::uint8_t>();
  if (kind < static_cast<std::uint8_t>(LinkKind::join) || kind > static_cast<std::uint8_t>(LinkKind::lapsed))
    return damaged();
  record.kind = static_cast<LinkKind>(kind);
  record.topic_index = from.number<std::uint32_t>();
  record.number = from.number<std::uint64_t>();
  record.flag = from.boolean();
  KeptSample& sample = record.sample;
  sample.origin.writer.participant = from.number<std::uint64_t>();
  sample.origin.writer.endpoint = from.number<std::uint64_t>();
  sample.origin.number = from.number<std::uint64_t>();
  const auto change = from.number<std::uint8_t>();
  from.require(change <= static_cast<std::uint8_t>(topics::ChangeKind::disposed));
  sample.kind = static_cast<topics::ChangeKind>(change);
  sample.instance = from.number<std::uint64_t>();
  sample.source_timestamp_ns = from.number<std::int64_t>();
  sample.is_merged = from.boolean();
  if (record.kind == LinkKind::topic) {
    auto topic = decode_topic(from.block());
    if (!topic) return propagate(topic);
    record.kept_topic = std::move(*topic);
  }
  std::span<const std::byte> seen, policies;
  if (record.kind == LinkKind::writer) seen = from.block();
  if (has_qos(record.kind)) policies = from.block();
  record.body = from.rest();
  if (!from.is_complete()) return damaged();
  if (has_qos(record.kind)) {
    auto qos = qos::deserialize(policies);
    if (!qos) return propagate(qos);
    record.qos = std::move(*qos);
  }
  if (record.kind != LinkKind::writer) return record;
  store::Item item;
  item.kind = item_writer;
  item.head = seen;
  item.body = policies;
  auto writer = decode_writer(item);
  if (!writer) return propagate(writer);
  record.seen = writer->seen;
  return record;
}

}  // namespace llamada::service
