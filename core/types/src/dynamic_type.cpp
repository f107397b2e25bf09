#include "llamada/types/dynamic_type.hpp"

#include <algorithm>

#include "llamada/types/dynamic_value.hpp"
#include "llamada/types/fields.hpp"

namespace llamada::types {

using Kind = DynamicType::Kind;

namespace {

FieldKind field_kind(Kind kind) {
  switch (kind) {
    case Kind::boolean:
      return FieldKind::boolean;
    case Kind::character:
      return FieldKind::character;
    case Kind::signed_integer:
      return FieldKind::signed_integer;
    case Kind::floating:
      return FieldKind::floating;
    case Kind::enumeration:
      return FieldKind::enumeration;
    case Kind::text:
      return FieldKind::text;
    default:
      return FieldKind::unsigned_integer;
  }
}

const DynamicMember* find_member(const DynamicType& type, std::string_view name) {
  const auto found = std::find_if(type.members.begin(), type.members.end(),
                                  [&](const DynamicMember& each) { return each.name == name; });
  return found == type.members.end() ? nullptr : &*found;
}

std::string difference(const std::string& what, const std::string& writer, const std::string& reader) {
  if (writer == reader) return "";
  const auto shown = [](const std::string& text) { return text.empty() ? "none" : "'" + text + "'"; };
  return fmt::format("{}: the writer has {}, the reader {}", what, shown(writer), shown(reader));
}

/// How a member is declared and, of plain types, where it lies.
std::string words_of(const DynamicType& type, const DynamicMember* member) {
  if (member == nullptr) return "";
  std::string words = member->declaration;
  if (type.extensibility == Extensibility::mutable_) words += fmt::format(" with id {}", member->id);
  if (type.size_bytes != 0) words += fmt::format(" at byte {}", member->offset);
  return words;
}

std::string names_of(const DynamicType& type) {
  std::string words;
  for (const Enumerator& each : type.enumerators)
    words += fmt::format("{}{} = {}", words.empty() ? "" : ", ", each.name, each.number);
  return words;
}

std::vector<std::string> order_of(const DynamicType& one, const DynamicType& other) {
  std::vector<std::string> names;
  for (const DynamicType* type : {&one, &other})
    for (const DynamicMember& each : type->members)
      if (std::find(names.begin(), names.end(), each.name) == names.end()) names.push_back(each.name);
  return names;
}

std::string member_difference(const DynamicType& writer, const DynamicType& reader) {
  for (const std::string& name : order_of(writer, reader)) {
    std::string found =
        difference(fmt::format("member '{}' of {}", name, writer.name),
                   words_of(writer, find_member(writer, name)), words_of(reader, find_member(reader, name)));
    if (!found.empty()) return found;
  }
  for (std::size_t i = 0; i < writer.members.size(); ++i) {
    std::string found = difference(fmt::format("member {} of {}", i + 1, writer.name), writer.members[i].name,
                                   reader.members[i].name);
    if (!found.empty()) return found;
  }
  return "";
}

std::string type_difference(const DynamicType& writer, const DynamicType& reader) {
  const auto size = [](const DynamicType& type) { return fmt::format("{} bytes", type.size_bytes); };
  const auto kind = [](const DynamicType& type) {
    return type.kind == Kind::enumeration ? "an enumeration"
           : type.kind == Kind::bitmask   ? "a bitmask"
                                          : fmt::format("{} struct", to_string(type.extensibility));
  };
  std::string found = difference(writer.name, kind(writer), kind(reader));
  if (found.empty()) found = member_difference(writer, reader);
  if (found.empty()) found = difference("the names of " + writer.name, names_of(writer), names_of(reader));
  if (found.empty()) found = difference("the size of " + writer.name, size(writer), size(reader));
  return found;
}

/// Elements behind these are not kept for comparisons, and paths to them are refused.
constexpr std::size_t compared_elements_max = 65536;

Result<Field> find_field(const DynamicType& type, std::string_view path);

/// `inner`, of the part of a value with this index; absent if the value has no such part.
Result<Field> within_part(std::size_t index, Result<Field> inner) {
  if (!inner) return inner;
  inner->get = [index, inside = std::move(inner->get)](const void* object) {
    const auto& parts = static_cast<const DynamicValue*>(object)->parts;
    return index < parts.size() ? inside(&parts[index]) : Value{};
  };
  return inner;
}

Field scalar_field(const DynamicType& type) {
  const auto get = [](const void* object) { return static_cast<const DynamicValue*>(object)->scalar; };
  const bool has_names = type.kind == Kind::enumeration;
  return {{}, field_kind(type.kind), has_names ? type.enumerators : std::vector<Enumerator>(), get};
}

Field length_field() {
  const auto get = [](const void* object) {
    return Value(std::uint64_t{static_cast<const DynamicValue*>(object)->count});
  };
  return {{}, FieldKind::unsigned_integer, {}, get};
}

/// The field that `rest` leads to within a value of the type; as detail::field_in() of types that the
/// compiler knows.
Result<Field> field_in(const DynamicType& type, const std::string& place, std::string_view rest) {
  if (type.is_scalar())
    return rest.empty() ? Result<Field>(scalar_field(type)) : detail::nothing_inside(place);
  switch (type.kind) {
    case Kind::optional:
      return within_part(0, field_in(*type.parts[0], place, rest));
    case Kind::structure:
      if (!rest.starts_with('.')) return detail::not_scalar(place, "name a member behind a dot");
      return find_field(type, rest.substr(1));
    case Kind::map:
      if (rest != ".length") return detail::not_scalar(place, "only its .length can be compared");
      return length_field();
    case Kind::sequence:
    case Kind::array: {
      if (rest == ".length") return length_field();
      if (!rest.starts_with('[')) return detail::not_scalar(place, "name an element, [0], or .length");
      auto split = detail::split_index(place, rest, type.count);
      if (!split) return propagate(split);
      const std::size_t index = split->first;
      if (index >= compared_elements_max)
        return failure(Errc::unsupported, "{}: elements from [{}] on cannot be compared", place,
                       compared_elements_max);
      return within_part(index,
                         field_in(*type.parts[0], fmt::format("[{}] of {}", index, place), split->second));
    }
    default:
      return detail::not_scalar(place, "it cannot be compared");
  }
}

Result<Field> find_field(const DynamicType& type, std::string_view path) {
  const auto [name, rest] = detail::split_path(path);
  if (const DynamicMember* member = find_member(type, name))
    return within_part(static_cast<std::size_t>(member - type.members.data()),
                       field_in(*member->type, fmt::format("{} of {}", name, type.name), rest));
  std::vector<std::string> names;
  for (const DynamicMember& each : type.members) names.push_back(each.name);
  return detail::no_field(type.name, name, names);
}

}  // namespace

Result<std::shared_ptr<const void>> DynamicDescription::object_of(std::span<const std::byte> sample) const {
  auto value = decode(type(), sample, compared_elements_max);
  if (!value) return propagate(value);
  return std::shared_ptr<const void>(std::make_shared<DynamicValue>(std::move(*value)));
}

Result<Field> DynamicDescription::field(std::string_view path) const {
  if (auto status = detail::check_path(path); !status) return propagate(status);
  auto field = find_field(type(), path);
  if (field) field->path = path;
  return field;
}

std::string first_difference(const DynamicDescription& writer, const DynamicDescription& reader) {
  for (const DynamicType* of_writer : writer.declared()) {
    const auto& others = reader.declared();
    const auto of_reader = std::find_if(
        others.begin(), others.end(), [&](const DynamicType* each) { return each->name == of_writer->name; });
    if (of_reader == others.end()) continue;  // the member that uses it differs
    std::string found = type_difference(*of_writer, **of_reader);
    if (!found.empty()) return found;
  }
  return "";
}

}  // namespace llamada::types
