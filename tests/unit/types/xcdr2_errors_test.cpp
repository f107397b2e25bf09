#include "sample_types.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::types;
using namespace world;

namespace {

template <typename T>
std::string error_of(std::string_view hex) {
  const auto value = deserialize_xcdr2<T>(from_hex(hex));
  return value ? "" : value.error().text();
}

template <typename T>
std::string error_of(const T& value) {
  const auto bytes = serialize_xcdr2(value);
  return bytes ? "" : bytes.error().text();
}

struct Newer {
  std::uint8_t a = 0;
  std::string b = "by default";
  std::int32_t c = 42;
  std::optional<std::int32_t> d;
};
LLAMADA_TYPE_APPENDABLE(Newer, LLAMADA_KEY(a), b, c, d);

struct Nested {
  Newer newer;
  std::int32_t behind = 0;
};
LLAMADA_TYPE(Nested, newer, behind);
struct NestedOld {
  Inner newer;
  std::int32_t behind = 0;
};
LLAMADA_TYPE(NestedOld, newer, behind);

struct OnlyKey {
  std::uint8_t byte = 0;
};
LLAMADA_TYPE_MUTABLE(OnlyKey, LLAMADA_KEY(byte));
struct NoKey {
  std::int64_t large = 3;
};
LLAMADA_TYPE_MUTABLE(NoKey, LLAMADA_ID(large, 16));

Tree deep(int levels) {
  Tree tree;
  for (int i = 0; i < levels; i++) {
    Tree parent;
    parent.children.push_back(std::move(tree));
    tree = std::move(parent);
  }
  return tree;
}

/// The bytes of deep(), whatever the limit: of each level a value, a DHEADER and a count.
std::vector<std::byte> bytes_of_deep(int levels) {
  constexpr std::uint32_t level_bytes = 12;
  auto bytes = from_hex("00070000");
  const auto put = [&](std::uint32_t number) {
    const auto raw = std::as_bytes(std::span(&number, 1));
    bytes.insert(bytes.end(), raw.begin(), raw.end());
  };
  for (int below = levels; below >= 0; --below) {
    put(0);
    put(4 + static_cast<std::uint32_t>(below) * level_bytes);
    put(below > 0 ? 1 : 0);
  }
  return bytes;
}

}  // namespace

TEST_CASE("xcdr2: an APPENDABLE sample that is shorter leaves the defaults, a longer one loses its end",
          "[types]") {
  const auto newer = deserialize_xcdr2<Newer>(serialize_xcdr2(Inner{1, "x"}).value());
  REQUIRE(newer);
  CHECK(newer->b == "x");
  CHECK(newer->c == 42);
  CHECK_FALSE(newer->d);
  const auto older = deserialize_xcdr2<Inner>(serialize_xcdr2(Newer{1, "x", 3, 4}).value());
  REQUIRE(older);
  CHECK(*older == Inner{1, "x"});

  const auto nested = deserialize_xcdr2<Nested>(serialize_xcdr2(NestedOld{{1, "x"}, 9}).value());
  REQUIRE(nested);
  CHECK(nested->newer.c == 42);
  CHECK(nested->behind == 9);
  const auto nested_old = deserialize_xcdr2<NestedOld>(serialize_xcdr2(Nested{{1, "x", 7, 8}, 9}).value());
  REQUIRE(nested_old);
  CHECK(nested_old->behind == 9);
}

TEST_CASE("xcdr2: MUTABLE members that are unknown are skipped, a missing key is refused", "[types]") {
  const auto loose = deserialize_xcdr2<Loose>(serialize_xcdr2(OnlyKey{9}).value());
  REQUIRE(loose);
  CHECK(*loose == Loose{9});
  const auto only =
      deserialize_xcdr2<OnlyKey>(serialize_xcdr2(Loose{9, 1, "abc", 1.0f, Colour::blue, {1, 2}}).value());
  REQUIRE(only);
  CHECK(only->byte == 9);
  CHECK(error_of<Loose>(to_hex(serialize_xcdr2(NoKey{}).value())) == "the key member byte is missing");
  CHECK(error_of<NoKey>(to_hex(serialize_xcdr2(Loose{}).value())) ==
        "member id 0 must be understood and is not known");
}

TEST_CASE("xcdr2: bounds hold both ways, with the member's path", "[types]") {
  CHECK(error_of(Reading{"123456789", 0, {}, {}}) == "text: 9 characters where at most 8 are allowed");
  CHECK(error_of(Reading{std::string("a\0b", 3), 0, {}, {}}) == "text: a string holds a NUL character");
  Outer outer;
  outer.all.resize(4);
  CHECK(error_of(outer) == "all: 4 elements where at most 3 are allowed");
  CHECK(error_of<Reading>("00070000 0a000000 31323334 35363738 39000000 00000000 00000000 00000000") ==
        "text: 9 characters where at most 8 are allowed");
  CHECK(error_of<Loose>(
            "000b0000 28000000 00000080 05000000 03000040 18000000 05000000 00000000 00000000 00000000 "
            "00000000 00000000") == "numbers: 5 elements where at most 4 are allowed");
}

