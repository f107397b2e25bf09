// Properties of values that nobody chose.

#include <rapidcheck.h>

#include "sample_types.hpp"
#include "test.hpp"

using namespace llamada::types;
using namespace world;

namespace {

std::string letters(std::size_t longest) {
  auto text = *rc::gen::container<std::string>(rc::gen::inRange(' ', '~'));
  if (text.size() > longest) text.resize(longest);
  return text;
}

Colour colour() { return *rc::gen::element(Colour::red, Colour::green, Colour::blue); }

Inner inner() { return {*rc::gen::arbitrary<std::uint8_t>(), letters(50)}; }

Outer outer() {
  Outer value;
  value.number = *rc::gen::arbitrary<std::uint16_t>();
  value.inner = inner();
  for (int i = *rc::gen::inRange(0, 4); i > 0; i--) value.all.push_back(inner());
  for (int i = *rc::gen::inRange(0, 4); i > 0; i--)
    value.names[static_cast<std::uint8_t>(i * 7)] = letters(9);
  for (Colour& each : value.colours) each = colour();
  value.flags = *rc::gen::arbitrary<std::vector<bool>>();
  return value;
}

Loose loose() {
  Loose value;
  value.byte = *rc::gen::arbitrary<std::uint8_t>();
  value.large = *rc::gen::arbitrary<std::int64_t>();
  value.text = letters(40);
  if (*rc::gen::arbitrary<bool>()) value.perhaps = static_cast<float>(*rc::gen::inRange(-1000, 1000)) / 4;
  value.colour = colour();
  value.numbers = *rc::gen::arbitrary<std::vector<std::uint32_t>>();
  if (value.numbers.size() > 4) value.numbers.resize(4);
  return value;
}

Reading reading() {
  Reading value{letters(8), *rc::gen::arbitrary<std::int32_t>(), {}, {}};
  for (int i = *rc::gen::inRange(0, 20); i > 0; i--)
    value.values.push_back(*rc::gen::inRange(-1000, 1000) / 8.0);
  if (*rc::gen::arbitrary<bool>()) value.quality = *rc::gen::arbitrary<std::uint16_t>();
  return value;
}

std::endian order() { return *rc::gen::element(std::endian::little, std::endian::big); }

template <typename T>
void require_same_back(const T& value) {
  const auto bytes = serialize_xcdr2(value, order());
  RC_ASSERT(bytes.has_value());
  RC_ASSERT(bytes->size() % 4 == 0u);
  const auto back = deserialize_xcdr2<T>(*bytes);
  RC_ASSERT(back.has_value());
  RC_ASSERT(*back == value);
}

/// Changed bytes give an error or a value that serialises to something that reads back; never more.
template <typename T>
void require_stands(const T& value) {
  auto bytes = serialize_xcdr2(value).value();
  for (int i = *rc::gen::inRange(1, 6); i > 0; i--) {
    const auto place = *rc::gen::inRange<std::size_t>(0, bytes.size());
    bytes[place] = std::byte(*rc::gen::element(0, 1, 4, 0x7f, 0x80, 0xff, *rc::gen::inRange(0, 256)));
  }
  bytes.resize(*rc::gen::inRange<std::size_t>(0, bytes.size() + 1));
  const auto back = deserialize_xcdr2<T>(bytes);
  if (back) RC_ASSERT(serialize_xcdr2(*back).has_value());
}

}  // namespace

TEST_CASE("xcdr2: what is written is read, in both byte orders", "[types]") {
  CHECK(rc::check("FINAL", [] { require_same_back(reading()); }));
  CHECK(rc::check("APPENDABLE", [] { require_same_back(outer()); }));
  CHECK(rc::check("MUTABLE", [] { require_same_back(loose()); }));
}

TEST_CASE("xcdr2: changed bytes do no harm", "[types]") {
  CHECK(rc::check("FINAL", [] { require_stands(reading()); }));
  CHECK(rc::check("APPENDABLE", [] { require_stands(outer()); }));
  CHECK(rc::check("MUTABLE", [] { require_stands(loose()); }));
}

TEST_CASE("types: keys come back from what serialize_key writes, and decide the hash", "[types]") {
  CHECK(rc::check("keys", [] {
    const Keyed a{*rc::gen::inRange<std::uint16_t>(0, 3), 0, inner(), letters(2)};
    const Keyed b{*rc::gen::inRange<std::uint16_t>(0, 3), 1, {a.inner.a, "other"}, letters(2)};
    const bool same = a.first == b.first && a.inner.a == b.inner.a && a.second == b.second;
    const auto& type = type_support<Keyed>();
    const auto sample_a = serialize(a).value(), sample_b = serialize(b).value();
    RC_ASSERT(type.same_key(sample_a, sample_b).value() == same);
    RC_ASSERT((type.key_hash(sample_a).value() == type.key_hash(sample_b).value()) == same);
    const auto back = deserialize_key<Keyed>(serialize_key(a).value());
    RC_ASSERT(back.has_value());
    RC_ASSERT(serialize_key(*back).value() == serialize_key(a).value());
  }));
}
