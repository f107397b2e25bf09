#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace llamada::tools {

/// Lines "  00000010  68 65 6c 6c 6f ...  |hello...|" of 16 bytes each, for at most `bytes_max` bytes.
std::string hex_dump(std::span<const std::byte> bytes, std::size_t bytes_max);

/// "68656c6c6f".
std::string hex_digits(std::span<const std::byte> bytes);

}  // namespace llamada::tools
