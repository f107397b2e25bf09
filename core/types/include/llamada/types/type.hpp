#pragma once

#include "llamada/types/members.hpp"
#include "llamada/types/value.hpp"

/// Describes a struct, in the struct's own namespace and behind its definition:
///
///     struct Reading {
///       std::int32_t sensor;
///       double value;
///       std::string text;
///     };
///     LLAMADA_TYPE(Reading, LLAMADA_KEY(sensor), value, LLAMADA_BOUND(text, 64));
///
/// names the members that travel, at most 171, in their order. Members may be bool, char, std::byte, enums,
/// integers and floating point numbers of up to 64 bits, and described structs. They may be std::string,
/// std::vector, std::array, C arrays, std::optional, std::map and std::variant, too. LLAMADA_TYPE makes a
/// FINAL type. If all members are of fixed size, its samples travel without serialisation.
#define LLAMADA_TYPE(Type, ...) LLAMADA_DETAIL_TYPE(Type, final, __VA_ARGS__)
/// LLAMADA_TYPE for types that may get more members at their end (APPENDABLE), or anywhere (MUTABLE).
#define LLAMADA_TYPE_APPENDABLE(Type, ...) LLAMADA_DETAIL_TYPE(Type, appendable, __VA_ARGS__)
#define LLAMADA_TYPE_MUTABLE(Type, ...) LLAMADA_DETAIL_TYPE(Type, mutable_, __VA_ARGS__)

/// A member with attributes: a key, a bound (characters or elements), a member id (MUTABLE types), or
/// several.
#define LLAMADA_KEY(member) (member, ::llamada::types::Key)
#define LLAMADA_BOUND(member, limit) (member, ::llamada::types::Bound<limit>)
#define LLAMADA_ID(member, number) (member, ::llamada::types::Id<number>)
#define LLAMADA_MEMBER(member, ...) (member, __VA_ARGS__)
/// Stands first in the list of a struct that inherits from a described one: all members of Base, keys among
/// them, are members of the struct, too. Both have the same extensibility.
#define LLAMADA_BASE(Base) ((Base))

/// Names the enumerators of an enum, in the enum's own namespace: LLAMADA_ENUM(Colour, red, green, blue).
/// Without it an enum travels, too, but filters know its numbers only, and numbers that nobody named are
/// accepted.
#define LLAMADA_ENUM(Type, ...)                                                                        \
  [[maybe_unused]] inline std::vector<::llamada::types::Enumerator> llamada_enumerators(const Type*) { \
    return {LLAMADA_DETAIL_EACH(LLAMADA_DETAIL_ENUMERATOR, Type, __VA_ARGS__)};                        \
  }                                                                                                    \
  static_assert(true)

/// Names the bits of an enum with an unsigned underlying type, each a power of two, in the enum's own
/// namespace: LLAMADA_BITMASK(Access, read, write). The type is a bitmask (DDS-XTypes 1.3, 7.2.2.4.1.2),
/// which travels as the unsigned integer; a sample with a bit that nobody named is refused when it arrives.
#define LLAMADA_BITMASK(Type, ...)                                                              \
  [[maybe_unused]] inline std::vector<::llamada::types::Enumerator> llamada_bits(const Type*) { \
    static_assert(std::is_unsigned_v<std::underlying_type_t<Type>>,                             \
                  "a bitmask has an unsigned underlying type");                                 \
    return {LLAMADA_DETAIL_EACH(LLAMADA_DETAIL_ENUMERATOR, Type, __VA_ARGS__)};                 \
  }                                                                                             \
  static_assert(true)

