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

/// The product of two polynomials modulo that of the CRC; the highest bit is the coefficient of 1.
constexpr std::uint32_t multiply(std::uint32_t one, std::uint32_t other) {
  std::uint32_t product = 0;
  for (std::uint32_t bit = 1U << 31; bit != 0; bit >>= 1) {
    if ((one & bit) != 0) product ^= other;
    other = (other >> 1) ^ ((other & 1) != 0 ? reflected_polynomial : 0);
  }
  return product;
}

using ShiftTables = std::array<std::array<std::uint32_t, 256>, 4>;

/// For each byte of a CRC its product with x^(8 * bytes).
constexpr ShiftTables make_shift_tables(std::size_t bytes) {
  std::uint32_t factor = 1U << 31;  // 1
  std::uint32_t square = 1U << 30;  // x
  for (std::size_t exponent = 8 * bytes; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) factor = multiply(factor, square);
    square = multiply(square, square);
  }
  ShiftTables made{};
  for (std::uint32_t place = 0; place < 4; ++place)
    for (std::uint32_t byte = 0; byte < 256; ++byte)
      made[place][byte] = multiply(byte << (8 * place), factor);
  return made;
}

/// Moves a CRC over so many bytes of zeros.
template <std::size_t bytes>
std::uint32_t shift(std::uint32_t crc) {
  static constexpr ShiftTables tables = make_shift_tables(bytes);
  return tables[0][crc & 0xff] ^ tables[1][crc >> 8 & 0xff] ^ tables[2][crc >> 16 & 0xff] ^
         tables[3][crc >> 24];
}

std::uint64_t word_at(const std::byte* at) {
  std::uint64_t word;
  std::memcpy(&word, at, 8);
  return word;
}

/// The instruction gives its result three cycles later, and one can begin in each cycle: so three stretches
/// of so many bytes are taken at once, and their CRCs put together.
template <std::size_t stretch>
__attribute__((target("sse4.2"))) std::uint32_t three_at_once(std::span<const std::byte>& bytes,
                                                              std::uint32_t crc) {
  for (; bytes.size() >= 3 * stretch; bytes = bytes.subspan(3 * stretch)) {
    const std::byte* const begin = bytes.data();
    std::uint64_t first = crc, second = 0, third = 0;
    for (std::size_t at = 0; at < stretch; at += 8) {
      first = _mm_crc32_u64(first, word_at(begin + at));
      second = _mm_crc32_u64(second, word_at(begin + stretch + at));
      third = _mm_crc32_u64(third, word_at(begin + 2 * stretch + at));
    }
    const std::uint32_t two =
        shift<stretch>(static_cast<std::uint32_t>(first)) ^ static_cast<std::uint32_t>(second);
    crc = shift<stretch>(two) ^ static_cast<std::uint32_t>(third);
  }
  return crc;
}

__attribute__((target("sse4.2"))) std::uint32_t by_instruction(std::span<const std::byte> bytes,
                                                               std::uint32_t crc) {
  constexpr std::size_t long_stretch = 2048, short_stretch = 128;
  crc = three_at_once<long_stretch>(bytes, crc);
  crc = three_at_once<short_stretch>(bytes, crc);
  std::uint64_t wide = crc;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) wide = _mm_crc32_u64(wide, word_at(bytes.data()));
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
  return crc32c_by_table(bytes, previous);
}

std::uint32_t crc32c_by_table(std::span<const std::byte> bytes, std::uint32_t previous) {
  return ~by_table(bytes, ~previous);
}

}  // namespace llamada
