#pragma once

namespace llamada {

/// Between two looks of a loop that spins: what else runs on the core, and the store that is awaited, come
/// sooner.
inline void pause_processor() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

}  // namespace llamada
