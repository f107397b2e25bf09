#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <span>

namespace llamada::links {

/// Bytes as a call of the kernel takes them that only reads them.
inline iovec piece_of(std::span<const std::byte> bytes) {
  return {const_cast<std::byte*>(bytes.data()), bytes.size()};
}

}  // namespace llamada::links
