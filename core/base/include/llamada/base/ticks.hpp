#pragma once

#include <cstdint>

namespace llamada {

/// The processor's own counter, to compare how long things take: a clock of libc could be one that is
/// recorded for a replay. Always 0 where there is none.
inline std::uint64_t processor_ticks() {
#if defined(__x86_64__) || defined(__i386__)
  return __builtin_ia32_rdtsc();
#else
  return 0;
#endif
}

}  // namespace llamada