#define LLAMADA_DETAIL_ENUMERATOR(Type, name) \
  ::llamada::types::Enumerator { #name, static_cast < std::int64_t>(Type::name) }

#define LLAMADA_DETAIL_TYPE(Type, kind, ...)                                        \
  [[maybe_unused]] inline auto llamada_describe(const Type*) {                      \
    return ::llamada::types::describe<Type, ::llamada::types::Extensibility::kind>( \
        LLAMADA_DETAIL_EACH(LLAMADA_DETAIL_MEMBER, Type, __VA_ARGS__));             \
  }                                                                                 \
  static_assert(true)

// A member is a name or, with attributes, (name, attributes...), a base class ((name)): parentheses decide.
#define LLAMADA_DETAIL_MEMBER(Type, member) \
  LLAMADA_DETAIL_JOIN(LLAMADA_DETAIL_MEMBER_, LLAMADA_DETAIL_IS_PARENTHESISED(member))(Type, member)
#define LLAMADA_DETAIL_MEMBER_0(Type, member) \
  ::llamada::types::make_member<Type>(#member, LLAMADA_DETAIL_PLACE(member))
#define LLAMADA_DETAIL_MEMBER_1(Type, member) LLAMADA_DETAIL_MEMBER_2(Type, LLAMADA_DETAIL_STRIP member)
#define LLAMADA_DETAIL_MEMBER_2(...) LLAMADA_DETAIL_MEMBER_3(__VA_ARGS__)
#define LLAMADA_DETAIL_MEMBER_3(Type, member, ...)                                       \
  LLAMADA_DETAIL_JOIN(LLAMADA_DETAIL_MEMBER_3_, LLAMADA_DETAIL_IS_PARENTHESISED(member)) \
  (Type, member __VA_OPT__(, ) __VA_ARGS__)
#define LLAMADA_DETAIL_MEMBER_3_1(Type, base) ::llamada::types::make_base<Type, LLAMADA_DETAIL_STRIP base>()
#define LLAMADA_DETAIL_MEMBER_3_0(Type, member, ...) \
  ::llamada::types::make_member<Type, __VA_ARGS__>(#member, LLAMADA_DETAIL_PLACE(member))
// A function that gives the member's place, or says that there is no such member, so that make_member()
// refuses it: an error in the macro itself comes with a thousand lines of the expansions below.
#define LLAMADA_DETAIL_PLACE(member)                                                        \
  []<typename LlamadaClass>(const LlamadaClass*) {                                          \
    if constexpr (requires { &LlamadaClass::member; })                                      \
      return &LlamadaClass::member;                                                         \
    else                                                                                    \
      return ::llamada::types::detail::NoMember<::llamada::types::detail::Name(#member)>(); \
  }

#define LLAMADA_DETAIL_STRIP(...) __VA_ARGS__
#define LLAMADA_DETAIL_JOIN(a, b) LLAMADA_DETAIL_JOIN_(a, b)
#define LLAMADA_DETAIL_JOIN_(a, b) a##b
#define LLAMADA_DETAIL_IS_PARENTHESISED(...) LLAMADA_DETAIL_SECOND(LLAMADA_DETAIL_PROBE __VA_ARGS__, 0, 0)
#define LLAMADA_DETAIL_PROBE(...) 0, 1
#define LLAMADA_DETAIL_SECOND(...) LLAMADA_DETAIL_SECOND_(__VA_ARGS__)
#define LLAMADA_DETAIL_SECOND_(first, second, ...) second

// Each of up to 171 arguments, with commas between; with more the compiler does not know LLAMADA_AT_MOST_171.
#define LLAMADA_DETAIL_EACH(macro, Type, ...) \
  __VA_OPT__(LLAMADA_DETAIL_EXPAND(LLAMADA_DETAIL_EACH_(macro, Type, __VA_ARGS__)))
#define LLAMADA_DETAIL_EACH_(macro, Type, first, ...) \
  macro(Type, first) __VA_OPT__(, LLAMADA_AT_MOST_171 LLAMADA_DETAIL_NOTHING(macro, Type, __VA_ARGS__))
#define LLAMADA_DETAIL_NOTHING ()
#define LLAMADA_AT_MOST_171() LLAMADA_DETAIL_EACH_
#define LLAMADA_DETAIL_EXPAND(...) LLAMADA_DETAIL_EXPAND4(LLAMADA_DETAIL_EXPAND4(__VA_ARGS__))
#define LLAMADA_DETAIL_EXPAND4(...) \
  LLAMADA_DETAIL_EXPAND3(LLAMADA_DETAIL_EXPAND3(LLAMADA_DETAIL_EXPAND3(LLAMADA_DETAIL_EXPAND3(__VA_ARGS__))))
#define LLAMADA_DETAIL_EXPAND3(...) \
  LLAMADA_DETAIL_EXPAND2(LLAMADA_DETAIL_EXPAND2(LLAMADA_DETAIL_EXPAND2(LLAMADA_DETAIL_EXPAND2(__VA_ARGS__))))
#define LLAMADA_DETAIL_EXPAND2(...) \
  LLAMADA_DETAIL_EXPAND1(LLAMADA_DETAIL_EXPAND1(LLAMADA_DETAIL_EXPAND1(LLAMADA_DETAIL_EXPAND1(__VA_ARGS__))))
#define LLAMADA_DETAIL_EXPAND1(...) __VA_ARGS__
