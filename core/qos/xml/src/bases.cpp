#include "bases.hpp"

#include <array>
#include <optional>

namespace llamada::qos::xml {
namespace {

constexpr std::array<std::string_view, 1> list_parts{"element"};

/// <base_name> within the element, which may stand there once.
Result<std::optional<Element>> list_of(const Element& element) {
  auto children = element.children();
  if (!children) return propagate(children);
  std::optional<Element> list;
  for (const Element& child : *children) {
    if (child.name() != "base_name") continue;
    if (list)
      return child.fails(Errc::parse_error, "the element stands here for the second time; it may stand once");
    list = child;
  }
  return list;
}

}  // namespace

Result<std::vector<std::string>> base_names(const Element& element) {
  std::vector<std::string> names;
  if (const char* attribute = element.attribute("base_name")) names.emplace_back(attribute);
  auto list = list_of(element);
  if (!list) return propagate(list);
  if (!*list) return names;
  if (auto status = (*list)->check_attributes({}); !status) return propagate(status);
  auto entries = (*list)->children_of(list_parts);
  if (!entries) return propagate(entries);
  if (entries->empty())
    return (*list)->fails(Errc::parse_error, "the element is empty; it needs some <element>");
  for (const Element& entry : *entries) {
    if (auto status = entry.check_attributes({}); !status) return propagate(status);
    auto name = entry.text();
    if (!name) return propagate(name);
    names.push_back(std::move(*name));
  }
  return names;
}

}  // namespace llamada::qos::xml
