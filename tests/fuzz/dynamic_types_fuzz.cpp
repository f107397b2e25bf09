// libFuzzer's harness for types that are known at run time only. An input is a type's description, a NUL, and
// the bytes of a sample. What is accepted is shown in each way that tools have, what is refused is a
// sentence.

#include <algorithm>
#include <cstdlib>

#include "llamada/types/dynamic_type.hpp"
#include "llamada/types/dynamic_value.hpp"
#include "show_value.hpp"

using namespace llamada;
using namespace llamada::types;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

/// Names may hold any letters.
bool is_sentence(const std::string& text) {
  return !text.empty() && std::none_of(text.begin(), text.end(), [](char each) {
    return static_cast<unsigned char>(each) < 0x20 || each == 0x7f;
  });
}

void show(const DynamicType& type, const DynamicValue& value) {
  (void)tools::to_line(value);
  (void)tools::to_lines(value);
  (void)tools::to_json(value).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  require(tools::csv_columns(type).size() == tools::csv_cells(value).size());
}

/// What a filter would look at.
void look_at_fields(const DynamicDescription& description, std::span<const std::byte> sample) {
  const auto object = description.object_of(sample);
  if (!object) return require(is_sentence(object.error().text()));
  for (const DynamicMember& member : description.type().members) {
    for (const char* inside : {"", ".length", "[0]"}) {
      const auto field = description.field(member.name + inside);
      if (field)
        (void)field->get(object->get());
      else
        require(is_sentence(field.error().text()));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string_view text = input.substr(0, input.find('\0'));
  const auto sample = std::as_bytes(std::span(data, size)).subspan(std::min(size, text.size() + 1));
  const auto description = DynamicDescription::parse(text);
  if (!description) {
    require(is_sentence(description.error().text()));
    return 0;
  }
  require(first_difference(**description, **description).empty());
  constexpr std::size_t elements_max = 16;
  const auto value = decode((*description)->type(), sample, elements_max);
  if (value)
    show((*description)->type(), *value);
  else
    require(is_sentence(value.error().text()));
  look_at_fields(**description, sample);
  return 0;
}
