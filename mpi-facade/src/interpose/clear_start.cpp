#include "interpose/clear_start.hpp"

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

/// The dynamic linker saves these on the stack where __libc_start_main() first calls through it.
void clear_vector_registers() {
#ifdef __x86_64__
  asm volatile(
      ".irp register, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n\t"
      "pxor %%xmm\\register, %%xmm\\register\n\t"
      ".endr" ::
          : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
            "xmm12", "xmm13", "xmm14", "xmm15");
  if (__builtin_cpu_supports("avx")) asm volatile("vzeroupper");
  // No compiler's register where nothing is compiled for AVX-512; those of the C library's functions.
  if (__builtin_cpu_supports("avx512f"))
    asm volatile(
        ".irp register, 16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n\t"
        "vpxord %%zmm\\register, %%zmm\\register, %%zmm\\register\n\t"
        ".endr\n\t"
        ".irp register, 0,1,2,3,4,5,6,7\n\t"
        "kxorw %%k\\register, %%k\\register, %%k\\register\n\t"
        ".endr" ::);
#endif
}

}  // namespace

[[gnu::no_stack_protector]] void clear_what_is_left_for_main() {
  // Where it first looks for huge pages (GLIBC_TUNABLES=glibc.malloc.hugetlb=1) it leaves a guard word.
  void* volatile memory = std::malloc(1);
  std::free(memory);
  clear_stack();
  clear_vector_registers();
}

}  // namespace llamada::mpi::interpose
