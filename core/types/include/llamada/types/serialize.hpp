#pragma once

#include "llamada/types/type.hpp"
#include "llamada/types/xcdr2.hpp"

// XCDR2 of described types. Which rule of DDS-XTypes 1.3, 7.4.3.5 applies follows from the C++ type.
namespace llamada::types {

/// sample: the struct's own extensibility counts. key (7.6.8): everything is FINAL, and only key members
/// count.
enum class Form : std::uint8_t { sample, key };

namespace detail {

template <typename T>
constexpr bool is_alone = false;

/// Samples have their members in the order of declaration, keys by their ids.
template <Form form, typename T, typename Visitor>
void in_order_of(Visitor&& visit) {
  if constexpr (form == Form::key)
    each_member_by_id<T>(visit);
  else
    each_member<T>(visit);
}

/// Sequences, arrays and maps of these have no DHEADER.
template <typename T>
constexpr bool is_headless_element = Primitive<typename Innermost<T>::type>;

template <Form form, std::uint32_t bound = 0, typename T>
void encode(Xcdr2Writer& writer, const T& value);

inline void check_bound(Xcdr2Writer& writer, std::size_t size, std::uint32_t bound, const char* what) {
  if (bound != 0 && size > bound)
    writer.fail(fmt::format("{} {} where at most {} are allowed", size, what, bound));
  if (size > UINT32_MAX) writer.fail("more elements than 32 bits count");
}

template <Form form, typename T>
void encode_elements(Xcdr2Writer& writer, const T& values) {
  using E = std::remove_cvref_t<decltype(*std::begin(values))>;
  if constexpr (Primitive<E> && !std::is_same_v<T, std::vector<bool>>) {
    writer.put_all(std::data(values), std::size(values));
  } else if constexpr (Array<T> && Array<E>) {
    for (const auto& each : values) encode_elements<form>(writer, each);
  } else {
    for (const auto& each : values) encode<form>(writer, static_cast<const E&>(each));
  }
}

template <typename Element, typename Body>
void with_dheader_of(Xcdr2Writer& writer, Body&& body) {
  if constexpr (is_headless_element<Element>) {
    body();
  } else {
    const std::size_t place = writer.open_length();
    if (!writer.failed()) body();
    writer.close_length(place);
  }
}

template <Form form, std::uint32_t bound, typename T>
void encode_map(Xcdr2Writer& writer, const T& map) {
  check_bound(writer, map.size(), bound, "elements");
  const auto pairs = [&] {
    writer.put(static_cast<std::uint32_t>(map.size()));
    for (const auto& [key, element] : map) {
      encode<form>(writer, key);
      encode<form>(writer, element);
    }
  };
  if constexpr (Primitive<typename MapOf<T>::key>) {
    with_dheader_of<typename MapOf<T>::element>(writer, pairs);
  } else {
    with_dheader_of<std::string>(writer, pairs);
  }
}

/// A FINAL union: the discriminator, then the alternative; std::monostate has no bytes.
template <Form form, typename T>
void encode_union(Xcdr2Writer& writer, const T& value) {
  if (value.valueless_by_exception()) return writer.fail("a std::variant without a value");
  writer.put(static_cast<std::int32_t>(value.index()));
  std::visit(
      [&]<typename E>(const E& alternative) {
        if constexpr (!std::is_same_v<E, std::monostate>) encode<form>(writer, alternative);
      },
      value);
}

/// The EMHEADER's length code (7.4.3.4.2) of members of 1, 2, 4 and 8 bytes; 4: a length of its own follows.
template <typename T>
constexpr std::uint32_t length_code() {
  if constexpr (std::is_enum_v<T> && !std::is_same_v<T, std::byte> && !Bitmask<T>) {
    return 2;
  } else if constexpr (Primitive<T> || Bitmask<T>) {
    return static_cast<std::uint32_t>(std::countr_zero(sizeof(T)));
  } else {
    return 4;
  }
}

template <typename M, typename T>
void encode_mutable_member(Xcdr2Writer& writer, std::uint32_t id, const T& value) {
  if constexpr (Optional<T>) {
    if (value) encode_mutable_member<M>(writer, id, *value);
  } else {
    constexpr std::uint32_t code = length_code<T>();
    writer.put((M::is_key ? 1u << 31 : 0u) | code << 28 | id);
    if constexpr (code < 4) {
      writer.enter();
      encode<Form::sample, M::bound>(writer, value);
      writer.leave();
    } else {
      const std::size_t place = writer.open_length();
      encode<Form::sample, M::bound>(writer, value);
      writer.close_length(place);
    }
  }
}

template <Form form, typename T>
void encode_members(Xcdr2Writer& writer, const T& value) {
  in_order_of<form, T>([&]<typename M>(const M& member, std::uint32_t id) {
    constexpr bool travels = form == Form::sample || M::is_key || !is_keyed_v<T>;
    if constexpr (travels) {
      const bool failed_before = writer.failed();
      if constexpr (form == Form::sample && DescriptionOf<T>::extensibility == Extensibility::mutable_) {
        encode_mutable_member<M>(writer, id, value.*member.place);
      } else {
        encode<form, M::bound>(writer, value.*member.place);
      }
      if (writer.failed() && !failed_before) writer.failed_within(member.name);
    }
  });
}

template <Form form, typename T>
void encode_struct(Xcdr2Writer& writer, const T& value) {
  if constexpr (form == Form::key || DescriptionOf<T>::extensibility == Extensibility::final) {
    encode_members<form>(writer, value);
  } else {
    const std::size_t place = writer.open_length();
    if (!writer.failed()) encode_members<form>(writer, value);
    writer.close_length(place);
  }
}

template <Form form, std::uint32_t bound, typename T>
void encode(Xcdr2Writer& writer, const T& value) {
  if constexpr (Primitive<T>) {
    writer.put(value);
  } else if constexpr (Bitmask<T>) {
    writer.put(static_cast<std::underlying_type_t<T>>(value));
  } else if constexpr (std::is_enum_v<T>) {
    static_assert(sizeof(T) <= 4, "enums travel in 32 bits");
    writer.put(static_cast<std::int32_t>(value));
  } else if constexpr (std::is_same_v<T, std::string>) {
    check_bound(writer, value.size(), bound, "characters");
    writer.put_string(value);
  } else if constexpr (Sequence<T>) {
    check_bound(writer, value.size(), bound, "elements");
    with_dheader_of<typename SequenceOf<T>::element>(writer, [&] {
      writer.put(static_cast<std::uint32_t>(value.size()));
      encode_elements<form>(writer, value);
    });
  } else if constexpr (Array<T>) {
    with_dheader_of<T>(writer, [&] { encode_elements<form>(writer, value); });
  } else if constexpr (Map<T>) {
    encode_map<form, bound>(writer, value);
  } else if constexpr (Optional<T>) {
    writer.put(value.has_value());
    if (value) encode<form, bound>(writer, *value);
  } else if constexpr (Union<T>) {
    encode_union<form>(writer, value);
  } else if constexpr (DescribedStruct<T>) {
    encode_struct<form>(writer, value);
  } else {
    static_assert(is_alone<T>, "a member of this type cannot travel: see LLAMADA_TYPE");
  }
}

}  // namespace detail

/// XCDR2 with its encapsulation header. Errors: invalid_argument (a bound is exceeded, a string holds a NUL,
/// more than nesting_max levels), with the member's path.
template <DescribedStruct T>
Result<std::vector<std::byte>> serialize_xcdr2(const T& value, std::endian order = std::endian::little) {
  Xcdr2Writer writer(order);
  writer.begin_encapsulation(DescriptionOf<T>::extensibility);
  detail::encode_struct<Form::sample>(writer, value);
  writer.end_encapsulation();
  return std::move(writer).finish();
}

/// The key members alone, big-endian and without a header: the KeyHolder of DDSI-RTPS 2.5, 9.6.4.8. Empty for
/// types without a key.
template <DescribedStruct T>
Result<std::vector<std::byte>> serialize_key(const T& value) {
  Xcdr2Writer writer(std::endian::big);
  if constexpr (is_keyed_v<T>) detail::encode_struct<Form::key>(writer, value);
  return std::move(writer).finish();
}

}  // namespace llamada::types
