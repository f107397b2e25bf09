// Unions, bitmasks, base classes and nested keys: bytes written down by hand from DDS-XTypes 1.3, 7.4.3
// and 7.6.8.

#include "sample_types.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::types;

namespace composed {

using world::Point;

enum class Access : std::uint8_t { none = 0, read = 1, write = 2, run = 4 };
LLAMADA_BITMASK(Access, read, write, run);

struct Choice {
  std::variant<std::monostate, std::int16_t, std::string, Point> what;
  Access access = Access::none;
  std::vector<Access> all;
  bool operator==(const Choice&) const = default;
};
LLAMADA_TYPE(Choice, what, access, all);

struct LooseChoice {
  std::variant<bool, double> what;
  Access access = Access::none;
  bool operator==(const LooseChoice&) const = default;
};
LLAMADA_TYPE_MUTABLE(LooseChoice, what, access);

struct Named {
  std::int16_t id = 0;
  std::string name;
  bool operator==(const Named&) const = default;
};
LLAMADA_TYPE(Named, LLAMADA_KEY(id), name);

struct Measured : Named {
  std::int32_t value = 0;
  bool operator==(const Measured&) const = default;
};
LLAMADA_TYPE(Measured, LLAMADA_BASE(Named), value);

struct Located : Measured {
  std::uint8_t room = 0;
  bool operator==(const Located&) const = default;
};
LLAMADA_TYPE(Located, LLAMADA_BASE(Measured), LLAMADA_KEY(room));

struct LooseNamed {
  std::uint8_t first = 0;
};
LLAMADA_TYPE_MUTABLE(LooseNamed, LLAMADA_ID(first, 10));
struct LooseMeasured : LooseNamed {
  std::uint8_t second = 0;
};
LLAMADA_TYPE_MUTABLE(LooseMeasured, LLAMADA_BASE(LooseNamed), second);

struct PlainBase {
  std::int64_t a = 0;
};
LLAMADA_TYPE(PlainBase, LLAMADA_KEY(a));
struct PlainDerived : PlainBase {
  std::int8_t b = 0;
};
LLAMADA_TYPE(PlainDerived, LLAMADA_BASE(PlainBase), b);

/// Nobody has described it, and it is no Named on the wire.
struct Forgotten : Named {
  int more = 0;
};

struct Site {
  Located where;  // of its members the keys: id and room
  Point corner;   // without keys of its own all of it is key
  std::vector<Named> not_in_the_key;
};
LLAMADA_TYPE_APPENDABLE(Site, not_in_the_key, LLAMADA_KEY(where), LLAMADA_KEY(corner));

struct Swapped {
  std::uint8_t late = 0;
  std::uint8_t early = 0;
};
LLAMADA_TYPE_MUTABLE(Swapped, LLAMADA_MEMBER(late, ::llamada::types::Key, ::llamada::types::Id<9>),
                     LLAMADA_MEMBER(early, ::llamada::types::Key, ::llamada::types::Id<3>));

}  // namespace composed

using namespace composed;

namespace {

template <typename T>
void require_both_ways(const T& value, const std::string& hex) {
  const auto bytes = serialize_xcdr2(value);
  REQUIRE(bytes);
  CHECK(to_hex(*bytes) == hex);
  const auto back = deserialize_xcdr2<T>(from_hex(hex));
  INFO((back ? "" : back.error().text()));
  REQUIRE(back);
  CHECK(*back == value);
}

template <typename T>
std::string error_of(std::string_view hex) {
  const auto value = deserialize_xcdr2<T>(from_hex(hex));
  return value ? "" : value.error().text();
}

constexpr Access both = static_cast<Access>(5);

}  // namespace

