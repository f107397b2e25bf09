#include "properties.hpp"

#include <optional>

#include "llamada/base/nearest_word.hpp"

namespace llamada::qos::xml {
namespace {

/// The one element of that name within another, if there is one.
Result<std::optional<Element>> part_of(const Element& element, std::string_view name) {
  auto children = element.children();
  if (!children) return propagate(children);
  std::optional<Element> part;
  for (const Element& child : *children) {
    if (child.name() != name) continue;
    if (part)
      return child.fails(Errc::parse_error, "the element stands here for the second time; it may stand once");
    part = child;
  }
  return part;
}

Result<std::optional<std::string>> text_of(const Element& element, std::string_view name) {
  auto part = part_of(element, name);
  if (!part) return propagate(part);
  if (!*part) return std::nullopt;
  auto text = (*part)->text_or_empty();
  if (!text) return propagate(text);
  return std::optional<std::string>(std::move(*text));
}

/// Whether the property is ours, or was probably meant to be.
bool is_tuning(std::string_view name) {
  std::vector<std::string_view> names;
  for (const TuningVariable& variable : tuning_variables()) names.emplace_back(variable.name);
  return name.starts_with(tuning_prefix) || !nearest_word(name, names).empty();
}

/// False if the property is another vendor's.
Result<bool> read_property(PolicyReader& reader, const Element& element) {
  auto name = text_of(element, "name");
  if (!name) return propagate(name);
  if (!*name || !is_tuning(**name)) return false;
  auto variable = find_tuning_variable(**name);
  if (!variable) return element.fails(variable.error());
  auto text = text_of(element, "value");
  if (!text) return propagate(text);
  if (!*text) return element.fails(Errc::parse_error, "{} has no <value>", **name);
  auto value = parse_tuning_value(**variable, **text);
  if (!value) return element.fails(value.error());
  if (reader.tuning != nullptr) reader.tuning->set((*variable)->id, *value);
  reader.origins[fmt::format("tuning.{}", **name)] = {std::string(element.file()), element.line(),
                                                      element.where()};
  return true;
}

}  // namespace

Status read_properties(PolicyReader& reader, const Element& property) {
  auto list = part_of(property, "value");
  if (!list) return propagate(list);
  bool has_others = !*list;
  if (*list) {
    auto elements = (*list)->children();
    if (!elements) return propagate(elements);
    for (const Element& element : *elements) {
      auto is_ours = read_property(reader, element);
      if (!is_ours) return propagate(is_ours);
      has_others |= !*is_ours;
    }
  }
  if (has_others)
    reader.warnings.push_back(property.where() + "a property is another vendor's; it has no effect here");
  return {};
}

}  // namespace llamada::qos::xml
