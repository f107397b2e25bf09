// Bytes written down by hand from DDS-XTypes 1.3, 7.4.3.

#include "sample_types.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::types;
using namespace world;

namespace {

template <typename T>
std::string hex_of(const T& value, std::endian order = std::endian::little) {
  const auto bytes = serialize_xcdr2(value, order);
  return bytes ? to_hex(*bytes) : bytes.error().text();
}

template <typename T>
void require_both_ways(const T& value, const std::string& hex, std::endian order = std::endian::little) {
  CHECK(hex_of(value, order) == hex);
  const auto back = deserialize_xcdr2<T>(from_hex(hex));
  INFO((back ? "" : back.error().text()));
  REQUIRE(back);
  CHECK(*back == value);
}

}  // namespace

TEST_CASE("xcdr2: int64 is aligned to 4", "[types]") {
  require_both_ways(Point{0x0102, 0x1112131415161718}, "00070000 02010000 18171615 14131211");
  require_both_ways(Point{0x0102, 0x1112131415161718}, "00060000 01020000 11121314 15161718",
                    std::endian::big);
}

TEST_CASE("xcdr2: strings, sequences of primitives and optional members of a FINAL struct", "[types]") {
  Reading reading{"ab", 7, {1.0, 2.0}, 5};
  require_both_ways(reading,
                    "00070000 "           // CDR2_LE, no padding at the end
                    "03000000 61620000 "  // length with the NUL, "ab", NUL, padding
                    "07000000 "           // sensor
                    "02000000 00000000 0000f03f 00000000 00000040 "
                    "01000500");
}

TEST_CASE("xcdr2: an absent optional member is one byte, and the padding is counted", "[types]") {
  require_both_ways(Reading{"", 1, {}, std::nullopt},
                    "00070003 01000000 00000000 01000000 00000000 00000000");
}

TEST_CASE("xcdr2: APPENDABLE structs, sequences of structs, maps and arrays of enums have a DHEADER",
          "[types]") {
  const Outer outer{
      0x0201, {7, "x"}, {{8, ""}, {9, "yz"}}, {{3, "q"}}, {Colour::green, Colour::blue}, {true, false, true}};
  require_both_ways(outer,
                    "00090001 "
                    "63000000 "                             // DHEADER of Outer
                    "01020000 "                             // number, padding to the next DHEADER
                    "0a000000 07000000 02000000 7800"       // inner: DHEADER 10, a, padding, "x"
                    "0000 "                                 // padding
                    "23000000 02000000 "                    // all: DHEADER, 2 elements
                    "09000000 08000000 01000000 00000000 "  // {8, ""}: 9 bytes, then padding
                    "0b000000 09000000 03000000 797a00"     // {9, "yz"}
                    "00 "
                    "0e000000 01000000 03000000 02000000 7100"  // names: DHEADER, 1 pair, key, padding, "q"
                    "0000 "
                    "08000000 02000000 04000000 "  // colours: DHEADER, two int32
                    "03000000 01000100");          // flags: primitives, no DHEADER; padding
}

TEST_CASE("xcdr2: MUTABLE structs have an EMHEADER for each member, and none for one that is absent",
          "[types]") {
  const Loose loose{5, -2, "a", std::nullopt, Colour::blue, {9}};
  require_both_ways(loose,
                    "000b0000 "
                    "3c000000 "                              // DHEADER
                    "00000080 05000000 "                     // must understand, 1 byte, id 0
                    "10000030 feffffff ffffffff "            // 8 bytes, id 16
                    "11000040 06000000 02000000 61000000 "   // length 6, id 17
                    "13000020 04000000 "                     // 4 bytes, id 19: the enum
                    "03000040 08000000 01000000 09000000");  // length 8, id 3
}

TEST_CASE(
    "xcdr2: a MUTABLE struct is read from members in another order, of unknown ids and with shared lengths",
    "[types]") {
  const auto loose = deserialize_xcdr2<Loose>(
      from_hex("000b0000 34000000 "
               "63000040 03000000 aabbcc00 "  // id 99 is unknown and may be skipped
               "11000050 02000000 61000000 "  // length code 5: the string's own length is the member's
               "03000060 01000000 09000000 "  // length code 6: the count of 4-byte elements
               "00000080 05000000 "           // byte
               "13000020"
               "02000000"));
  INFO((loose ? "" : loose.error().text()));
  REQUIRE(loose);
  CHECK(*loose == Loose{5, 0, "a", std::nullopt, Colour::green, {9}});
}

TEST_CASE("xcdr2: a plain type, were it serialised", "[types]") {
  Plain plain{1, 2, 1.0, {{3, 4}, {5, 6}}, {{{1, 0}, {0, 0}, {0, 2}}}, Colour::green, true, 'z'};
  CHECK(
      hex_of(plain) ==
      "00070002 01000000 02000000 00000000 0000f03f "
      "18000000 03000000 04000000 00000000 05000000 06000000 00000000 "  // an array of structs has a DHEADER
      "0000803f 00000000 00000000 00000000 00000000 00000040 "           // two dimensions are one array
      "02000000 017a0000");
}

TEST_CASE("xcdr2: a key is big-endian, has only the key members, and nested types without headers",
          "[types]") {
  const Keyed keyed{0x0102, 1.5, {7, "not a key"}, "hi"};
  const auto key = serialize_key(keyed);
  REQUIRE(key);
  CHECK(to_hex(*key) == "01020700 00000003 686900");
  const auto back = deserialize_key<Keyed>(*key);
  REQUIRE(back);
  CHECK(back->first == keyed.first);
  CHECK(back->inner == Inner{7, ""});
  CHECK(back->second == "hi");
  CHECK(back->data == 0);
}
