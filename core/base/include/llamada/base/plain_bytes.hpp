#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

namespace llamada {

/// The bytes of what is published or compared as it lies in memory: all of them are its value. Padding would
/// be whatever was there before, and a replacement's would differ.
template <typename T>
std::span<const std::byte> plain_bytes(const T& value) {
  static_assert(std::is_trivially_copyable_v<T> && std::has_unique_object_representations_v<T>);
  return std::as_bytes(std::span(&value, 1));
}

}  // namespace llamada
