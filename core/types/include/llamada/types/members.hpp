#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace llamada::types {

/// How a type may change while programs of both versions run (DDS-XTypes 1.3, 7.2.2.4.4): FINAL not at all,
/// APPENDABLE by members at its end, MUTABLE by members anywhere.
enum class Extensibility : std::uint8_t { final, appendable, mutable_ };

std::string_view to_string(Extensibility extensibility);

/// What may stand behind a member's name in LLAMADA_MEMBER.
struct Key {};
template <std::uint32_t Limit>
struct Bound {};
template <std::uint32_t Number>
struct Id {};

namespace detail {
constexpr std::int64_t automatic_id = -1;

template <typename Attribute>
constexpr std::uint32_t bound_of = 0;
template <std::uint32_t Limit>
constexpr std::uint32_t bound_of<Bound<Limit>> = Limit;

template <typename Attribute>
constexpr std::int64_t id_of = 0;
template <std::uint32_t Number>
constexpr std::int64_t id_of<Id<Number>> = std::int64_t{Number} + 1;
}  // namespace detail

/// One member of a described struct: its type, attributes, name and place.
template <typename Class, typename T, typename... Attributes>
struct Member {
  using type = T;
  static constexpr bool is_key = (std::is_same_v<Attributes, Key> || ...);
  /// Characters of a string, elements of a sequence or map; 0: no bound.
  static constexpr std::uint32_t bound = (detail::bound_of<Attributes> + ... + 0);
  /// The member id of MUTABLE types, or automatic_id: one more than that of the member before.
  static constexpr std::int64_t id = (detail::id_of<Attributes> + ... + 0) - 1;

  const char* name;
  T Class::*place;
};

/// What LLAMADA_TYPE says of a struct.
template <typename Class, Extensibility Kind, typename... Members>
struct Description {
  static constexpr Extensibility extensibility = Kind;
  using MemberTypes = std::tuple<Members...>;
  std::tuple<Members...> members;
};

template <typename Class, typename... Attributes, typename T>
auto make_member(const char* name, T Class::*place) {
  return Member<Class, T, Attributes...>{name, place};
}

template <typename Class, Extensibility Kind, typename... Members>
auto describe(Members... members) {
  return Description<Class, Kind, Members...>{std::tuple<Members...>(members...)};
}

/// A struct that LLAMADA_TYPE describes, and an enum that LLAMADA_ENUM names.
template <typename T>
concept DescribedStruct = requires(const T* type) {
  llamada_describe(type);
};
template <typename T>
concept NamedEnum = std::is_enum_v<T> && requires(const T* type) {
  llamada_enumerators(type);
};

template <DescribedStruct T>
using DescriptionOf = decltype(llamada_describe(static_cast<const T*>(nullptr)));

template <DescribedStruct T>
DescriptionOf<T> description() {
  const T* none = nullptr;
  return llamada_describe(none);
}

/// Calls `visit(member, id)` for each member in the order of declaration.
template <DescribedStruct T, typename Visitor>
void each_member(Visitor&& visit) {
  std::int64_t next_id = 0;
  const auto one = [&](const auto& member) {
    using M = std::remove_cvref_t<decltype(member)>;
    if (M::id != detail::automatic_id) next_id = M::id;
    visit(member, static_cast<std::uint32_t>(next_id++));
  };
  const auto described = description<T>();
  std::apply([&](const auto&... member) { (one(member), ...); }, described.members);
}

// Kinds of member types.

template <typename T>
concept Primitive = (std::is_arithmetic_v<T> && sizeof(T) <= 8 && !std::is_same_v<T, wchar_t> &&
                     !std::is_same_v<T, char16_t> && !std::is_same_v<T, char32_t>) ||
                    std::is_same_v<T, std::byte>;

template <typename T>
struct SequenceOf : std::false_type {};
template <typename E>
struct SequenceOf<std::vector<E>> : std::true_type {
  using element = E;
};
template <typename T>
struct ArrayOf : std::false_type {};
template <typename E, std::size_t N>
struct ArrayOf<std::array<E, N>> : std::true_type {
  using element = E;
  static constexpr std::size_t size = N;
};
template <typename E, std::size_t N>
struct ArrayOf<E[N]> : std::true_type {
  using element = E;
  static constexpr std::size_t size = N;
};
template <typename T>
struct OptionalOf : std::false_type {};
template <typename E>
struct OptionalOf<std::optional<E>> : std::true_type {
  using element = E;
};
template <typename T>
struct MapOf : std::false_type {};
template <typename K, typename V>
struct MapOf<std::map<K, V>> : std::true_type {
  using key = K;
  using element = V;
};

template <typename T>
concept Sequence = SequenceOf<T>::value;
template <typename T>
concept Array = ArrayOf<T>::value;
template <typename T>
concept Optional = OptionalOf<T>::value;
template <typename T>
concept Map = MapOf<T>::value;

/// The element of an array of any number of dimensions, which are one array on the wire.
template <typename T>
struct Innermost {
  using type = T;
};
template <Array T>
struct Innermost<T> {
  using type = typename Innermost<typename ArrayOf<T>::element>::type;
};

namespace detail {

template <typename T>
constexpr bool is_plain_member();

template <typename Members>
struct AllPlain;
template <typename... M>
struct AllPlain<std::tuple<M...>> {
  static constexpr bool value = (is_plain_member<typename M::type>() && ...);
};

template <typename Members>
struct AnyKey;
template <typename... M>
struct AnyKey<std::tuple<M...>> {
  static constexpr bool value = (M::is_key || ...);
};

template <typename Members>
struct AllKeysPlain;
template <typename... M>
struct AllKeysPlain<std::tuple<M...>> {
  static constexpr bool value = ((!M::is_key || is_plain_member<typename M::type>()) && ...);
};

template <typename T>
constexpr bool is_plain_member() {
  if constexpr (Primitive<T> || std::is_enum_v<T>) {
    return true;
  } else if constexpr (Array<T>) {
    return is_plain_member<typename ArrayOf<T>::element>();
  } else if constexpr (DescribedStruct<T>) {
    return std::is_trivially_copyable_v<T> && DescriptionOf<T>::extensibility == Extensibility::final &&
           AllPlain<typename DescriptionOf<T>::MemberTypes>::value;
  } else {
    return false;
  }
}

}  // namespace detail

/// FINAL and of fixed size: its samples travel as they lie in memory.
template <DescribedStruct T>
constexpr bool is_plain_v = detail::is_plain_member<T>();

/// Has key members, so that its topics have instances.
template <DescribedStruct T>
constexpr bool is_keyed_v = detail::AnyKey<typename DescriptionOf<T>::MemberTypes>::value;

/// All keys of it are of one length.
template <DescribedStruct T>
constexpr bool has_fixed_key_v =
    is_keyed_v<T>&& detail::AllKeysPlain<typename DescriptionOf<T>::MemberTypes>::value;

}  // namespace llamada::types
