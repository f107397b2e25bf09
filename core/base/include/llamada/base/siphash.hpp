#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace llamada {

/// A secret of 16 bytes: its first 8 bytes, little-endian, are `low`.
struct SipHashKey {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

/// SipHash-2-4 with 64 bits of output (Aumasson and Bernstein, 2012): a keyed hash that nobody can compute or
/// steer without the key. It authenticates short data, such as the head of a frame; at about 2 GB/s it is too
/// slow for bulk.
std::uint64_t siphash_2_4(std::span<const std::byte> bytes, const SipHashKey& key);

}  // namespace llamada
