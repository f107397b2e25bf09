#pragma once

#include "llamada/types/serialize.hpp"

// The way back, from bytes that anybody may have written.
namespace llamada::types {

namespace detail {

template <Form form, std::uint32_t bound = 0, typename T>
void decode(Xcdr2Reader& reader, T& value);

template <typename T>
void decode_enum(Xcdr2Reader& reader, T& value) {
  const auto number = reader.get<std::int32_t>();
  if (reader.failed()) return;
  using Underlying = std::underlying_type_t<T>;
  bool known = static_cast<std::int64_t>(static_cast<Underlying>(number)) == number;
  if constexpr (NamedEnum<T>) {
    const auto names = llamada_enumerators(static_cast<const T*>(nullptr));
    known = std::any_of(names.begin(), names.end(),
                        [&](const Enumerator& each) { return each.number == number; });
  }
  if (!known) return reader.fail(fmt::format("{} is no enumerator", number));
  value = static_cast<T>(number);
}

template <typename T>
void decode_bitmask(Xcdr2Reader& reader, T& value) {
  const auto bits = reader.get<std::underlying_type_t<T>>();
  std::uint64_t unnamed = bits;
  for (const Enumerator& each : llamada_bits(static_cast<const T*>(nullptr)))
    unnamed &= ~static_cast<std::uint64_t>(each.number);
  if (unnamed != 0)
    return reader.fail(fmt::format("bit {} of a bitmask has no name", std::countr_zero(unnamed)));
  value = static_cast<T>(bits);
}

template <Form form, typename T>
void decode_union(Xcdr2Reader& reader, T& value) {
  const auto discriminator = reader.get<std::int32_t>();
  if (reader.failed()) return;
  const auto take = [&]<std::size_t index>(std::integral_constant<std::size_t, index>) {
    if (discriminator != static_cast<std::int32_t>(index)) return false;
    auto& alternative = value.template emplace<index>();
    if constexpr (!std::is_same_v<std::remove_reference_t<decltype(alternative)>, std::monostate>)
      decode<form>(reader, alternative);
    return true;
  };
  const auto take_one = [&]<std::size_t... index>(std::index_sequence<index...>) {
    return (take(std::integral_constant<std::size_t, index>()) || ...);
  };
  if (!take_one(std::make_index_sequence<std::variant_size_v<T>>()))
    reader.fail(fmt::format("{} is no alternative of a union of {}", discriminator, std::variant_size_v<T>));
}

template <Form form, typename T>
void decode_elements(Xcdr2Reader& reader, T& values) {
  using E = typename ArrayOf<T>::element;
  if constexpr (Primitive<E>) {
    reader.get_all(std::data(values), std::size(values));
  } else if constexpr (Array<E>) {
    for (auto& each : values) decode_elements<form>(reader, each);
  } else {
    for (auto& each : values) {
      decode<form>(reader, each);
      if (reader.failed()) return;
    }
  }
}

/// Bodies with a DHEADER end where it says, whether or not all of it was understood.
template <bool has_dheader, typename Body>
void delimited(Xcdr2Reader& reader, Body&& body) {
  if constexpr (has_dheader) {
    const std::size_t outer_end = reader.enter(reader.get<std::uint32_t>());
    body();
    reader.leave(outer_end);
  } else {
    body();
  }
}

template <Form form, std::uint32_t bound, typename T>
void decode_sequence(Xcdr2Reader& reader, T& values) {
  using E = typename SequenceOf<T>::element;
  values.clear();
  if constexpr (Primitive<E> && !std::is_same_v<E, bool>) {
    values.resize(reader.get_count(bound, sizeof(E)));
    if (!reader.get_all(values.data(), values.size())) values.clear();
  } else {
    const std::uint32_t count = reader.get_count(bound, 1);
    for (std::uint32_t i = 0; i < count && !reader.failed(); i++) {
      if constexpr (std::is_same_v<E, bool>)
        values.push_back(reader.get<bool>());
      else
        decode<form>(reader, values.emplace_back());
    }
  }
}

/// Each pair is decoded in the map's own node, on the heap whatever its size.
template <Form form, std::uint32_t bound, typename T>
void decode_map(Xcdr2Reader& reader, T& map) {
  map.clear();
  const std::uint32_t count = reader.get_count(bound, 1);
  for (std::uint32_t i = 0; i < count && !reader.failed(); i++) {
    T one;
    one.emplace();
    auto node = one.extract(one.begin());
    decode<form>(reader, node.key());
    decode<form>(reader, node.mapped());
    if (!reader.failed() && !map.insert(std::move(node)).inserted) reader.fail("a map has a key twice");
  }
}

template <Form form, typename T>
void decode_final_members(Xcdr2Reader& reader, T& value) {
  in_order_of<form, T>([&]<typename M>(const M& member, std::uint32_t) {
    constexpr bool travels = form == Form::sample || M::is_key || !is_keyed_v<T>;
    if constexpr (travels) {
      if (reader.failed()) return;
      constexpr bool may_end =
          form == Form::sample && DescriptionOf<T>::extensibility == Extensibility::appendable;
      if (may_end && reader.remaining() == 0) {
        if (M::is_key) reader.fail(fmt::format("ends before the key member {}", member.name));
        return;
      }
      decode<form, M::bound>(reader, value.*member.place);
      if (reader.failed()) reader.failed_within(member.name);
    }
  });
}

/// The contents of an EMHEADER. The length is that of the member, which begins at the reader's position.
struct MemberHeader {
  std::uint32_t id = 0;
  bool must_understand = false;
  std::uint32_t length_bytes = 0;
};

MemberHeader read_member_header(Xcdr2Reader& reader);

template <typename M, typename T>
void decode_mutable_member(Xcdr2Reader& reader, T& value) {
  if constexpr (Optional<T>) {
    decode<Form::sample, M::bound>(reader, value.emplace());
  } else {
    decode<Form::sample, M::bound>(reader, value);
  }
}

template <typename T>
void decode_one_mutable(Xcdr2Reader& reader, const MemberHeader& header, T& value, std::uint64_t& keys_seen) {
  bool known = false;
  std::size_t index = 0;
  each_member<T>([&]<typename M>(const M& member, std::uint32_t id) {
    const std::size_t place = index++;
    if (id != header.id || reader.failed()) return;
    known = true;
    if (M::is_key && place < 64) keys_seen |= std::uint64_t{1} << place;
    decode_mutable_member<M>(reader, value.*member.place);
    if (reader.failed()) reader.failed_within(member.name);
  });
  if (!known && header.must_understand)
    reader.fail(fmt::format("member id {} must be understood and is not known", header.id));
}

template <typename T>
void check_keys(Xcdr2Reader& reader, std::uint64_t keys_seen) {
  std::size_t index = 0;
  each_member<T>([&]<typename M>(const M& member, std::uint32_t) {
    const std::size_t place = index++;
    if (!M::is_key || place >= 64 || (keys_seen >> place & 1) != 0 || reader.failed()) return;
    reader.fail(fmt::format("the key member {} is missing", member.name));
  });
}

template <typename T>
void decode_mutable_members(Xcdr2Reader& reader, T& value) {
  std::uint64_t keys_seen = 0;
  while (reader.remaining() > 0) {
    const MemberHeader header = read_member_header(reader);
    if (reader.failed()) return;
    const std::size_t outer_end = reader.enter(header.length_bytes);
    decode_one_mutable(reader, header, value, keys_seen);
    reader.leave(outer_end);
  }
  check_keys<T>(reader, keys_seen);
}

template <Form form, typename T>
void decode_struct(Xcdr2Reader& reader, T& value) {
  constexpr Extensibility kind = DescriptionOf<T>::extensibility;
  delimited<form == Form::sample && kind != Extensibility::final>(reader, [&] {
    if constexpr (form == Form::sample && kind == Extensibility::mutable_) {
      decode_mutable_members(reader, value);
    } else {
      decode_final_members<form>(reader, value);
    }
  });
}

template <Form form, std::uint32_t bound, typename T>
void decode(Xcdr2Reader& reader, T& value) {
  if constexpr (Primitive<T>) {
    value = reader.get<T>();
  } else if constexpr (Bitmask<T>) {
    decode_bitmask(reader, value);
  } else if constexpr (std::is_enum_v<T>) {
    decode_enum(reader, value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    value = reader.get_string(bound);
  } else if constexpr (Sequence<T>) {
    delimited<!is_headless_element<typename SequenceOf<T>::element>>(
        reader, [&] { decode_sequence<form, bound>(reader, value); });
  } else if constexpr (Array<T>) {
    delimited<!is_headless_element<T>>(reader, [&] { decode_elements<form>(reader, value); });
  } else if constexpr (Map<T>) {
    constexpr bool headless =
        Primitive<typename MapOf<T>::key> && is_headless_element<typename MapOf<T>::element>;
    delimited<!headless>(reader, [&] { decode_map<form, bound>(reader, value); });
  } else if constexpr (Optional<T>) {
    value.reset();
    if (reader.get<bool>()) decode<form, bound>(reader, value.emplace());
  } else if constexpr (Union<T>) {
    decode_union<form>(reader, value);
  } else if constexpr (DescribedStruct<T>) {
    decode_struct<form>(reader, value);
  } else {
    static_assert(is_alone<T>, "a member of this type cannot travel: see LLAMADA_TYPE");
  }
}

Status check_all_taken(const Xcdr2Reader& reader);

/// A T of one's own, for callers that know that it is small.
template <typename T, typename Decode>
Result<T> returned(Decode&& decode) {
  static_assert(sizeof(T) <= 65536, "a T might not fit on the stack: give a T on the heap to be filled in");
  T value{};
  if (Status status = decode(value); !status) return propagate(status);
  return value;
}

}  // namespace detail

/// Fills in `value`, a default-constructed T, from XCDR2 bytes with their encapsulation header, in either
/// byte order. Members that an APPENDABLE or MUTABLE sample lacks stay as they are. Errors: parse_error, with
/// the member's path; `value` is then partly filled in.
template <DescribedStruct T>
Status deserialize_xcdr2(std::span<const std::byte> sample, T& value) {
  auto reader = Xcdr2Reader::open(sample, DescriptionOf<T>::extensibility);
  if (!reader) return propagate(reader);
  detail::decode_struct<Form::sample>(*reader, value);
  return detail::check_all_taken(*reader);
}
/// deserialize_xcdr2() that returns the value, for types of up to 64 KiB.
template <DescribedStruct T>
Result<T> deserialize_xcdr2(std::span<const std::byte> sample) {
  return detail::returned<T>([&](T& value) { return deserialize_xcdr2(sample, value); });
}

/// Fills in the key members of `value` from what serialize_key() wrote. Errors: parse_error; `value` is then
/// partly filled in.
template <DescribedStruct T>
Status deserialize_key(std::span<const std::byte> key, T& value) {
  Xcdr2Reader reader(key, std::endian::big);
  if constexpr (is_keyed_v<T>) detail::decode_struct<Form::key>(reader, value);
  return detail::check_all_taken(reader);
}
/// deserialize_key() that returns a value with defaults elsewhere, for types of up to 64 KiB.
template <DescribedStruct T>
Result<T> deserialize_key(std::span<const std::byte> key) {
  return detail::returned<T>([&](T& value) { return deserialize_key(key, value); });
}

}  // namespace llamada::types
