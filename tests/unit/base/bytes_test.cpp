#include "llamada/base/bytes.hpp"

#include <algorithm>
#include <array>

#include "test.hpp"

using namespace llamada;

namespace {

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

}  // namespace

TEST_CASE("bytes: numbers are little endian, blocks and texts have their length in front", "[base]") {
  ByteWriter writer;
  writer.number(std::uint32_t{0x01020304});
  writer.number(std::int16_t{-2});
  writer.number(std::uint8_t{7});
  writer.text("ab");
  writer.block(bytes_of({9}));
  writer.bytes(bytes_of({8}));
  const auto expected = bytes_of({4, 3, 2, 1, 0xfe, 0xff, 7, 2, 0, 0, 0, 'a', 'b', 1, 0, 0, 0, 9, 8});
  CHECK(writer.written() == expected);
  CHECK(writer.take() == expected);
}

TEST_CASE("bytes: a reader gives what a writer was given", "[base]") {
  ByteWriter writer;
  writer.number(std::uint64_t{0xfedcba9876543210});
  writer.number(std::int32_t{-17});
  writer.number(std::uint8_t{1});
  writer.text("");
  writer.text("text");
  writer.bytes(bytes_of({1, 2, 3}));
  const auto bytes = writer.take();
  ByteReader reader(bytes);
  CHECK(reader.number<std::uint64_t>() == 0xfedcba9876543210);
  CHECK(reader.number<std::int32_t>() == -17);
  CHECK(reader.boolean());
  CHECK(reader.text().empty());
  CHECK(reader.text() == "text");
  CHECK(reader.left_bytes() == 3);
  CHECK(reader.ok());
  CHECK_FALSE(reader.is_complete());
  CHECK(std::ranges::equal(reader.rest(), bytes_of({1, 2, 3})));
  CHECK(reader.is_complete());
}

TEST_CASE("bytes: after a field that is not whole nothing more is read", "[base]") {
  const auto bytes = bytes_of({1, 2, 3, 4, 5});
  ByteReader reader(bytes);
  CHECK(reader.number<std::uint64_t>() == 0);
  CHECK_FALSE(reader.ok());
  CHECK(reader.number<std::uint8_t>() == 0);
  CHECK(reader.rest().empty());
  CHECK(reader.text().empty());
  CHECK_FALSE(reader.is_complete());
}

TEST_CASE("bytes: a block that is shorter than its length fails", "[base]") {
  for (const int length : {2, 0x7f}) {
    const auto bytes = bytes_of({length, 0, 0, length == 2 ? 0 : 0x7f, 'x'});
    ByteReader reader(bytes);
    CHECK(reader.block().empty());
    CHECK_FALSE(reader.ok());
  }
  const auto whole = bytes_of({1, 0, 0, 0, 'x'});
  ByteReader reader(whole);
  CHECK(reader.text() == "x");
  CHECK(reader.is_complete());
}

TEST_CASE("bytes: what is not legal fails, though it is there", "[base]") {
  const auto two = bytes_of({2, 1});
  ByteReader booleans(two);
  booleans.boolean();
  CHECK_FALSE(booleans.ok());
  CHECK_FALSE(booleans.boolean());
  ByteReader required(two);
  required.require(true);
  CHECK(required.number<std::uint8_t>() == 2);
  required.require(false);
  CHECK_FALSE(required.ok());
  CHECK(required.number<std::uint8_t>() == 0);
}

TEST_CASE("bytes: none at all are complete", "[base]") {
  ByteReader reader({});
  CHECK(reader.is_complete());
  CHECK(reader.rest().empty());
  CHECK(reader.is_complete());
}
