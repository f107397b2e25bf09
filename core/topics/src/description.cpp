#include "description.hpp"

#include <string_view>

#include "llamada/base/bytes.hpp"

namespace llamada::topics::detail {
namespace {

constexpr std::uint32_t description_version = 1;

tl::unexpected<Error> damaged() {
  return failure(Errc::parse_error, "the description of a peer's endpoint is damaged, or of another version");
}

}  // namespace

std::vector<std::byte> encode_endpoint(const EndpointSpec& spec) {
  ByteWriter to;
  to.number(description_version);
  to.number(std::uint8_t{spec.qos.writer});
  to.number(std::uint8_t{spec.keyed});
  to.number(spec.type_hash);
  to.number(spec.publisher);
  to.text(spec.topic);
  to.text(spec.type);
  to.block(qos::serialize(spec.qos));
  const bool is_short = spec.type_description.size() <= type_description_bytes_max;
  to.text(is_short ? std::string_view(spec.type_description) : std::string_view());
  to.number(std::uint8_t{spec.keeps});
  to.number(std::uint8_t{spec.only_with.has_value()});
  if (spec.only_with) {
    to.number(spec.only_with->participant);
    to.number(spec.only_with->endpoint);
  }
  return to.take();
}

Result<EndpointInfo> decode_endpoint(std::span<const std::byte> bytes) {
  ByteReader from(bytes);
  if (from.number<std::uint32_t>() != description_version) return damaged();
  EndpointInfo info;
  info.writer = from.number<std::uint8_t>() != 0;
  info.keyed = from.number<std::uint8_t>() != 0;
  info.type_hash = from.number<std::uint64_t>();
  info.publisher = from.number<std::uint64_t>();
  info.topic = from.text();
  info.type = from.text();
  const auto policies = from.block();
  if (!from.ok()) return damaged();
  auto qos = qos::deserialize(policies);
  if (!qos) return propagate(qos);
  if (qos->writer != info.writer) return damaged();
  info.qos = std::move(*qos);
  if (from.left_bytes() == 0) return info;  // of a release that did not describe types
  info.type_description = from.text();
  if (!from.ok() || info.type_description.size() > type_description_bytes_max) return damaged();
  if (from.left_bytes() == 0) return info;  // of a release before persistence services
  info.keeps = from.boolean();
  if (from.boolean()) {
    EndpointId only_with;
    only_with.participant = from.number<std::uint64_t>();
    only_with.endpoint = from.number<std::uint32_t>();
    info.only_with = only_with;
  }
  if (!from.ok()) return damaged();
  return info;
}

std::vector<std::byte> encode_participant(const ParticipantInfo& info) {
  ByteWriter to;
  to.number(description_version);
  to.number(info.domain);
  to.text(info.name);
  to.block(info.user_data);
  to.number(info.guid);
  to.number(std::uint8_t{info.keeps_topics});
  return to.take();
}

Result<ParticipantInfo> decode_participant(std::span<const std::byte> bytes) {
  ByteReader from(bytes);
  if (from.number<std::uint32_t>() != description_version) return damaged();
  ParticipantInfo info;
  info.domain = from.number<std::uint32_t>();
  info.name = from.text();
  const auto data = from.block();
  info.user_data.assign(data.begin(), data.end());
  if (from.ok() && from.left_bytes() == 0) return info;  // of a release before persistence services
  info.guid = from.number<std::uint64_t>();
  info.keeps_topics = from.boolean();
  if (!from.ok()) return damaged();
  return info;
}

}  // namespace llamada::topics::detail
