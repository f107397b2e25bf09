#pragma once

#include <list>
#include <memory>

#include "dds/core/exception.hpp"
#include "llamada/types/strangers.hpp"
#include "llamada/types/typed_support.hpp"

namespace dds::topic::detail {

/// The representation of a type that LLAMADA_TYPE describes.
template <typename T>
struct DescribedRepresentation {
  using Copies = std::list<T>;
  static constexpr bool is_plain = llamada::types::is_plain_v<T>;
  static const std::string& type_name() { return llamada::types::type_name<T>(); }
  static std::shared_ptr<const llamada::types::TypeSupport> support() {
    return llamada::types::shared_type_support<T>();
  }
  /// Ignores the name that a topic gives the type: the description has the type's own name.
  static bool is_of(const llamada::types::TypeSupport& type) {
    return type.descriptor_hash() == support()->descriptor_hash();
  }
  /// Not on the stack, for which a T may be too large.
  static std::unique_ptr<T> make() { return std::make_unique<T>(); }
  static llamada::Result<std::vector<std::byte>> serialize(const T& value) {
    return llamada::types::serialize(value);
  }
  /// Fills in `value`, a default-constructed T.
  static llamada::Status deserialize(std::span<const std::byte> sample, T& value) {
    return llamada::types::deserialize(sample, value);
  }
};

/// Gives the sentence about a type `T` that no topic can have. `Part` is types::stranger_in<T>.
template <typename T, typename Part>
struct CheckedType {
  static constexpr bool is_described = llamada::types::DescribedStruct<T>;
  static constexpr bool all_travels = !is_described || std::is_void_v<Part>;
  static constexpr bool has_default = !is_described || std::is_default_constructible_v<T>;
  static_assert(is_described,
                "a topic's type T needs a description: LLAMADA_TYPE(T, members...) behind its "
                "definition, in its namespace");
  static_assert(
      all_travels,
      "a topic's type T has a member of the type Part, which cannot travel (CheckedType<T, Part> names "
      "both): describe it by LLAMADA_TYPE, too, or use a type that LLAMADA_TYPE's comment lists");
  static_assert(has_default, "a topic's type T needs a default constructor");
  static constexpr bool value = is_described && all_travels && has_default;
};

/// Stands for a type that no topic can have: all uses compile, so that CheckedType gives the only error.
template <typename T>
struct NoRepresentation {
  struct Copies {
    T& emplace_back();
    void pop_back();
  };
  static constexpr bool is_plain = false;
  static std::unique_ptr<T> make();
  static const std::string& type_name();
  static std::shared_ptr<const llamada::types::TypeSupport> support();
  static bool is_of(const llamada::types::TypeSupport& type);
  static llamada::Result<std::vector<std::byte>> serialize(const T& value);
  static llamada::Status deserialize(std::span<const std::byte> sample, T& value);
};

/// The bytes of a T that travel: here for types of LLAMADA_TYPE, in topic/builtin.hpp for built-in topics.
template <typename T>
struct Representation : std::conditional_t<CheckedType<T, llamada::types::stranger_in<T>>::value,
                                           DescribedRepresentation<T>, NoRepresentation<T>> {};

/// Replaces `value` by that of a sample.
template <typename T>
T& replace(T& value, std::span<const std::byte> sample) {
  const auto made = Representation<T>::make();
  core::detail::value_of(Representation<T>::deserialize(sample, *made));
  return value = std::move(*made);
}

}  // namespace dds::topic::detail
