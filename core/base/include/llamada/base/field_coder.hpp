#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "llamada/base/bytes.hpp"

// A message lists its fields once, in a function over a coder; a FieldWriter writes them and a FieldReader
// reads them. Protocols derive from the two what they alone have.

namespace llamada {

class FieldWriter {
 public:
  /// How the function is given a message: constant here.
  template <typename T>
  using Value = const T;

  template <typename... Integer>
  void numbers(const Integer&... values) {
    (body_.number(values), ...);
  }
  /// u32 length.
  void text(std::string_view text) { body_.text(text); }

  const std::vector<std::byte>& written() const { return body_.written(); }
  std::vector<std::byte> take() { return body_.take(); }

 protected:
  ByteWriter body_;
};

/// Borrows the bytes.
class FieldReader {
 public:
  template <typename T>
  using Value = T;

  explicit FieldReader(std::span<const std::byte> bytes) : body_(bytes) {}

  template <typename... Integer>
  void numbers(Integer&... values) {
    ((values = body_.number<Integer>()), ...);
  }
  void text(std::string& text) { text = body_.text(); }

  bool is_complete() const { return body_.is_complete(); }

 protected:
  ByteReader body_;
};

}  // namespace llamada
