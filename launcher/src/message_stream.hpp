#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "llamada/base/bytes.hpp"
#include "llamada/base/field_coder.hpp"
#include "llamada/base/result.hpp"
#include "llamada/launcher/stream_decoder.hpp"

// Messages of one variant as a stream of bytes: {u32 bytes of the body, u32 index in the variant}, body. Each
// message type has a function `fields(coder, message)` beside it that lists its fields once, for a BodyWriter
// and a BodyReader; `ends_of()` of the variant names the two ends of its stream for errors.

namespace llamada::launcher {

inline constexpr std::size_t stream_header_bytes = 8;
/// A start message carries the program's arguments and environment, which the kernel bounds by 6 MiB.
inline constexpr std::size_t stream_body_bytes_max = 16 << 20;

/// For list() of numbers.
inline constexpr auto as_number = [](auto& coder, auto& each) { coder.numbers(each); };
/// For list() of what has a fields() of its own.
inline constexpr auto as_fields = [](auto& coder, auto& each) { fields(coder, each); };

class BodyWriter final : public FieldWriter {
 public:
  /// u32 count, and each text.
  void texts(const std::vector<std::string>& texts) {
    list(texts, [](BodyWriter& coder, const std::string& each) { coder.text(each); });
  }
  /// u32 count, and each element as `element(coder, value)` lists its fields.
  template <typename T, typename Element>
  void list(const std::vector<T>& values, const Element& element) {
    body_.number(static_cast<std::uint32_t>(values.size()));
    for (const T& each : values) element(*this, each);
  }
  void flag(bool value) { body_.number(static_cast<std::uint8_t>(value)); }
  /// One of the values up to `last`.
  template <typename Choice>
  void choice(Choice value, Choice /*last*/) {
    body_.number(static_cast<std::uint32_t>(value));
  }
  template <typename T>
  void optional_number(const std::optional<T>& value) {
    flag(value.has_value());
    if (value) body_.number(*value);
  }
  /// A value that may be missing and has bytes of its own.
  template <typename T, typename Encode, typename Decode>
  void optional_block(const std::optional<T>& value, const Encode& encode, const Decode& /*decode*/) {
    flag(value.has_value());
    if (value) body_.block(encode(*value));
  }
};

class BodyReader final : public FieldReader {
 public:
  using FieldReader::FieldReader;

  void texts(std::vector<std::string>& texts) {
    list(texts, [](BodyReader& coder, std::string& each) { coder.text(each); });
  }
  template <typename T, typename Element>
  void list(std::vector<T>& values, const Element& element) {
    // Elements are added as they are read, because a wrong count must not allocate memory.
    const auto count = body_.number<std::uint32_t>();
    for (std::uint32_t i = 0; i < count && body_.ok(); ++i) element(*this, values.emplace_back());
  }
  void flag(bool& value) { value = body_.boolean(); }
  template <typename Choice>
  void choice(Choice& value, Choice last) {
    const auto number = body_.number<std::uint32_t>();
    body_.require(number <= static_cast<std::uint32_t>(last));
    if (body_.ok()) value = static_cast<Choice>(number);
  }
  template <typename T>
  void optional_number(std::optional<T>& value) {
    bool is_there = false;
    flag(is_there);
    if (is_there) value = body_.number<T>();
  }
  template <typename T, typename Encode, typename Decode>
  void optional_block(std::optional<T>& value, const Encode& /*encode*/, const Decode& decode) {
    bool is_there = false;
    flag(is_there);
    if (!is_there) return;
    Result<T> read = decode(body_.block());
    body_.require(read.has_value());
    if (read) value = std::move(*read);
  }
};

template <typename Message>
std::vector<std::byte> encode_message(const Message& message) {
  BodyWriter body;
  std::visit([&body](const auto& each) { fields(body, each); }, message);
  ByteWriter whole;
  whole.number(static_cast<std::uint32_t>(body.written().size()));
  whole.number(static_cast<std::uint32_t>(message.index()));
  whole.bytes(body.written());
  return whole.take();
}

/// The alternative `type` of Message, read from `body`; nothing: there is no such type.
template <typename Message, std::size_t index = 0>
std::optional<Message> read_type(std::uint32_t type, BodyReader& body) {
  if constexpr (index == std::variant_size_v<Message>) {
    return std::nullopt;
  } else {
    if (type != index) return read_type<Message, index + 1>(type, body);
    std::variant_alternative_t<index, Message> message;
    fields(body, message);
    return message;
  }
}

template <typename Message>
Result<std::optional<Message>> StreamDecoder<Message>::next() {
  const auto rest = std::span<const std::byte>(buffer_).subspan(at_);
  if (rest.size() < stream_header_bytes) return std::optional<Message>();
  ByteReader whole(rest);
  const auto size = whole.number<std::uint32_t>();
  const auto type = whole.number<std::uint32_t>();
  const std::string_view ends = ends_of(static_cast<const Message*>(nullptr));
  if (size > stream_body_bytes_max)
    return failure(Errc::parse_error, "a message of {} bytes between {} is too long", size, ends);
  if (whole.left_bytes() < size) return std::optional<Message>();
  at_ += stream_header_bytes + size;
  BodyReader body(whole.next(size));
  auto message = read_type<Message>(type, body);
  if (!message) return failure(Errc::parse_error, "a message of unknown type {} between {}", type, ends);
  if (!body.is_complete())
    return failure(Errc::parse_error, "a message of {} bytes between {} does not parse", size, ends);
  return message;
}

}  // namespace llamada::launcher
