#pragma once

#include "llamada/types/descriptor.hpp"
#include "llamada/types/type_support.hpp"

// From the path of a field to the function that takes it from an object.
namespace llamada::types::detail {

template <typename T>
Value value_from(const T& member) {
  if constexpr (Optional<T>) {
    return member ? value_from(*member) : Value{};
  } else if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string>) {
    return member;
  } else if constexpr (std::is_same_v<T, char>) {
    return std::string(1, member);
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<double>(member);
  } else if constexpr (std::is_enum_v<T> && !Bitmask<T>) {
    return static_cast<std::int64_t>(member);
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<std::int64_t>(member);
  } else {
    return static_cast<std::uint64_t>(member);
  }
}

template <typename T>
constexpr bool is_scalar() {
  if constexpr (Optional<T>) {
    return is_scalar<typename OptionalOf<T>::element>();
  } else {
    return Primitive<T> || std::is_enum_v<T> || std::is_same_v<T, std::string>;
  }
}

template <typename T>
constexpr FieldKind kind_of() {
  if constexpr (Optional<T>) return kind_of<typename OptionalOf<T>::element>();
  if constexpr (std::is_same_v<T, bool>) return FieldKind::boolean;
  if constexpr (std::is_same_v<T, char>) return FieldKind::character;
  if constexpr (std::is_same_v<T, std::string>) return FieldKind::text;
  if constexpr (std::is_floating_point_v<T>) return FieldKind::floating;
  if constexpr (std::is_same_v<T, std::byte> || Bitmask<T>) return FieldKind::unsigned_integer;
  if constexpr (std::is_enum_v<T>) return FieldKind::enumeration;
  return std::is_signed_v<T> ? FieldKind::signed_integer : FieldKind::unsigned_integer;
}

template <typename T>
std::vector<Enumerator> enumerators_of() {
  if constexpr (Optional<T>) return enumerators_of<typename OptionalOf<T>::element>();
  if constexpr (NamedEnum<T>) return llamada_enumerators(static_cast<const T*>(nullptr));
  return {};
}

/// A path of more steps is refused.
inline constexpr std::size_t path_steps_max = 64;

/// The first name of a path and what is behind it, which is empty or begins with '.' or '['.
std::pair<std::string_view, std::string_view> split_path(std::string_view path);
/// An error if a path has too many steps, or a dot at its end.
Status check_path(std::string_view path);
/// The number that a path "[2].x" begins with, and what is behind it. `size` is that of an array, 0 of a
/// sequence. Errors: not_found.
Result<std::pair<std::size_t, std::string_view>> split_index(const std::string& place, std::string_view path,
                                                             std::size_t size);
tl::unexpected<Error> no_field(const std::string& type, std::string_view path,
                               const std::vector<std::string>& names);
tl::unexpected<Error> not_scalar(const std::string& place, std::string_view instead);
tl::unexpected<Error> nothing_inside(const std::string& place);

template <DescribedStruct T>
Result<Field> find_field(std::string_view path);
template <typename T>
Result<Field> field_in(const std::string& place, std::string_view rest);

/// `.length` of a sequence, array or map.
template <typename T>
Field length_of() {
  const auto get = [](const void* object) {
    return Value(static_cast<std::uint64_t>(std::size(*static_cast<const T*>(object))));
  };
  return Field{{}, FieldKind::unsigned_integer, {}, get};
}

/// An element of a sequence or an array; behind a sequence's end it is absent.
template <typename T, typename E>
Result<Field> element_in(const std::string& place, std::string_view rest) {
  std::size_t size = 0;
  if constexpr (Array<T>) size = ArrayOf<T>::size;
  auto split = split_index(place, rest, size);
  if (!split) return propagate(split);
  const std::size_t index = split->first;
  auto inner = field_in<E>(fmt::format("[{}] of {}", index, place), split->second);
  if (!inner) return inner;
  inner->get = [index, inside = std::move(inner->get)](const void* object) {
    const T& elements = *static_cast<const T*>(object);
    if (index >= std::size(elements)) return Value{};
    if constexpr (std::is_same_v<T, std::vector<bool>>) {
      return Value(static_cast<bool>(elements[index]));
    } else {
      return inside(&elements[index]);
    }
  };
  return inner;
}

/// The field that `rest` leads to within a T; `place` says where that T is, for messages.
template <typename T>
Result<Field> field_in(const std::string& place, std::string_view rest) {
  if constexpr (is_scalar<T>()) {
    if (!rest.empty()) return nothing_inside(place);
    const auto get = [](const void* object) { return value_from(*static_cast<const T*>(object)); };
    return Field{{}, kind_of<T>(), enumerators_of<T>(), get};
  } else if constexpr (Optional<T>) {
    auto inner = field_in<typename OptionalOf<T>::element>(place, rest);
    if (!inner) return inner;
    inner->get = [inside = std::move(inner->get)](const void* object) {
      const T& member = *static_cast<const T*>(object);
      return member ? inside(&*member) : Value{};
    };
    return inner;
  } else if constexpr (DescribedStruct<T>) {
    if (!rest.starts_with('.')) return not_scalar(place, "name a member behind a dot");
    return find_field<T>(rest.substr(1));
  } else if constexpr (Map<T>) {
    if (rest != ".length") return not_scalar(place, "only its .length can be compared");
    return length_of<T>();
  } else if constexpr (Sequence<T> || Array<T>) {
    if (rest == ".length") return length_of<T>();
    if (!rest.starts_with('[')) return not_scalar(place, "name an element, [0], or .length");
    if constexpr (Sequence<T>) {
      return element_in<T, typename SequenceOf<T>::element>(place, rest);
    } else {
      return element_in<T, typename ArrayOf<T>::element>(place, rest);
    }
  } else {
    return not_scalar(place, "it cannot be compared");
  }
}

template <DescribedStruct T>
Result<Field> find_field(std::string_view path) {
  const auto [name, rest] = split_path(path);
  std::optional<Result<Field>> found;
  std::vector<std::string> names;
  each_member<T>([&, rest = rest, name = name]<typename M>(const M& member, std::uint32_t) {
    names.emplace_back(member.name);
    if (name != member.name) return;
    found.emplace(field_in<typename M::type>(fmt::format("{} of {}", member.name, type_name<T>()), rest));
    if (!*found) return;
    (*found)->get = [place = member.place, inside = std::move((*found)->get)](const void* object) {
      return inside(&(static_cast<const T*>(object)->*place));
    };
  });
  if (found) return std::move(*found);
  return no_field(type_name<T>(), name, names);
}

/// TypeSupport::field().
template <DescribedStruct T>
Result<Field> find_path(std::string_view path) {
  if (auto status = check_path(path); !status) return propagate(status);
  auto field = find_field<T>(path);
  if (field) field->path = path;
  return field;
}

}  // namespace llamada::types::detail
