#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "llamada/types/dynamic_type.hpp"

namespace llamada::types {

/// The contents of a sample whose type is known at run time only. Must not outlive the type's description.
struct DynamicValue {
  const DynamicType* type = nullptr;
  /// The value of a scalar, or the discriminator of a union. monostate: an APPENDABLE or MUTABLE sample
  /// lacks the member.
  Value scalar;
  /// All elements of a sequence, array or map, kept or not.
  std::size_t count = 0;
  /// For a struct all members, for a sequence or array the kept elements. For a map each kept key
  /// before its element. For an optional or a union the contents, if there are any.
  std::vector<DynamicValue> parts;
};

/// The value that the bytes hold, which anybody may have written. It keeps at most `elements_max` elements of
/// each sequence, array and map. Errors: parse_error, with the member's path.
Result<DynamicValue> decode(const DynamicType& type, std::span<const std::byte> sample,
                            std::size_t elements_max = std::numeric_limits<std::size_t>::max());

}  // namespace llamada::types
