#pragma once

#include <type_traits>

namespace llamada {

/// The least multiple of `unit` that is no less than `value`, which is not negative; they must fit together.
template <typename T>
constexpr T rounded_up(T value, std::type_identity_t<T> unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace llamada
