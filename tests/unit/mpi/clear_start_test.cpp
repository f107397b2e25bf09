/// What a rank that may be replaced begins with: the dynamic linker writes onto main()'s stack which vector
/// registers are in use.

#include "interpose/clear_start.hpp"

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

#include <chrono>
#include <thread>
#include "test.hpp"

namespace llamada::mpi::interpose {
namespace {

#ifdef __x86_64__

constexpr unsigned long long sse = 1U << 1;
/// The dynamic linker saves no other parts: not x87, of which the kernel may say either after a switch.
constexpr unsigned long long saved_parts = 0xEE;

bool can_tell_what_is_in_use() {
  unsigned a = 0, b, c, d;
  constexpr unsigned xgetbv_of_1 = 1U << 2;
  return __get_cpuid_count(0xD, 1, &a, &b, &c, &d) && (a & xgetbv_of_1);
}

[[gnu::target("xsave")]] unsigned long long parts_in_use() { return _xgetbv(1) & saved_parts; }

TEST_CASE("The vector registers in use are the same whether or not the core was lost meanwhile") {
  if (!can_tell_what_is_in_use()) {
    llamada::say_skipped("vector registers in use: this processor does not tell which are");
    return;
  }
  for (int i = 0; i < 200; i++) {
    clear_what_is_left_for_main();
    const unsigned long long at_once = parts_in_use();
    clear_what_is_left_for_main();
    std::this_thread::sleep_for(std::chrono::microseconds(1));
    const unsigned long long later = parts_in_use();
    REQUIRE((at_once & sse) != 0);
    REQUIRE(later == at_once);
  }
}

#endif

}  // namespace
}  // namespace llamada::mpi::interpose
