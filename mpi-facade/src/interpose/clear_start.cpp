#include "interpose/clear_start.hpp"

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#include <signal.h>
#endif

#include <cstdlib>
#include <cstring>

namespace llamada::mpi::interpose {
namespace {

/// More than anything uses that is called before main().
constexpr std::size_t stack_bytes = 64 << 10;

/// The stack beneath the caller's frame.
[[gnu::noinline, gnu::no_stack_protector]] void clear_stack() {
  char bytes[stack_bytes];
  std::memset(bytes, 0, sizeof bytes);
  asm volatile("" : : "r"(bytes) : "memory");
}

#ifdef __x86_64__
/// XSAVE's parts that hold vector registers: SSE, AVX, AVX-512's opmask and halves.
constexpr unsigned long long vector_parts = 1U << 1 | 1U << 2 | 7U << 5;

/// Puts all vector registers into their initial configuration.
[[gnu::target("xsave"), gnu::no_stack_protector]] void initialise_vector_registers() {
  alignas(64) _xstate without_parts{};
  without_parts.fpstate.mxcsr = _mm_getcsr();  // loaded whatever parts there are
  _xrstor64(&without_parts, _xgetbv(0) & vector_parts);
}

bool has_xsave() {
  unsigned a, b, c = 0, d;
  return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_OSXSAVE);
}
#endif

/// The dynamic linker saves these on the stack where __libc_start_main() first calls through it, and which of
/// them are in use. Of those that are zero the processor does not always say the same: whether they are in
/// use may depend on whether the process has lost its core meanwhile. So none of what SSE knows is zero, and
/// the rest is in its initial configuration, where it stays.
void set_vector_registers() {
#ifdef __x86_64__
  if (has_xsave()) initialise_vector_registers();
  asm volatile(
      ".irp register, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n\t"
      "pcmpeqd %%xmm\\register, %%xmm\\register\n\t"
      ".endr" ::
          : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
            "xmm12", "xmm13", "xmm14", "xmm15");
#endif
}

}  // namespace

[[gnu::no_stack_protector]] void clear_what_is_left_for_main() {
  // Where it first looks for huge pages (GLIBC_TUNABLES=glibc.malloc.hugetlb=1) it leaves a guard word.
  void* volatile memory = std::malloc(1);
  std::free(memory);
  clear_stack();
  set_vector_registers();
}

}  // namespace llamada::mpi::interpose
