#pragma once

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
  static llamada::Result<T> deserialize(std::span<const std::byte> sample) {
    return llamada::types::deserialize<T>(sample);
  }
};

}  // namespace dds::topic::detail
