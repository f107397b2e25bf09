#include <set>

#include "other_version.hpp"
#include "sample_types.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::types;
using namespace world;

namespace {

template <typename T>
std::vector<std::byte> bytes_of(const T& value) {
  auto bytes = serialize(value);
  REQUIRE(bytes);
  return std::move(*bytes);
}

struct Short {
  std::int64_t id = 0;
  double value = 0;
};
LLAMADA_TYPE(Short, LLAMADA_KEY(id), value);

}  // namespace

TEST_CASE("types: the macro gives name, keys, extensibility and whether it is plain", "[types]") {
  const TypeSupport& plain = type_support<Plain>();
  CHECK(plain.name() == "world::Plain");
  CHECK(plain.is_keyed());
  CHECK(plain.is_plain());
  CHECK(plain.plain_size() == sizeof(Plain));
  CHECK_FALSE(type_support<Point>().is_keyed());
  CHECK_FALSE(type_support<Reading>().is_plain());
  CHECK(type_support<Reading>().plain_size() == 0);
  CHECK(type_support<Outer>().extensibility() == Extensibility::appendable);
  CHECK(type_support<Loose>().extensibility() == Extensibility::mutable_);
}

TEST_CASE("types: the descriptor says members, keys, bounds and, of plain types, the layout", "[types]") {
  CHECK(type_support<Reading>().descriptor() ==
        "@final struct world::Reading { string<8> text; @key int32 sensor; sequence<double> values; "
        "@optional uint16 quality; };\n");
  CHECK(type_support<Point>().descriptor() ==
        "@final struct world::Point { int16 x; /* 0+2 */ int64 y; /* 8+8 */ }; /* 16 bytes */\n");
  CHECK(type_support<Loose>().descriptor() ==
        "enum world::Colour { red = 1, green = 2, blue = 4, }; /* 1 bytes */\n"
        "@mutable struct world::Loose { @id(0) @key uint8 byte; @id(16) int64 large; @id(17) string text; "
        "@id(18) @optional float perhaps; @id(19) world::Colour colour; @id(3) sequence<uint32, 4> numbers; "
        "};\n");
  CHECK(type_support<Tree>().descriptor() ==
        "@final struct world::Tree { int32 value; sequence<world::Tree> children; };\n");
}

TEST_CASE("types: a plain type of the same name and size with another order of members is another type",
          "[types]") {
  CHECK(other_plain_size() == type_support<Point>().plain_size());
  CHECK(other_plain_hash() != type_support<Point>().descriptor_hash());
}

TEST_CASE("types: a shorter version of an APPENDABLE type matches, one with other keys does not", "[types]") {
  CHECK(shorter_outer_hash() == type_support<Outer>().descriptor_hash());
  CHECK(rekeyed_outer_hash() != type_support<Outer>().descriptor_hash());
}

TEST_CASE("types: samples of plain types are their bytes, and objects of aligned ones are not copied",
          "[types]") {
  Plain plain;
  plain.id = 5;
  const auto sample = bytes_of(plain);
  CHECK(sample.size() == sizeof(Plain));
  const auto object = type_support<Plain>().object_of(sample);
  REQUIRE(object);
  CHECK(object->get() == sample.data());

  std::vector<std::byte> shifted(sample.size() + 1);
  std::copy(sample.begin(), sample.end(), shifted.begin() + 1);
  const auto copied = type_support<Plain>().object_of(std::span(shifted).subspan(1));
  REQUIRE(copied);
  CHECK(static_cast<const Plain*>(copied->get())->id == 5);

  const auto wrong = type_support<Plain>().object_of(std::span(sample).first(3));
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().text() == fmt::format("a sample of 3 bytes where world::Plain has {}", sizeof(Plain)));
}

TEST_CASE("types: samples with equal key members have one key, whatever else they hold", "[types]") {
  const TypeSupport& type = type_support<Keyed>();
  const auto a = bytes_of(Keyed{1, 2.0, {3, "x"}, "k"});
  const auto b = bytes_of(Keyed{1, 9.0, {3, "y"}, "k"});
  const auto c = bytes_of(Keyed{1, 2.0, {3, "x"}, "l"});
  CHECK(type.same_key(a, b).value());
  CHECK_FALSE(type.same_key(a, c).value());
  CHECK(type.key_hash(a).value() == type.key_hash(b).value());
  CHECK(type.key_hash(a).value() != type.key_hash(c).value());
  CHECK(type.key_hash(a).value() == hash_of_key(type.key_of(a).value()));
  CHECK(type_support<Point>().key_hash(bytes_of(Point{})).value() == 0);

  const auto only_key = type.sample_of_key(type.key_of(a).value());
  REQUIRE(only_key);
  CHECK(type.same_key(a, *only_key).value());
}

TEST_CASE("types: hashes of short keys tell them apart, but for one", "[types]") {
  const TypeSupport& type = type_support<Short>();
  const auto hash = [&type](std::int64_t id) { return type.key_hash(bytes_of(Short{id, 0})).value(); };
  std::set<std::uint64_t> hashes;
  for (std::int64_t id = -1000; id < 1000; ++id) hashes.insert(hash(id));
  CHECK(hashes.size() == 2000);
  CHECK(hashes.count(0) == 0);
  CHECK_FALSE(type.is_hash_ambiguous(hash(0)));
  CHECK(hash(-1) == ambiguous_short_key_hash);
  CHECK(type.is_hash_ambiguous(hash(-1)));
  const TypeSupport& long_key = type_support<Keyed>();
  CHECK(long_key.is_hash_ambiguous(long_key.key_hash(bytes_of(Keyed{1, 2.0, {3, "x"}, "k"})).value()));
  CHECK_FALSE(type_support<Point>().is_hash_ambiguous(0));
}

TEST_CASE("types: fields by their path", "[types]") {
  Outer outer;
  outer.number = 11;
  outer.inner = {12, "in"};
  const TypeSupport& type = type_support<Outer>();
  const auto sample = bytes_of(outer);
  CHECK(std::get<std::uint64_t>(type.value_of(sample, "number").value()) == 11);
  CHECK(std::get<std::uint64_t>(type.value_of(sample, "inner.a").value()) == 12);
  CHECK(std::get<std::string>(type.value_of(sample, "inner.b").value()) == "in");
  CHECK(type.has_field("inner.a"));
  CHECK_FALSE(type.has_field("inner"));
  CHECK(type.value_of(sample, "nothing").error().text() ==
        "world::Outer has no field 'nothing'; it has number, inner, all, names, colours, flags");
  CHECK(type.value_of(sample, "all").error().text() ==
        "all of world::Outer is not a single value: name an element, [0], or .length");
  CHECK(type.value_of(sample, "number.x").error().text() ==
        "number of world::Outer is a single value: it has no fields");
  CHECK(type.value_of(sample, "inner.c").error().text() == "world::Inner has no field 'c'; it has a, b");

  const auto colour = type_support<Loose>().field("colour");
  REQUIRE(colour);
  CHECK(colour->kind == FieldKind::enumeration);
  CHECK(colour->enumerators.at(1) == Enumerator{"green", 2});
  CHECK(std::holds_alternative<std::monostate>(
      type_support<Loose>().value_of(bytes_of(Loose{}), "perhaps").value()));
}
