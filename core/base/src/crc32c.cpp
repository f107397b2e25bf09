#include "llamada/base/crc32c.hpp"

#include <array>
#include <cstring>
#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace llamada {
namespace {

constexpr std::uint32_t reflected_polynomial = 0x82f63b78;

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? reflected_polynomial : 0);
    table[byte] = value;
  }
  return table;
}

std::uint32_t by_table(std::span<const std::byte> bytes, std::uint32_t crc) {
  static constexpr auto table = make_table();
  for (std::byte byte : bytes) crc = (crc >> 8) ^ table[(crc ^ static_cast<std::uint32_t>(byte)) & 0xff];
  return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t by_instruction(std::span<const std::byte> bytes,
                                                               std::uint32_t crc) {
  std::uint64_t wide = crc;
  while (bytes.size() >= 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data(), 8);
    wide = _mm_crc32_u64(wide, word);
    bytes = bytes.subspan(8);
  }
  crc = static_cast<std::uint32_t>(wide);
  for (std::byte byte : bytes) crc = _mm_crc32_u8(crc, static_cast<unsigned char>(byte));
  return crc;
}
#endif

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t previous) {
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  if (has_instruction) return ~by_instruction(bytes, ~previous);
#endif
  return ~by_table(bytes, ~previous);
}

}  // namespace llamada
