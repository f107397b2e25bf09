#include "names.hpp"

#include <algorithm>

#include "llamada/qos_xml/profile_file.hpp"
#include "words.hpp"

namespace llamada::qos::xml {
namespace {

bool is_name_character(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
         (character >= '0' && character <= '9') || character == '_' || character == '.';
}

}  // namespace

Result<std::string> read_name(const Element& element) {
  const char* attribute = element.attribute("name");
  if (attribute == nullptr) return element.fails(Errc::parse_error, "attribute 'name' is missing");
  const std::string_view name = attribute;
  if (name.empty()) return element.fails(Errc::parse_error, "attribute 'name' is empty");
  if (name.size() > profile_name_length_max) {
    return element.fails(Errc::out_of_resources, "the name {} has {} characters; the limit is {}",
                         quoted(name), name.size(), profile_name_length_max);
  }
  if (!std::all_of(name.begin(), name.end(), is_name_character)) {
    return element.fails(Errc::parse_error, "{} is not a name; legal: letters, digits, '_' and '.'",
                         quoted(name));
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
