#pragma once

#include <cstdint>

namespace llamada {

/// Between two looks of a loop that spins: what else runs on the core, and the store that is awaited, come
/// sooner.
inline void pause_processor() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

/// Lets about so many cycles go by before anything that follows begins.
inline void pass_cycles(std::uint32_t count) {
  if (count == 0) return;
  do {
    __asm__ volatile("" : "+r"(count));
  } while (--count != 0);
#if defined(__x86_64__)
  __asm__ volatile("lfence" ::: "memory");
#endif
}

}  // namespace llamada
