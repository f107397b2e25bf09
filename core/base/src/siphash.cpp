#include "llamada/base/siphash.hpp"

#include <bit>
#include <cstring>

namespace llamada {
namespace {

static_assert(std::endian::native == std::endian::little, "words are loaded as they lie");

struct State {
  std::uint64_t v0, v1, v2, v3;

  void round() {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }
  void absorb(std::uint64_t word) {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  }
};

}  // namespace

std::uint64_t siphash_2_4(std::span<const std::byte> bytes, const SipHashKey& key) {
  State state{key.low ^ 0x736f6d6570736575, key.high ^ 0x646f72616e646f6d, key.low ^ 0x6c7967656e657261,
              key.high ^ 0x7465646279746573};
  std::uint64_t last = static_cast<std::uint64_t>(bytes.size()) << 56;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data(), 8);
    state.absorb(word);
  }
  for (std::size_t i = 0; i < bytes.size(); ++i) last |= static_cast<std::uint64_t>(bytes[i]) << (8 * i);
  state.absorb(last);
  state.v2 ^= 0xff;
  for (int i = 0; i < 4; ++i) state.round();
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

}  // namespace llamada
