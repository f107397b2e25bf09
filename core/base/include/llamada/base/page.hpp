#pragma once

#include <cstddef>

namespace llamada {

/// The size of a page of memory on the processors that Llamada runs on (x86-64). Formats in shared memory are
/// laid out by it.
inline constexpr std::size_t page_bytes = 4096;

}  // namespace llamada
