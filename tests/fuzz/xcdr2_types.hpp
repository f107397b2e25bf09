#pragma once

#include "llamada/types/typed_support.hpp"

// What the XCDR2 fuzzer reads, and the replay of its corpus in the unit tests: a type with a bit of
// everything, the first byte of the input says of which extensibility.
namespace fuzzed {

enum class Kind : std::uint8_t { one = 1, two = 2 };
LLAMADA_ENUM(Kind, one, two);

struct Leaf {
  std::uint8_t a = 0;
  std::string b;
};
LLAMADA_TYPE_APPENDABLE(Leaf, LLAMADA_KEY(a), LLAMADA_BOUND(b, 20));

struct Tree {
  Kind kind = Kind::one;
  std::vector<Tree> children;
};
LLAMADA_TYPE_APPENDABLE(Tree, kind, children);

struct Final {
  std::int64_t number = 0;
  std::vector<Leaf> leaves;
  std::map<std::string, double> numbers;
  std::optional<Leaf> leaf;
  std::array<Kind, 2> kinds{Kind::one, Kind::one};
  std::vector<bool> flags;
  Tree tree;
};
LLAMADA_TYPE(Final, LLAMADA_KEY(number), LLAMADA_BOUND(leaves, 5), numbers, leaf, kinds, flags, tree);

struct Mutable {
  std::uint16_t number = 0;
  std::string text;
  std::vector<std::uint32_t> numbers;
  std::optional<double> perhaps;
  Leaf leaf;
};
LLAMADA_TYPE_MUTABLE(Mutable, LLAMADA_KEY(number), LLAMADA_ID(text, 7), numbers, perhaps, leaf);

enum class Bits : std::uint16_t { none = 0, first = 1, last = 0x8000 };
LLAMADA_BITMASK(Bits, first, last);

struct Composed : Leaf {
  std::variant<std::monostate, std::int32_t, std::string, std::vector<Leaf>> choice;
  Bits bits = Bits::none;
  std::vector<std::variant<bool, Bits>> choices;
};
LLAMADA_TYPE_APPENDABLE(Composed, LLAMADA_BASE(Leaf), choice, LLAMADA_KEY(bits), choices);

/// False if a value that was read does not come back from its own serialisation.
template <typename T>
bool holds(std::span<const std::byte> sample) {
  using namespace llamada::types;
  const auto value = deserialize_xcdr2<T>(sample);
  if (!value) return !value.error().text().empty();
  const auto bytes = serialize_xcdr2(*value);
  if (!bytes) return false;
  const auto again = deserialize_xcdr2<T>(*bytes);
  if (!again) return false;
  const auto key = serialize_key(*value);
  return key && deserialize_key<T>(*key) && serialize_xcdr2(*again).value() == *bytes;
}

inline bool holds(std::span<const std::byte> input) {
  if (input.empty()) return true;
  if (std::to_integer<unsigned>(input[0]) >= 0xf8) return holds<Composed>(input.subspan(1));
  switch (std::to_integer<unsigned>(input[0]) % 3) {
    case 0:
      return holds<Final>(input.subspan(1));
    case 1:
      return holds<Leaf>(input.subspan(1)) && holds<Tree>(input.subspan(1));
    default:
      return holds<Mutable>(input.subspan(1));
  }
}

}  // namespace fuzzed
