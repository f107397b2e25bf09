#pragma once

#include <type_traits>

namespace llamada {

/// How many pieces of `unit` hold `value`, which is not negative; they must fit together.
template <typename T>
constexpr T divided_up(T value, std::type_identity_t<T> unit) {
  return (value + unit - 1) / unit;
}

/// The least multiple of `unit` that is no less than `value`, which is not negative; they must fit together.
template <typename T>
constexpr T rounded_up(T value, std::type_identity_t<T> unit) {
  return divided_up(value, unit) * unit;
}

}  // namespace llamada
