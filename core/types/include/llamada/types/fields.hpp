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
  } else if constexpr (std::is_enum_v<T>) {
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
  if constexpr (std::is_same_v<T, std::byte>) return FieldKind::unsigned_integer;
  if constexpr (std::is_enum_v<T>) return FieldKind::enumeration;
  return std::is_signed_v<T> ? FieldKind::signed_integer : FieldKind::unsigned_integer;
}

template <typename T>
std::vector<Enumerator> enumerators_of() {
  if constexpr (Optional<T>) return enumerators_of<typename OptionalOf<T>::element>();
  if constexpr (NamedEnum<T>) return llamada_enumerators(static_cast<const T*>(nullptr));
  return {};
}

/// The part of a path before its first dot, and what is behind.
std::pair<std::string_view, std::string_view> split_path(std::string_view path);
tl::unexpected<Error> no_field(const std::string& type, std::string_view path,
                               const std::vector<std::string>& names);
tl::unexpected<Error> not_scalar(const std::string& type, std::string_view name);
tl::unexpected<Error> nothing_inside(const std::string& type, std::string_view name);

template <DescribedStruct T>
Result<Field> find_field(std::string_view path);

template <typename T, typename M>
Result<Field> field_of_member(const M& member, std::string_view rest) {
  using MemberType = typename M::type;
  if constexpr (is_scalar<MemberType>()) {
    if (!rest.empty()) return nothing_inside(type_name<T>(), member.name);
    const auto get = [place = member.place](const void* object) {
      return value_from<MemberType>(static_cast<const T*>(object)->*place);
    };
    return Field{member.name, kind_of<MemberType>(), enumerators_of<MemberType>(), get};
  } else if constexpr (DescribedStruct<MemberType>) {
    if (rest.empty()) return not_scalar(type_name<T>(), member.name);
    auto inner = find_field<MemberType>(rest);
    if (!inner) return propagate(inner);
    auto get = [place = member.place, inside = std::move(inner->get)](const void* object) {
      return inside(&(static_cast<const T*>(object)->*place));
    };
    return Field{fmt::format("{}.{}", member.name, inner->path), inner->kind, std::move(inner->enumerators),
                 get};
  } else {
    return not_scalar(type_name<T>(), member.name);
  }
}

template <DescribedStruct T>
Result<Field> find_field(std::string_view path) {
  const auto [name, rest] = split_path(path);
  std::optional<Result<Field>> found;
  std::vector<std::string> names;
  each_member<T>([&, rest = rest, name = name]<typename M>(const M& member, std::uint32_t) {
    names.emplace_back(member.name);
    if (name == member.name) found.emplace(field_of_member<T>(member, rest));
  });
  if (found) return std::move(*found);
  return no_field(type_name<T>(), name, names);
}

}  // namespace llamada::types::detail