TEST_CASE("xcdr2: what is cut short, too long or not its type is refused with a sentence", "[types]") {
  CHECK(error_of<Point>("0007") == "a sample of 2 bytes has no encapsulation header");
  CHECK(error_of<Point>("00010000 00000000 00000000 00000000") ==
        "representation 0x0001 where the type, which is final, has 0x0007");
  CHECK(error_of<Point>("00090000 00000000") ==
        "representation 0x0009 where the type, which is final, has 0x0007");
  CHECK(error_of<Point>("00070000 00000000 000000") == "y: ends 3 bytes into 1 of 8 bytes each");
  CHECK(error_of<Point>("00070000 00000000 00000000 00000000 00000000") == "4 bytes too many");
  CHECK(error_of<Point>("00070003 00") == "more padding than bytes");
  CHECK(error_of<Reading>("00070000 02000000 61620000 00000000") ==
        "text: a string does not end with its only NUL");
  CHECK(error_of<Reading>("00070000 ffffffff 61620000") ==
        "text: ends 4 bytes into 4294967295 of 1 bytes each");
  CHECK(error_of<Reading>("00070000 01000000 00000000 00000000 ffffff7f 00000000") ==
        "values: ends 4 bytes into 2147483647 of 8 bytes each");
  CHECK(error_of<Reading>("00070000 01000000 00000000 00000000 00000000 02000000") ==
        "quality: a boolean is neither 0 nor 1");
  CHECK(error_of<Inner>("00090000 ffffffff 00000000") == "ends 4 bytes into 4294967295 of 1 bytes each");
  CHECK(error_of<Inner>("00090000 00000000") == "ends before the key member a");
  CHECK(error_of<Loose>("000b0000 10000000 00000080 05000000 13000020 03000000") ==
        "colour: 3 is no enumerator");
  CHECK(error_of<Loose>("000b0000 08000000 11000070 ffffffff") ==
        "member id 17 has 34359738364 bytes where 4 are left");
  CHECK(error_of<Outer>(
            "00090000 24000000 01020000 06000000 07000000 0000 0000 10000000 02000000 09000000 08000000 "
            "01000000") == "inner: b: ends 2 bytes into 1 of 4 bytes each");
}

TEST_CASE("xcdr2: a tree is followed to a limit", "[types]") {
  const auto shallow = deserialize_xcdr2<Tree>(serialize_xcdr2(deep(63)).value());
  REQUIRE(shallow);
  CHECK(*shallow == deep(63));
  const auto error = deserialize_xcdr2<Tree>(bytes_of_deep(100));
  REQUIRE_FALSE(error);
  CHECK(error.error().text().find("more than 64 levels within one another") != std::string::npos);
  CHECK(deserialize_xcdr2<Tree>(bytes_of_deep(63)).value() == deep(63));
}

/// Of every kind of nesting: with a length, and a primitive member of a MUTABLE struct.
struct LooseTree {
  std::int32_t value = 0;
  std::vector<LooseTree> children;
  bool operator==(const LooseTree&) const = default;
};
LLAMADA_TYPE_MUTABLE(LooseTree, value, children);

TEST_CASE("xcdr2: what no reader would follow is not written", "[types]") {
  const auto refused = serialize_xcdr2(deep(64));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == Errc::invalid_argument);
  CHECK(refused.error().text().ends_with("more than 64 levels within one another, which no reader follows"));
  CHECK(refused.error().text().starts_with("...: children: "));
  CHECK(refused.error().text().size() < 250);
  CHECK_FALSE(serialize_xcdr2(deep(1000)));
  LooseTree tree;
  int written = 0;
  while (const auto bytes = serialize_xcdr2(tree)) {
    const auto read = deserialize_xcdr2<LooseTree>(*bytes);
    REQUIRE(read);
    CHECK(*read == tree);
    ++written;
    LooseTree parent;
    parent.children.push_back(std::move(tree));
    tree = std::move(parent);
  }
  CHECK(written > 10);
}

TEST_CASE("xcdr2: every prefix of a sample is refused or is a value", "[types]") {
  Outer outer{1,     {2, "abc"}, {{1, "x"}, {2, "y"}}, {{1, "one"}, {2, "two"}}, {Colour::red, Colour::blue},
              {true}};
  const auto whole = serialize_xcdr2(outer).value();
  for (std::size_t size = 0; size < whole.size() - 1; size++) {
    const auto value = deserialize_xcdr2<Outer>(std::span(whole).first(size));
    CHECK_FALSE(value);
  }
}
