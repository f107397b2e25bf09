#pragma once

#include <set>

#include "llamada/base/result.hpp"
#include "llamada/types/type.hpp"

// Types as texts, as in IDL.
namespace llamada::types {

namespace detail {

/// "[with T = world::Reading]" and "[T = world::Reading]" to "world::Reading".
std::string name_in(std::string_view function);

}  // namespace detail

/// The name with its namespaces, without anonymous ones.
template <typename T>
const std::string& type_name() {
  static const std::string name = detail::name_in(__PRETTY_FUNCTION__);
  return name;
}

/// How much of a type a text says.
enum class Detail : std::uint8_t {
  all,       ///< Every member, and for plain types its place.
  matching,  ///< What two ends must have in common: of types that may change only the keys.
};

namespace detail {

std::string bounded(std::string name, std::uint32_t bound);
std::string_view primitive_name(bool is_floating, bool is_signed, std::size_t size_bytes);

/// Writes declarations of structs and enums, each once and those before that are needed.
class DescriptorText {
 public:
  explicit DescriptorText(Detail detail) : detail_(detail) {}

  template <typename T, std::uint32_t bound = 0>
  std::string name_of();
  template <DescribedStruct T>
  void declare_struct();
  template <typename T>
  void declare_enum();
  template <typename T>
  void declare_bitmask();

  const std::string& text() const { return text_; }

 private:
  template <typename... E>
  std::string union_name(const std::variant<E...>*) {
    const std::array<std::string, sizeof...(E)> names{name_of<E>()...};
    return fmt::format("union<{}>", fmt::join(names, ", "));
  }
  template <typename M>
  std::string member_type();
  void declare_names(std::string_view kind, const std::string& name, const std::vector<Enumerator>& names,
                     std::size_t size_bytes);

  template <typename T, typename M>
  std::string member_text(const M& member, std::uint32_t id, const T& example);

  Detail detail_;
  std::set<std::string> declared_;
  std::string text_;
};

template <typename T, std::uint32_t bound>
std::string DescriptorText::name_of() {
  if constexpr (std::is_same_v<T, bool>) {
    return "boolean";
  } else if constexpr (std::is_same_v<T, char>) {
    return "char";
  } else if constexpr (std::is_same_v<T, std::byte>) {
    return "octet";
  } else if constexpr (Primitive<T>) {
    return std::string(primitive_name(std::is_floating_point_v<T>, std::is_signed_v<T>, sizeof(T)));
  } else if constexpr (std::is_enum_v<T>) {
    if constexpr (Bitmask<T>)
      declare_bitmask<T>();
    else
      declare_enum<T>();
    return type_name<T>();
  } else if constexpr (std::is_same_v<T, std::string>) {
    return bounded("string", bound);
  } else if constexpr (Sequence<T>) {
    return bounded("sequence<" + name_of<typename SequenceOf<T>::element>(), bound) + ">";
  } else if constexpr (Array<T>) {
    return fmt::format("{}[{}]", name_of<typename ArrayOf<T>::element>(), ArrayOf<T>::size);
  } else if constexpr (Map<T>) {
    return bounded("map<" + name_of<typename MapOf<T>::key>() + ", " + name_of<typename MapOf<T>::element>(),
                   bound) +
           ">";
  } else if constexpr (Optional<T>) {
    return "optional<" + name_of<typename OptionalOf<T>::element, bound>() + ">";
  } else if constexpr (std::is_same_v<T, std::monostate>) {
    return "void";
  } else if constexpr (Union<T>) {
    return union_name(static_cast<const T*>(nullptr));
  } else {
    declare_struct<T>();
    return type_name<T>();
  }
}

/// An optional member says so in front, an optional element by its type.
template <typename M>
std::string DescriptorText::member_type() {
  if constexpr (Optional<typename M::type>)
    return "@optional " + name_of<typename OptionalOf<typename M::type>::element, M::bound>();
  else
    return name_of<typename M::type, M::bound>();
}

template <typename T, typename M>
std::string DescriptorText::member_text(const M& member, std::uint32_t id, const T& example) {
  using MemberType = typename M::type;
  std::string text = fmt::format(" {}{} {};", M::is_key ? "@key " : "", member_type<M>(), member.name);
  if constexpr (DescriptionOf<T>::extensibility == Extensibility::mutable_)
    text = fmt::format(" @id({}){}", id, text);
  if constexpr (is_plain_v<T>) {
    const auto place =
        reinterpret_cast<const char*>(&(example.*member.place)) - reinterpret_cast<const char*>(&example);
    text += fmt::format(" /* {}+{} */", place, sizeof(MemberType));
  }
  return text;
}

template <DescribedStruct T>
void DescriptorText::declare_struct() {
  if (!declared_.insert(type_name<T>()).second) return;
  constexpr Extensibility kind = DescriptionOf<T>::extensibility;
  const auto example = std::make_unique<T>();
  std::string members;
  each_member<T>([&]<typename M>(const M& member, std::uint32_t id) {
    if (detail_ == Detail::matching && kind != Extensibility::final && !M::is_key) return;
    members += member_text<T>(member, id, *example);
  });
  text_ += fmt::format("@{} struct {} {{{} }};", to_string(kind), type_name<T>(), members);
  if constexpr (is_plain_v<T>) text_ += fmt::format(" /* {} bytes */", sizeof(T));
  text_ += '\n';
}

template <typename T>
void DescriptorText::declare_enum() {
  std::vector<Enumerator> names;
  if constexpr (NamedEnum<T>) names = llamada_enumerators(static_cast<const T*>(nullptr));
  declare_names("enum", type_name<T>(), names, sizeof(T));
}

template <typename T>
void DescriptorText::declare_bitmask() {
  declare_names("bitmask", type_name<T>(), llamada_bits(static_cast<const T*>(nullptr)), sizeof(T));
}

}  // namespace detail

/// A text of the type T and of what it is made of; that of T stands last.
template <DescribedStruct T>
std::string describe_type(Detail detail) {
  detail::DescriptorText text(detail);
  text.template declare_struct<T>();
  return text.text();
}

}  // namespace llamada::types
