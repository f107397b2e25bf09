#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

namespace llamada::types {

/// How a type may change while programs of both versions run (DDS-XTypes 1.3, 7.2.2.4.4): FINAL not at all,
/// APPENDABLE by members at its end, MUTABLE by members anywhere.
enum class Extensibility : std::uint8_t { final, appendable, mutable_ };

std::string_view to_string(Extensibility extensibility);

/// The attributes that may follow a member's name in LLAMADA_MEMBER.
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

/// The description that LLAMADA_TYPE gives of a struct.
template <typename T, Extensibility Kind, typename... Members>
struct Description {
  using Class = T;
  static constexpr Extensibility extensibility = Kind;
  using MemberTypes = std::tuple<Members...>;
  std::tuple<Members...> members;
};

/// A struct that LLAMADA_TYPE describes: itself, not only a base class of it.
template <typename T>
concept DescribedStruct = requires(const T* type) {
  requires std::is_same_v<typename decltype(llamada_describe(type))::Class, T>;
};
/// An enum that LLAMADA_ENUM names, and one whose bits LLAMADA_BITMASK names.
template <typename T>
concept NamedEnum = std::is_enum_v<T> && requires(const T* type) {
  llamada_enumerators(type);
};
template <typename T>
concept Bitmask = std::is_enum_v<T> && requires(const T* type) {
  llamada_bits(type);
};

namespace detail {

/// True if a member can be a T. For each other type there is a sentence, which the compiler shows where the
/// type is described. strangers.hpp finds further types that cannot travel.
template <typename T>
struct Travels {
  static constexpr bool is_wide =
      std::is_same_v<T, wchar_t> || std::is_same_v<T, char16_t> || std::is_same_v<T, char32_t>;
  static constexpr bool is_address = std::is_pointer_v<T> || std::is_reference_v<T>;
  static constexpr bool is_long_double = std::is_same_v<T, long double>;
  static_assert(!is_wide, "wide characters and strings cannot travel: use char or std::string, in UTF-8");
  static_assert(!is_address,
                "pointers and references cannot travel: use a value, std::optional or std::vector");
  static_assert(!is_long_double, "long double cannot travel: use double");
  static constexpr bool value = !is_wide && !is_address && !is_long_double;
};
template <typename C, typename Traits, typename Allocator>
struct Travels<std::basic_string<C, Traits, Allocator>> : Travels<C> {};
template <typename E, typename Allocator>
struct Travels<std::vector<E, Allocator>> : Travels<E> {};
template <typename E>
struct Travels<std::optional<E>> : Travels<E> {};
template <typename E, std::size_t N>
struct Travels<std::array<E, N>> : Travels<E> {};
template <typename E, std::size_t N>
struct Travels<E[N]> : Travels<E> {};
template <typename K, typename V>
struct Travels<std::map<K, V>> {
  static constexpr bool value = Travels<K>::value && Travels<V>::value;
};
template <typename... E>
struct Travels<std::variant<E...>> {
  static constexpr bool value = (Travels<E>::value && ...);
};

/// The members of a base class, as members of the class that inherits them.
template <typename Base, typename... Members>
struct Inherited {
  std::tuple<Members...> members;
};

/// The name of a member, as a template argument, which compilers show.
template <std::size_t size>
struct Name {
  char text[size];
  constexpr Name(const char (&name)[size]) { std::copy_n(name, size, text); }  // NOLINT: implicit by intent
};
template <Name name>
struct NoMember {};

/// Gives the sentence about a name that leads to no data member but to a `Found`.
template <typename Class, typename Found>
struct CheckedMember {
  static constexpr bool is_data = std::is_member_object_pointer_v<Found>;
  static_assert(is_data,
                "LLAMADA_TYPE names a member that the class does not have, or that is private, static, a "
                "reference, a bit-field or a function (CheckedMember<Class, NoMember<Name>> says which)");
};

/// Stands for a part of a description that was refused, so that the compiler says no more about it.
struct Refused {};

template <typename Class, typename... Attributes, typename T, typename Owner>
auto member_at(const char* name, T Owner::*place) {
  if constexpr (Travels<T>::value)
    return Member<Class, T, Attributes...>{name, place};
  else
    return Refused();
}

}  // namespace detail

/// `place_of` is that of LLAMADA_DETAIL_PLACE.
template <typename Class, typename... Attributes, typename PlaceOf>
auto make_member(const char* name, PlaceOf place_of) {
  const auto place = place_of(static_cast<const Class*>(nullptr));
  if constexpr (detail::CheckedMember<Class, std::remove_const_t<decltype(place)>>::is_data)
    return detail::member_at<Class, Attributes...>(name, place);
  else
    return detail::Refused();
}

namespace detail {

template <typename Class, typename Owner, typename T, typename... Attributes>
auto inherit(const Member<Owner, T, Attributes...>& member) {
  return Member<Class, T, Attributes...>{member.name, member.place};
}

template <typename Class, typename Base, Extensibility Kind, typename... Members>
auto inherit_all(const Description<Base, Kind, Members...>& base) {
  return std::apply(
      [](const auto&... member) {
        return Inherited<Base, decltype(inherit<Class>(member))...>{{inherit<Class>(member)...}};
      },
      base.members);
}

template <Extensibility Kind, typename Class, typename T, typename... Attributes>
auto as_members(const Member<Class, T, Attributes...>& member) {
  return std::tuple(member);
}
template <Extensibility Kind>
auto as_members(Refused) {
  return std::tuple();
}
template <Extensibility Kind, typename Base, typename... Members>
auto as_members(const Inherited<Base, Members...>& inherited) {
  static_assert(decltype(llamada_describe(static_cast<const Base*>(nullptr)))::extensibility == Kind,
                "a type has the extensibility of its base (DDS-XTypes 1.3, 7.2.2.4.5): describe both by "
                "LLAMADA_TYPE, both by LLAMADA_TYPE_APPENDABLE or both by LLAMADA_TYPE_MUTABLE");
  return inherited.members;
}

template <typename Class, Extensibility Kind, typename... Members>
auto description_of(std::tuple<Members...> members) {
  return Description<Class, Kind, Members...>{std::move(members)};
}

}  // namespace detail

/// The members that Class inherits from Base, in their order.
template <typename Class, typename Base>
auto make_base() {
  constexpr bool is_base = std::is_convertible_v<const Class*, const Base*>;
  constexpr bool is_described = DescribedStruct<Base>;
  static_assert(is_base, "LLAMADA_BASE names a class that is no public base class of the type");
  static_assert(is_described,
                "the base class is not described: LLAMADA_TYPE must stand behind its definition");
  if constexpr (is_base && is_described)
    return detail::inherit_all<Class>(llamada_describe(static_cast<const Base*>(nullptr)));
  else
    return detail::Refused();
}

template <typename Class, Extensibility Kind, typename... Parts>
auto describe(const Parts&... parts) {
  return detail::description_of<Class, Kind>(std::tuple_cat(detail::as_members<Kind>(parts)...));
}

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

/// each_member() in the ascending order of member ids, which keys have (DDS-XTypes 1.3, 7.6.8).
template <DescribedStruct T, typename Visitor>
void each_member_by_id(Visitor&& visit) {
  if constexpr (DescriptionOf<T>::extensibility != Extensibility::mutable_) {
    each_member<T>(visit);
  } else {
    std::vector<std::uint32_t> ids;
    each_member<T>([&](const auto&, std::uint32_t id) { ids.push_back(id); });
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    for (const std::uint32_t next : ids)
      each_member<T>([&](const auto& member, std::uint32_t id) {
        if (id == next) visit(member, id);
      });
  }
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

/// A union (DDS-XTypes 1.3, 7.2.2.4.4.3): its discriminator is the index of the alternative, an int32.
template <typename T>
struct UnionOf : std::false_type {};
template <typename... E>
struct UnionOf<std::variant<E...>> : std::true_type {};

template <typename T>
concept Union = UnionOf<T>::value;
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
