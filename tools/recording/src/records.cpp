#include "llamada/recording/records.hpp"

#include "llamada/base/bytes.hpp"
#include "llamada/base/crc32c.hpp"

namespace llamada::recording {
namespace {

// Read as text, a file says what it is; line ends that were changed on the way are seen at once.
constexpr char magic[magic_size_bytes + 1] = "LLREC\r\n\x1a";

enum class Kind : std::uint32_t { start = 1, writer, qos_change, sample, writer_gone, samples_lost, end };

// Each kind's body; docs/internals/recording.md has the same order.

Kind encode_body(const Start& start, ByteWriter& out) {
  out.number(start.realtime_ns);
  out.number(start.domain);
  return Kind::start;
}

Kind encode_body(const Writer& writer, ByteWriter& out) {
  out.number(writer.number);
  out.text(writer.topic);
  out.text(writer.type);
  out.number(writer.type_hash);
  out.text(writer.type_description);
  out.number<std::uint8_t>(writer.keyed ? 1 : 0);
  out.block(serialize(writer.qos));
  out.number(writer.publisher);
  out.text(writer.participant);
  return Kind::writer;
}

Kind encode_body(const QosChange& change, ByteWriter& out) {
  out.number(change.writer);
  out.block(serialize(change.qos));
  return Kind::qos_change;
}

/// All but the data, which come last.
Kind encode_body(const Sample& sample, ByteWriter& out) {
  out.number(sample.writer);
  out.number(sample.received_ns);
  out.number(sample.header.sequence_number);
  out.number(sample.header.source_timestamp_ns);
  out.number(sample.header.instance);
  out.number(static_cast<std::uint8_t>(sample.header.kind));
  out.number(sample.header.coherent_set);
  out.number(sample.header.group_sequence);
  return Kind::sample;
}

Kind encode_body(const WriterGone& gone, ByteWriter& out) {
  out.number(gone.writer);
  out.number(gone.seen_ns);
  out.number<std::uint8_t>(gone.died ? 1 : 0);
  return Kind::writer_gone;
}

Kind encode_body(const SamplesLost& lost, ByteWriter& out) {
  out.number(lost.writer);
  out.number(lost.count);
  return Kind::samples_lost;
}

Kind encode_body(const End& end, ByteWriter& out) {
  out.number(end.ended_ns);
  return Kind::end;
}

std::vector<std::byte> with_head(Kind kind, std::span<const std::byte> body,
                                 std::span<const std::byte> data = {}) {
  ByteWriter head;
  head.number(static_cast<std::uint64_t>(body.size() + data.size()));
  head.number(static_cast<std::uint32_t>(kind));
  head.number(crc32c(data, crc32c(body)));
  auto record = head.take();
  const std::uint32_t head_crc = crc32c(record);
  ByteWriter whole;
  whole.bytes(record);
  whole.number(head_crc);
  whole.bytes(body);
  whole.bytes(data);
  return whole.take();
}

Result<qos::EndpointQos> decode_qos(std::span<const std::byte> bytes) {
  auto qos = qos::deserialize(bytes);
  if (qos && !qos->writer) return failure(Errc::parse_error, "its policies are those of a reader");
  return qos;
}

Result<Record> decode_writer(ByteReader& in) {
  Writer writer;
  writer.number = in.number<std::uint32_t>();
  writer.topic = in.text();
  writer.type = in.text();
  writer.type_hash = in.number<std::uint64_t>();
  writer.type_description = in.text();
  writer.keyed = in.boolean();
  const auto qos_bytes = in.block();
  writer.publisher = in.number<std::uint64_t>();
  writer.participant = in.text();
  in.require(!writer.topic.empty() && !writer.type.empty());
  if (!in.is_complete()) return writer;
  auto qos = decode_qos(qos_bytes);
  if (!qos) return propagate(qos);
  writer.qos = std::move(*qos);
  return writer;
}

Result<Record> decode_qos_change(ByteReader& in) {
  QosChange change;
  change.writer = in.number<std::uint32_t>();
  const auto qos_bytes = in.block();
  if (!in.is_complete()) return change;
  auto qos = decode_qos(qos_bytes);
  if (!qos) return propagate(qos);
  change.qos = std::move(*qos);
  return change;
}

Record decode_sample(ByteReader& in) {
  Sample sample;
  sample.writer = in.number<std::uint32_t>();
  sample.received_ns = in.number<std::int64_t>();
  sample.header.sequence_number = in.number<std::uint64_t>();
  sample.header.source_timestamp_ns = in.number<std::int64_t>();
  sample.header.instance = in.number<std::uint64_t>();
  const auto kind = in.number<std::uint8_t>();
  in.require(kind <= static_cast<std::uint8_t>(topics::ChangeKind::coherent_end));
  sample.header.kind = static_cast<topics::ChangeKind>(kind);
  sample.header.coherent_set = in.number<std::uint32_t>();
  sample.header.group_sequence = in.number<std::uint64_t>();
  const auto data = in.rest();
  sample.data.assign(data.begin(), data.end());
  in.require(sample.received_ns >= 0);
  return sample;
}

Record decode_gone(ByteReader& in) {
  WriterGone gone;
  gone.writer = in.number<std::uint32_t>();
  gone.seen_ns = in.number<std::int64_t>();
  gone.died = in.boolean();
  in.require(gone.seen_ns >= 0);
  return gone;
}

/// What it gives holds only if the reader then is_complete().
Result<Record> decode_body(std::uint32_t kind, ByteReader& in) {
  switch (static_cast<Kind>(kind)) {
    case Kind::start: {
      const auto realtime_ns = in.number<std::int64_t>();
      return Start{realtime_ns, in.number<std::uint32_t>()};
    }
    case Kind::writer:
      return decode_writer(in);
    case Kind::qos_change:
      return decode_qos_change(in);
    case Kind::sample:
      return decode_sample(in);
    case Kind::writer_gone:
      return decode_gone(in);
    case Kind::samples_lost: {
      const auto writer = in.number<std::uint32_t>();
      return SamplesLost{writer, in.number<std::uint64_t>()};
    }
    case Kind::end:
      return End{in.number<std::int64_t>()};
  }
  return failure(Errc::unsupported, "it is of the kind {}, which this version does not know", kind);
}

}  // namespace

std::vector<std::byte> file_head() {
  ByteWriter head;
  head.bytes(std::as_bytes(std::span(magic, magic_size_bytes)));
  head.number(format_version);
  return head.take();
}

std::vector<std::byte> encode(const Record& record) {
  ByteWriter body;
  const Kind kind = std::visit([&](const auto& each) { return encode_body(each, body); }, record);
  return with_head(kind, body.take());
}

std::vector<std::byte> encode(const Sample& sample, std::span<const std::byte> data) {
  ByteWriter body;
  encode_body(sample, body);
  return with_head(Kind::sample, body.take(), data);
}

Result<RecordHead> decode_head(std::span<const std::byte, record_head_size_bytes> bytes) {
  ByteReader in(bytes);
  RecordHead head;
  head.size_bytes = in.number<std::uint64_t>();
  head.kind = in.number<std::uint32_t>();
  head.crc = in.number<std::uint32_t>();
  if (in.number<std::uint32_t>() != crc32c(bytes.first(record_head_size_bytes - 4)))
    return failure(Errc::parse_error, "the checksum of its head is wrong");
  return head;
}

Result<Record> decode(const RecordHead& head, std::span<const std::byte> body) {
  if (crc32c(body) != head.crc) return failure(Errc::parse_error, "its checksum is wrong");
  ByteReader in(body);
  auto record = decode_body(head.kind, in);
  if (record && !in.is_complete())
    return failure(Errc::parse_error, "its fields do not fit its kind, {}", head.kind);
  return record;
}

}  // namespace llamada::recording
