#include "interpose/clear_start.hpp"

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

#include <sys/auxv.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "llamada/base/page.hpp"
#include "llamada/base/rounding.hpp"

namespace llamada::mpi::interpose {
namespace {

/// More than any call before main() uses.
constexpr std::size_t stack_bytes = 64 << 10;
/// Room that stays untouched below the cleared part: the calls made here use it, and so does the dynamic
/// linker, which saves all vector registers when it resolves a function.
constexpr std::size_t stack_bytes_left = 24 << 10;

/// The first byte above the main thread's stack. The kernel puts the name of the executed file there, and
/// eight zero bytes behind it.
std::uintptr_t end_of_stack() {
  const auto name = getauxval(AT_EXECFN);
  if (name == 0) return 0;
  const std::uintptr_t end = name + std::strlen(reinterpret_cast<const char*>(name)) + 1 + sizeof(void*);
  return rounded_up(end, page_bytes);
}

/// How much of the stack below `here` may be cleared: less than stack_bytes under a small `ulimit -s`.
std::size_t bytes_to_clear(const void* here) {
  rlimit limit{};
  const std::uintptr_t end = end_of_stack();
  const auto at = reinterpret_cast<std::uintptr_t>(here);
  if (end < at || getrlimit(RLIMIT_STACK, &limit) != 0) return 0;
  if (limit.rlim_cur == RLIM_INFINITY) return stack_bytes;
  const std::size_t used = end - at + stack_bytes_left;
  return used < limit.rlim_cur ? std::min<std::size_t>(stack_bytes, limit.rlim_cur - used) : 0;
}

/// Clears the stack below the caller's frame.
[[gnu::noinline, gnu::no_stack_protector]] void clear_stack() {
  const std::size_t size = bytes_to_clear(__builtin_frame_address(0));
  if (size == 0) return;
  void* bytes = __builtin_alloca(size);
  std::memset(bytes, 0, size);
  asm volatile("" : : "r"(bytes) : "memory");
}

#ifdef __x86_64__
/// XSAVE's parts that hold vector registers: SSE, AVX, AVX-512's opmask and halves.
constexpr unsigned long long vector_parts = 1U << 1 | 1U << 2 | 7U << 5;
constexpr unsigned long long first_extended_part = 2;
constexpr unsigned long long last_vector_part = 7;
constexpr std::size_t legacy_and_header_bytes = 512 + 64;
constexpr std::size_t mxcsr_offset = 24;
constexpr std::size_t state_alignment = 64;

/// The size of an XSAVE area in the standard format that has room for these parts: CPUID leaf 0xD gives the
/// size and the offset of each. They differ between processors, and XRSTOR may read all of a part, even if it
/// only initialises it. Other parts (AMX's tiles have 8 KiB) are neither asked for nor read.
std::size_t state_bytes(unsigned long long parts) {
  std::size_t bytes = legacy_and_header_bytes;
  for (unsigned part = first_extended_part; part <= last_vector_part; part++) {
    unsigned size, offset, c, d;
    if ((parts >> part & 1) && __get_cpuid_count(0xD, part, &size, &offset, &c, &d))
      bytes = std::max<std::size_t>(bytes, std::size_t{offset} + size);
  }
  return bytes;
}

/// Puts all vector registers into their initial configuration: the area's header says that it has no part (in
/// the standard format, which a zero XCOMP_BV means on each processor that has XSAVE).
///
/// AddressSanitizer would use them again on the way out, to mark the area as free.
[[gnu::noinline, gnu::target("xsave"), gnu::no_stack_protector, gnu::no_sanitize_address]] void
initialise_vector_registers() {
  const unsigned long long parts = _xgetbv(0) & vector_parts;
  const std::size_t bytes = state_bytes(parts);
  auto at = reinterpret_cast<std::uintptr_t>(__builtin_alloca(bytes + state_alignment));
  auto* area = reinterpret_cast<std::byte*>(rounded_up(at, state_alignment));
  std::memset(area, 0, bytes);
  const unsigned control = _mm_getcsr();  // XRSTOR loads it, whichever parts there are
  std::memcpy(area + mxcsr_offset, &control, sizeof control);
  _xrstor64(area, parts);
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
