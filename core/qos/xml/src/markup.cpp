#include "markup.hpp"

#include <algorithm>
#include <array>

#include "words.hpp"

namespace llamada::qos::xml {
namespace {

/// What markup begins and ends with, and whose content is no markup.
struct Section {
  std::string_view begin;
  std::string_view end;
  bool is_instruction;
};

constexpr std::array<Section, 3> sections{
    {{"<!--", "-->", false}, {"<![CDATA[", "]]>", false}, {"<?", "?>", true}}};

auto line_at(std::string_view text, std::size_t place) {
  return 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(place), '\n');
}

Status check_utf8(std::string_view text, std::string_view file) {
  for (std::size_t at = 0; at < text.size();) {
    const Character character = first_character(text.substr(at));
    if (character.length == 0) {
      return failure(Errc::parse_error, "{}:{}: the byte 0x{:02x} is not UTF-8; save the file in UTF-8", file,
                     line_at(text, at), static_cast<unsigned char>(text[at]));
    }
    at += character.length;
  }
  return {};
}

void blank(std::string& text, std::size_t begin, std::size_t end) {
  for (std::size_t at = begin; at < end; ++at) {
    if (text[at] != '\n') text[at] = ' ';
  }
}

}  // namespace

Result<std::string> markup_of(std::string_view text, std::string_view file) {
  if (auto status = check_utf8(text, file); !status) return propagate(status);
  std::string markup(text);
  std::size_t at = 0;
  while ((at = text.find('<', at)) != text.npos) {
    const std::string_view rest = text.substr(at);
    if (rest.starts_with("<!DOCTYPE")) {
      return failure(
          Errc::parse_error,
          "{}:{}: a document type declaration (<!DOCTYPE>) is refused, since its entities could stand for "
          "anything; remove it and write the values themselves",
          file, line_at(text, at));
    }
    const auto section = std::find_if(sections.begin(), sections.end(),
                                      [rest](const Section& each) { return rest.starts_with(each.begin); });
    if (section == sections.end()) {
      ++at;
      continue;
    }
    const std::size_t end = text.find(section->end, at + section->begin.size());
    if (end == text.npos) break;
    const std::size_t behind = end + section->end.size();
    if (section->is_instruction) blank(markup, at, behind);
    at = behind;
  }
  return markup;
}

}  // namespace llamada::qos::xml
