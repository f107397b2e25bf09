#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "llamada/types/dynamic_type.hpp"

namespace llamada::types {

/// What a sample holds of a type that is known at run time only. Must not outlive the type's description.
struct DynamicValue {
  const DynamicType* type = nullptr;
  /// Of a scalar, as Value has it; of a union the discriminator. monostate: an APPENDABLE or MUTABLE sample
  /// lacks the member.
  Value scalar;
  /// All elements of a sequence, array or map, kept or not.
  std::size_t count = 0;
  /// The members of a struct, all of them; the elements that are kept, of a map key and element in turn; what
  /// an optional or a union holds, if anything.
  std::vector<DynamicValue> parts;
};

/// The value that the bytes hold, which anybody may have written. Of each sequence, array and map at most
/// `elements_max` elements are kept. Errors: parse_error, with the member's path.
Result<DynamicValue> decode(const DynamicType& type, std::span<const std::byte> sample,
                            std::size_t elements_max = std::numeric_limits<std::size_t>::max());

}  // namespace llamada::types
