#include "names.hpp"

#include "llamada/qos_xml/profile_file.hpp"
#include "words.hpp"

namespace llamada::qos::xml {
namespace {

/// Printable UTF-8 without ':', which separates names. Blanks may stand within.
bool is_name(std::string_view name) {
  if (name.front() == ' ' || name.back() == ' ') return false;
  while (!name.empty()) {
    const Character character = first_character(name);
    if (name.front() == ':' || !is_printable(character)) return false;
    name.remove_prefix(character.length);
  }
  return true;
}

}  // namespace

Result<std::string> read_name(const Element& element) {
  const char* attribute = element.attribute("name");
  if (attribute == nullptr) return element.fails(Errc::parse_error, "attribute 'name' is missing");
  const std::string_view name = attribute;
  if (name.empty()) return element.fails(Errc::parse_error, "attribute 'name' is empty");
  if (name.size() > profile_name_length_max) {
    return element.fails(Errc::out_of_resources, "the name {} has {} bytes; the limit is {}", quoted(name),
                         name.size(), profile_name_length_max);
  }
  if (!is_name(name)) {
    return element.fails(
        Errc::parse_error,
        "{} is not a name; legal: printable characters except ':', without blanks at the ends", quoted(name));
  }
  return std::string(name);
}

std::string collapsed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == text.npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(blanks) - first + 1));
}

}  // namespace llamada::qos::xml
