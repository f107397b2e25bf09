#include "description.hpp"

#include <cstring>
#include <string_view>
#include <type_traits>

namespace llamada::topics::detail {
namespace {

constexpr std::uint32_t description_version = 1;

class Encoder {
 public:
  template <typename Number>
  requires std::is_integral_v<Number>
  void add(Number number) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&number);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof(number));
  }
  void add(std::span<const std::byte> bytes) {
    add(static_cast<std::uint32_t>(bytes.size()));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void add(std::string_view text) { add(std::as_bytes(std::span(text.data(), text.size()))); }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

/// After a failure everything reads as 0 and ok() is false.
class Decoder {
 public:
  explicit Decoder(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <typename Number>
  Number number() {
    Number value{};
    const auto bytes = next(sizeof(value));
    if (ok_) std::memcpy(&value, bytes.data(), sizeof(value));
    return value;
  }
  std::span<const std::byte> block() { return next(number<std::uint32_t>()); }
  std::string text() {
    const auto bytes = block();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  std::span<const std::byte> next(std::size_t size) {
    ok_ = ok_ && size <= bytes_.size();
    if (!ok_) return {};
    const auto part = bytes_.first(size);
    bytes_ = bytes_.subspan(size);
    return part;
  }
  bool ok() const { return ok_; }
  bool is_at_end() const { return bytes_.empty(); }

 private:
  std::span<const std::byte> bytes_;
  bool ok_ = true;
};

tl::unexpected<Error> damaged() {
  return failure(Errc::parse_error, "the description of a peer's endpoint is damaged, or of another version");
}

}  // namespace

std::vector<std::byte> encode_endpoint(const EndpointSpec& spec) {
  Encoder to;
  to.add(description_version);
  to.add(std::uint8_t{spec.qos.writer});
  to.add(std::uint8_t{spec.keyed});
  to.add(spec.type_hash);
  to.add(spec.publisher);
  to.add(std::string_view(spec.topic));
  to.add(std::string_view(spec.type));
  to.add(std::span<const std::byte>(qos::serialize(spec.qos)));
  const bool is_short = spec.type_description.size() <= type_description_bytes_max;
  to.add(is_short ? std::string_view(spec.type_description) : std::string_view());
  return to.take();
}

Result<EndpointInfo> decode_endpoint(std::span<const std::byte> bytes) {
  Decoder from(bytes);
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
  if (from.is_at_end()) return info;  // of a release that did not describe types
  info.type_description = from.text();
  if (!from.ok() || info.type_description.size() > type_description_bytes_max) return damaged();
  return info;
}

std::vector<std::byte> encode_participant(const ParticipantInfo& info) {
  Encoder to;
  to.add(description_version);
  to.add(info.domain);
  to.add(std::string_view(info.name));
  to.add(std::span<const std::byte>(info.user_data));
  return to.take();
}

Result<ParticipantInfo> decode_participant(std::span<const std::byte> bytes) {
  Decoder from(bytes);
  if (from.number<std::uint32_t>() != description_version) return damaged();
  ParticipantInfo info;
  info.domain = from.number<std::uint32_t>();
  info.name = from.text();
  const auto data = from.block();
  info.user_data.assign(data.begin(), data.end());
  if (!from.ok()) return damaged();
  return info;
}

}  // namespace llamada::topics::detail
