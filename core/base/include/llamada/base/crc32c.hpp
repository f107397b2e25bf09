#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace llamada {

/// The CRC-32C (Castagnoli) of bytes, continuing from the CRC of what came before them (0 at the start).
/// Uses SSE4.2 where the processor has it.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t previous = 0);

}  // namespace llamada
