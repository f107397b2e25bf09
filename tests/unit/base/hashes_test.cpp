#include <algorithm>
#include <array>
#include <vector>

#include "llamada/base/crc32c.hpp"
#include "llamada/base/random.hpp"
#include "llamada/base/siphash.hpp"
#include "test.hpp"

using namespace llamada;

namespace {

std::vector<std::byte> random_bytes(std::size_t size, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next());
  return bytes;
}

// The vectors of the algorithm's authors: the key is 00 01 … 0f, the message of n bytes 00 01 … n - 1.
constexpr SipHashKey vector_key{0x0706050403020100, 0x0f0e0d0c0b0a0908};
constexpr std::array<std::uint64_t, 17> vectors{
    0x726fdb47dd0e0e31, 0x74f839c593dc67fd, 0x0d6c8009d9a94f5a, 0x85676696d7fb7e2d, 0xcf2794e0277187b7,
    0x18765564cd99a68d, 0xcbc9466e58fee3ce, 0xab0200f58b01d137, 0x93f5f5799a932462, 0x9e0082df0ba9e4b0,
    0x7a5dbbc594ddb9f3, 0xf4b32f46226bada7, 0x751e8fbc860ee5fb, 0x14ea5627c0843d90, 0xf723ca908e7af2ee,
    0xa129ca6149be45e5, 0x3f2acc7f57c29bdb};

std::uint64_t hash_of_first(std::size_t count) {
  std::vector<std::byte> message(count);
  for (std::size_t i = 0; i < count; ++i) message[i] = static_cast<std::byte>(i);
  return siphash_2_4(message, vector_key);
}

}  // namespace

TEST_CASE("siphash: gives its authors' vectors for 0 to 16, 31 and 63 bytes", "[base]") {
  for (std::size_t count = 0; count < vectors.size(); ++count) {
    INFO(count << " bytes");
    CHECK(hash_of_first(count) == vectors[count]);
  }
  CHECK(hash_of_first(31) == 0x32d892fad841c342);
  CHECK(hash_of_first(63) == 0x958a324ceb064572);
}

TEST_CASE("siphash: each bit of the key and of the message counts", "[base]") {
  const auto message = random_bytes(56, 3);
  const std::uint64_t right = siphash_2_4(message, vector_key);
  for (int bit = 0; bit < 64; ++bit) {
    CHECK(siphash_2_4(message, {vector_key.low ^ (std::uint64_t{1} << bit), vector_key.high}) != right);
    CHECK(siphash_2_4(message, {vector_key.low, vector_key.high ^ (std::uint64_t{1} << bit)}) != right);
  }
  for (std::size_t i = 0; i < message.size(); ++i) {
    auto other = message;
    other[i] ^= std::byte{0x10};
    CHECK(siphash_2_4(other, vector_key) != right);
  }
}

TEST_CASE("crc32c: the vectors of RFC 3720, B.4", "[base]") {
  std::vector<std::byte> bytes(32, std::byte{0});
  CHECK(crc32c(bytes) == 0x8a9136aa);
  std::ranges::fill(bytes, std::byte{0xff});
  CHECK(crc32c(bytes) == 0x62a8ab43);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
  CHECK(crc32c(bytes) == 0x46dd794e);
  std::ranges::reverse(bytes);
  CHECK(crc32c(bytes) == 0x113fdb5c);
}

TEST_CASE("crc32c: three stretches at once give what the table gives, for every length and start", "[base]") {
  const auto bytes = random_bytes(20000, 11);
  const auto check = [&](std::size_t begin, std::size_t size, std::uint32_t previous) {
    INFO(size << " bytes from " << begin);
    const auto part = std::span(bytes).subspan(begin, size);
    CHECK(crc32c(part, previous) == crc32c_by_table(part, previous));
  };
  for (std::size_t size = 0; size < 1000; ++size)
    check(size % 9, size, static_cast<std::uint32_t>(size * 77));
  Random random(12);
  for (int i = 0; i < 300; ++i) {
    const std::size_t size = random.below(bytes.size());
    check(random.below(bytes.size() - size + 1), size, static_cast<std::uint32_t>(random.next()));
  }
  for (const std::size_t edge : {384, 6144, 12288}) {
    check(1, edge - 1, 5);
    check(1, edge, 5);
    check(1, edge + 1, 5);
  }
}
