#pragma once

#include <array>
#include <cmath>
#include <map>

#include "llamada/sql/filter.hpp"
#include "llamada/types/typed_support.hpp"

// The type whose fields the tests and the fuzzer of expressions name.
namespace filtered {

enum class Colour : std::uint8_t { red, green, blue };
LLAMADA_ENUM(Colour, red, green, blue);

struct Place {
  double x = 0;
  double y = 0;
};
LLAMADA_TYPE(Place, x, y);

struct Shape {
  std::string name;
  std::int32_t size = 0;
  std::uint64_t large = 0;
  double weight = 0;
  bool visible = false;
  char letter = 'a';
  Colour colour = Colour::red;
  Place place;
  std::optional<std::int16_t> perhaps;
  std::vector<int> list;
  std::array<Place, 2> corners;
  std::int16_t grid[2][3] = {};
  std::vector<std::string> tags;
  std::vector<bool> flags;
  std::map<std::string, int> names;
};
LLAMADA_TYPE(Shape, LLAMADA_KEY(name), size, large, weight, visible, letter, colour, place, perhaps, list,
             corners, grid, tags, flags, names);

/// An input of the fuzzer: the expression in its first line, a parameter in each other.
inline std::vector<std::string> lines_of(std::string_view input) {
  std::vector<std::string> lines(1);
  for (const char each : input) {
    if (each == '\n' && lines.size() <= llamada::sql::parameters_max) {
      lines.emplace_back();
    } else {
      lines.back() += each;
    }
  }
  return lines;
}

/// False if a refusal is no printable sentence, or an order is none.
inline bool holds(std::string_view input) {
  const auto lines = lines_of(input);
  const auto parameters = std::span(lines).subspan(1);
  const auto filter =
      llamada::sql::Filter::parse_query(lines[0], parameters, llamada::types::type_support<Shape>());
  if (!filter) {
    const std::string& text = filter.error().text();
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](char each) { return each >= 0x20 && each < 0x7f; });
  }
  const Shape a{"circle", 3, 7, 1.5, true, 'c', Colour::blue, {1, 2}, 4, {5, 6}, {}, {}, {"a"}, {true}, {}};
  const Shape b{"square", -3, UINT64_MAX, std::nan(""), false, 's', Colour::red, {-1, 0},
                {},       {}, {},         {},           {},    {},  {}};
  filter->matches_object(&a);
  filter->matches_object(&b);
  return !filter->before(&a, &a) && !(filter->before(&a, &b) && filter->before(&b, &a));
}

}  // namespace filtered