TEST_CASE("xcdr2: a union is its discriminator and the alternative, a bitmask its unsigned integer",
          "[types]") {
  require_both_ways(Choice{"ab", both, {Access::write}},
                    "00070003 02000000 03000000 61620005 05000000 01000000 02000000");
  require_both_ways(Choice{std::int16_t{-2}, Access::none, {}},
                    "00070000 01000000 feff0000 04000000 00000000");
  require_both_ways(Choice{Point{3, 4}, Access::read, {}},
                    "00070000 03000000 03000000 04000000 00000000 01000000 04000000 00000000");
  require_both_ways(Choice{}, "00070000 00000000 00000000 04000000 00000000");
  require_both_ways(LooseChoice{2.0, Access::run},
                    "000b0003 19000000 00000040 0c000000 01000000 00000000 00000040 01000000 04000000");
}

TEST_CASE("xcdr2: an unknown alternative and a bit without a name are refused, with the member's name",
          "[types]") {
  CHECK(error_of<Choice>("00070000 04000000 00000000") == "what: 4 is no alternative of a union of 4");
  CHECK(error_of<Choice>("00070000 ffffffff 00000000") == "what: -1 is no alternative of a union of 4");
  CHECK(error_of<Choice>("00070000 00000000 09000000 04000000 00000000") ==
        "access: bit 3 of a bitmask has no name");
}

TEST_CASE("xcdr2: the members of a base class come first, and its keys are keys", "[types]") {
  Located located;
  located.id = 0x0102;
  located.name = "a";
  located.value = 5;
  located.room = 9;
  require_both_ways(located, "00070003 02010000 02000000 61000000 05000000 09000000");
  CHECK(to_hex(serialize_key(located).value()) == "010209");
  CHECK(deserialize_key<Located>(serialize_key(located).value())->room == 9);
  LooseMeasured loose;
  loose.first = 1;
  loose.second = 2;
  CHECK(to_hex(serialize_xcdr2(loose).value()) == "000b0003 0d000000 0a000000 01000000 0b000000 02000000");
  CHECK(is_plain_v<PlainDerived>);
  CHECK(is_keyed_v<PlainDerived>);
  CHECK(type_support<PlainDerived>().value_of(
            std::as_bytes(std::span(&static_cast<const PlainDerived&>(PlainDerived{{7}, 3}), 1)), "b") ==
        Value(std::int64_t{3}));
}

TEST_CASE("types: a struct is not described because its base is", "[types]") {
  CHECK(DescribedStruct<Named>);
  CHECK(DescribedStruct<Measured>);
  CHECK(!DescribedStruct<Forgotten>);
  CHECK(!DescribedStruct<const char*>);
}

TEST_CASE("types: keys of nested and inherited members, and their order by member id", "[types]") {
  Site site;
  site.where.id = 0x0102;
  site.where.name = "not a key";
  site.where.value = 77;
  site.where.room = 9;
  site.corner = {3, 4};
  CHECK(to_hex(serialize_key(site).value()) == "01020900 00030000 00000000 00000004");
  const auto back = deserialize_key<Site>(serialize_key(site).value());
  REQUIRE(back);
  CHECK(back->where.room == 9);
  CHECK(back->corner == Point{3, 4});
  CHECK(to_hex(serialize_key(Swapped{1, 2}).value()) == "0201");
  CHECK(deserialize_key<Swapped>(from_hex("0201"))->late == 1);
}

TEST_CASE("types: unions, bitmasks and bases in descriptors and filters' fields", "[types]") {
  const auto& choice = type_support<Choice>();
  CHECK(choice.descriptor() ==
        "@final struct world::Point { int16 x; /* 0+2 */ int64 y; /* 8+8 */ }; /* 16 bytes */\n"
        "bitmask composed::Access { read = 1, write = 2, run = 4, }; /* 1 bytes */\n"
        "@final struct composed::Choice { union<void, int16, string, world::Point> what; composed::Access "
        "access; "
        "sequence<composed::Access> all; };\n");
  CHECK(choice.field("access")->kind == FieldKind::unsigned_integer);
  CHECK(choice.field("what").error().text() ==
        "what of composed::Choice is not a single value: it cannot be compared");
  CHECK(type_support<Located>().field("name").has_value());
  CHECK(type_support<Located>().descriptor() ==
        "@final struct composed::Located { @key int16 id; string name; int32 value; @key uint8 room; };\n");
}
