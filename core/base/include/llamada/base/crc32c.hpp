#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace llamada {

/// The CRC-32C (Castagnoli) of bytes, continuing from the CRC of what came before them (0 at the start).
/// Uses SSE4.2 where the processor has it, three stretches of the bytes at once.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t previous = 0);
/// crc32c() without that instruction, for processors that lack it and for tests.
std::uint32_t crc32c_by_table(std::span<const std::byte> bytes, std::uint32_t previous = 0);

}  // namespace llamada
