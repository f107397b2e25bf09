#pragma once

#include "llamada/types/typed_support.hpp"

// Types of every kind, for the tests.
namespace world {

enum class Colour : std::uint8_t { red = 1, green = 2, blue = 4 };
LLAMADA_ENUM(Colour, red, green, blue);

enum class Nameless : std::int16_t { a = -1, b = 300 };

struct Point {
  std::int16_t x = 0;
  std::int64_t y = 0;
  bool operator==(const Point&) const = default;
};
LLAMADA_TYPE(Point, x, y);

/// Plain: everything of fixed size.
struct Plain {
  std::int32_t id = 0;
  std::uint8_t small = 0;
  double value = 0;
  Point points[2] = {};
  std::array<std::array<float, 2>, 3> matrix{};
  Colour colour = Colour::red;
  bool flag = false;
  char letter = ' ';
};
LLAMADA_TYPE(Plain, LLAMADA_KEY(id), small, value, points, matrix, colour, flag, letter);

/// FINAL, with what has no fixed size.
struct Reading {
  std::string text;
  std::int32_t sensor = 0;
  std::vector<double> values;
  std::optional<std::uint16_t> quality;
  bool operator==(const Reading&) const = default;
};
LLAMADA_TYPE(Reading, LLAMADA_BOUND(text, 8), LLAMADA_KEY(sensor), values, quality);

struct Inner {
  std::uint8_t a = 0;
  std::string b;
  bool operator==(const Inner&) const = default;
};
LLAMADA_TYPE_APPENDABLE(Inner, LLAMADA_KEY(a), b);

struct Outer {
  std::uint16_t number = 0;
  Inner inner;
  std::vector<Inner> all;
  std::map<std::uint8_t, std::string> names;
  Colour colours[2] = {Colour::red, Colour::red};
  std::vector<bool> flags;
  bool operator==(const Outer&) const = default;
};
LLAMADA_TYPE_APPENDABLE(Outer, number, LLAMADA_KEY(inner), LLAMADA_BOUND(all, 3), names, colours, flags);

struct Loose {
  std::uint8_t byte = 0;
  std::int64_t large = 0;
  std::string text;
  std::optional<float> perhaps;
  Colour colour = Colour::red;
  std::vector<std::uint32_t> numbers;
  bool operator==(const Loose&) const = default;
};
LLAMADA_TYPE_MUTABLE(Loose, LLAMADA_KEY(byte), LLAMADA_ID(large, 16), text, perhaps, colour,
                     LLAMADA_MEMBER(numbers, ::llamada::types::Id<3>, ::llamada::types::Bound<4>));

/// Contains itself.
struct Tree {
  std::int32_t value = 0;
  std::vector<Tree> children;
  bool operator==(const Tree&) const = default;
};
LLAMADA_TYPE(Tree, value, children);

/// Keys of every size, which have an order of their own.
struct Keyed {
  std::uint16_t first = 0;
  double data = 0;
  Inner inner;
  std::string second;
};
LLAMADA_TYPE(Keyed, LLAMADA_KEY(first), data, LLAMADA_KEY(inner),
             LLAMADA_MEMBER(second, ::llamada::types::Key, ::llamada::types::Bound<8>));

}  // namespace world

inline std::vector<std::byte> from_hex(std::string_view text) {
  std::vector<std::byte> bytes;
  std::string digits;
  for (const char each : text) {
    if (each == ' ') continue;
    digits += each;
    if (digits.size() < 2) continue;
    bytes.push_back(std::byte(std::stoi(digits, nullptr, 16)));
    digits.clear();
  }
  return bytes;
}

inline std::string to_hex(std::span<const std::byte> bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i++)
    text += fmt::format("{:02x}{}", std::to_integer<unsigned>(bytes[i]),
                        i % 4 == 3 && i + 1 < bytes.size() ? " " : "");
  return text;
}
