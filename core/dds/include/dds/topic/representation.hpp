#pragma once

#include "dds/core/exception.hpp"
#include "llamada/types/typed_support.hpp"

namespace dds::topic::detail {

/// What travels of a T: of a type of LLAMADA_TYPE here, of the built-in topics' in topic/builtin.hpp.
template <typename T>
struct Representation {
  static constexpr bool is_plain = llamada::types::is_plain_v<T>;
  static const std::string& type_name() { return llamada::types::type_name<T>(); }
  /// Whatever a topic calls it: the description has the type's own name.
  static bool is_of(const llamada::types::TypeSupport& type) {
    return type.descriptor_hash() == llamada::types::shared_type_support<T>()->descriptor_hash();
  }
  static llamada::Result<std::vector<std::byte>> serialize(const T& value) {
    return llamada::types::serialize(value);
  }
  /// Fills in `value`, a default-constructed T.
  static llamada::Status deserialize(std::span<const std::byte> sample, T& value) {
    return llamada::types::deserialize(sample, value);
  }
};

/// Replaces `value` by that of a sample. A T may be larger than a stack: the new one is made on the heap.
template <typename T>
T& replace(T& value, std::span<const std::byte> sample) {
  const auto made = std::make_unique<T>();
  core::detail::value_of(Representation<T>::deserialize(sample, *made));
  return value = std::move(*made);
}

}  // namespace dds::topic::detail
