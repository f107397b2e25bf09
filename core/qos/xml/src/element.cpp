#include "element.hpp"

#include <algorithm>
#include <set>
#include <span>

#include "vendors.hpp"
#include "words.hpp"

namespace llamada::qos::xml {
namespace {

std::string step(const tinyxml2::XMLElement& element) {
  const auto* written = static_cast<const char*>(element.GetUserData());
  const std::string name = quoted(written != nullptr ? written : element.Name());
  std::string text = name.substr(1, name.size() - 2);
  if (const char* attribute = element.Attribute("name"); attribute != nullptr && attribute != text) {
    const std::string value = quoted(attribute);
    text += "[" + value.substr(1, value.size() - 2) + "]";
  }
  return text;
}

std::string path(const tinyxml2::XMLElement& element) {
  std::string text = step(element);
  const tinyxml2::XMLNode* parent = element.Parent();
  for (; parent != nullptr && parent->ToElement() != nullptr; parent = parent->Parent()) {
    text = step(*parent->ToElement()) + "/" + text;
  }
  return text;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// Says which schema a file follows. The schema's location has any prefix that stands for XMLSchema-instance.
bool is_schema_attribute(std::string_view name) {
  return name == "xmlns" || name.starts_with("xmlns:") || name.starts_with("xsi:") ||
         name.ends_with(":schemaLocation") || name.ends_with(":noNamespaceSchemaLocation");
}

}  // namespace

std::string_view Element::name() const {
  const std::string_view name = element_->Name();
  return name.substr(name.find(':') + 1);
}

int Element::line() const {
  const tinyxml2::XMLNode* node = element_;
  while (node->GetLineNum() == 0 && node->Parent() != nullptr) node = node->Parent();
  return node->GetLineNum();
}

std::string Element::where(int line) const {
  return fmt::format("{}:{}: {}: ", file_, line, path(*element_));
}

Result<std::vector<Element>> Element::children() const {
  std::vector<Element> found;
  for (auto* node = element_->FirstChild(); node != nullptr; node = node->NextSibling()) {
    if (node->ToComment() != nullptr) continue;
    if (node->ToElement() == nullptr) {
      return failure(Errc::parse_error, "{}{} stands where only elements may stand",
                     where(node->GetLineNum()), quoted(trimmed(node->Value())));
    }
    found.emplace_back(*node->ToElement(), file_);
  }
  return found;
}

Result<std::vector<Element>> Element::children_of(std::span<const std::string_view> legal,
                                                  Warnings* warnings) const {
  auto found = children();
  if (!found) return found;
  std::vector<Element> kept;
  for (const Element& child : *found) {
    if (std::find(legal.begin(), legal.end(), child.name()) != legal.end()) {
      kept.push_back(child);
    } else if (warnings != nullptr && (is_ignored(name(), child.name()) || child.is_harmless(name()))) {
      warnings->push_back(child.where() + "the element is another vendor's; it has no effect here");
    } else if (const std::string_view reason = refusal(name(), child.name()); !reason.empty()) {
      return child.fails(Errc::unsupported, "{}", reason);
    } else {
      return child.unknown(legal);
    }
  }
  return kept;
}

bool Element::is_harmless(std::string_view parent) const {
  const Result<std::vector<Element>> inside = children();
  const Element& holder = inside && inside->size() == 1 ? inside->front() : *this;
  const auto value = holder.text_or_empty();
  return value && asks_for_nothing(parent, name(), *value);
}

Result<std::vector<Element>> Element::children_once(std::span<const std::string_view> legal,
                                                    Warnings* warnings) const {
  auto found = children_of(legal, warnings);
  if (!found) return found;
  std::set<std::string_view> seen;
  for (const Element& child : *found) {
    if (!seen.insert(child.name()).second) {
      return child.fails(Errc::parse_error, "the element stands here for the second time; it may stand once");
    }
  }
  return found;
}

Result<std::string> Element::text_or_empty() const {
  std::string all;
  for (auto* node = element_->FirstChild(); node != nullptr; node = node->NextSibling()) {
    if (node->ToComment() != nullptr) continue;
    if (node->ToText() == nullptr) {
      return failure(Errc::parse_error, "{}{} stands where only text may stand", where(node->GetLineNum()),
                     quoted(node->Value()));
    }
    all += node->Value();
  }
  return std::string(trimmed(all));
}

Result<std::string> Element::text() const {
  auto text = text_or_empty();
  if (text && text->empty()) return fails(Errc::parse_error, "the element is empty; it needs a value");
  return text;
}

Status Element::check_attributes(std::initializer_list<std::string_view> legal,
                                 std::initializer_list<std::string_view> ignored) const {
  for (auto* attribute = element_->FirstAttribute(); attribute != nullptr; attribute = attribute->Next()) {
    const std::string_view name = attribute->Name();
    if (is_schema_attribute(name) || std::find(legal.begin(), legal.end(), name) != legal.end()) continue;
    if (std::find(ignored.begin(), ignored.end(), name) != ignored.end()) continue;
    const std::span<const std::string_view> names(legal.begin(), legal.size());
    if (names.empty()) {
      return fails(Errc::parse_error, "attribute {} is not known here; there are none", quoted(name));
    }
    return fails(Errc::parse_error, "attribute {} is not known here; legal: {}{}", quoted(name),
                 listed(names), suggestion(name, names));
  }
  return {};
}

tl::unexpected<Error> Element::unknown(std::span<const std::string_view> legal) const {
  return fails(Errc::parse_error, "the element is not known here; legal: {}{}", listed(legal),
               suggestion(name(), legal));
}

}  // namespace llamada::qos::xml
