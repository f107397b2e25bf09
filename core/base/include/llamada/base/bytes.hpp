#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// The codec of messages, files and descriptions: fields one after another, little endian, without padding.

namespace llamada {

static_assert(std::endian::native == std::endian::little);

/// Appends fields to bytes that it owns.
class ByteWriter {
 public:
  template <std::integral Number>
  void number(Number value) {
    bytes(std::as_bytes(std::span(&value, 1)));
  }
  void bytes(std::span<const std::byte> some) { bytes_.insert(bytes_.end(), some.begin(), some.end()); }
  /// A length in bytes (u32) and so many bytes.
  void block(std::span<const std::byte> some) {
    number(static_cast<std::uint32_t>(some.size()));
    bytes(some);
  }
  void text(std::string_view text) { block(std::as_bytes(std::span(text))); }

  const std::vector<std::byte>& written() const { return bytes_; }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

/// Reads what a ByteWriter has written, or anybody else. Borrows the bytes. After the first field that is not
/// there or not legal, each further one reads as zero or empty, and ok() is false.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <std::integral Number>
  Number number() {
    Number value{};
    const auto bytes = next(sizeof value);
    if (ok_) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  /// One byte; one that is neither 0 nor 1 is not legal.
  bool boolean() {
    const auto value = number<std::uint8_t>();
    require(value <= 1);
    return value == 1;
  }
  std::span<const std::byte> next(std::size_t size_bytes) {
    require(size_bytes <= rest_.size());
    if (!ok_) return {};
    const auto bytes = rest_.first(size_bytes);
    rest_ = rest_.subspan(size_bytes);
    return bytes;
  }
  std::span<const std::byte> block() { return next(number<std::uint32_t>()); }
  std::string text() { return text_of(block()); }
  /// All that is left.
  std::span<const std::byte> rest() { return next(rest_.size()); }

  /// Fails unless the condition holds: for fields with few legal values.
  void require(bool condition) { ok_ = ok_ && condition; }

  bool ok() const { return ok_; }
  std::size_t left_bytes() const { return rest_.size(); }
  /// Every field was there and legal, and nothing is left.
  bool is_complete() const { return ok_ && rest_.empty(); }

  static std::string text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

 private:
  std::span<const std::byte> rest_;
  bool ok_ = true;
};

}  // namespace llamada
