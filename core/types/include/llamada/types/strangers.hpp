#pragma once

#include "llamada/types/members.hpp"

// The types that cannot travel, found before the templates that serialise meet them, whose errors are long.
namespace llamada::types {

namespace detail {

/// The first of the types that is not void.
template <typename... T>
struct FirstOf : std::type_identity<void> {};
template <typename T, typename... More>
struct FirstOf<T, More...> : std::type_identity<T> {};
template <typename... More>
struct FirstOf<void, More...> : FirstOf<More...> {};

template <typename T, typename... Outer>
struct Stranger;

template <typename Types, typename... Outer>
struct FirstStranger;
template <template <typename...> typename List, typename... T, typename... Outer>
struct FirstStranger<List<T...>, Outer...> : FirstOf<typename Stranger<T, Outer...>::type...> {};

/// `Outer` are the structs around T, which it may contain again.
template <typename T, typename... Outer>
struct Stranger {
  template <typename... M>
  static std::tuple<typename M::type...> types_of(const std::tuple<M...>&);

  static auto find() {
    constexpr bool is_outer = (std::is_same_v<T, Outer> || ...);
    constexpr bool is_text = std::is_same_v<T, std::string> || std::is_same_v<T, std::monostate>;
    if constexpr (is_outer || is_text || Primitive<T> || std::is_enum_v<T>) {
      return std::type_identity<void>();
    } else if constexpr (Sequence<T>) {
      return Stranger<typename SequenceOf<T>::element, Outer...>();
    } else if constexpr (Array<T>) {
      return Stranger<typename ArrayOf<T>::element, Outer...>();
    } else if constexpr (Optional<T>) {
      return Stranger<typename OptionalOf<T>::element, Outer...>();
    } else if constexpr (Map<T>) {
      return FirstStranger<std::tuple<typename MapOf<T>::key, typename MapOf<T>::element>, Outer...>();
    } else if constexpr (Union<T>) {
      return FirstStranger<T, Outer...>();
    } else if constexpr (DescribedStruct<T>) {
      return FirstStranger<decltype(types_of(description<T>().members)), T, Outer...>();
    } else {
      return std::type_identity<T>();
    }
  }
  using type = typename decltype(find())::type;
};

}  // namespace detail

/// The first type within T, T itself perhaps, that cannot travel, as a class that is not described; else
/// void.
template <typename T>
using stranger_in = typename detail::Stranger<T>::type;

}  // namespace llamada::types
