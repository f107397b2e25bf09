#include <algorithm>
#include <cstdint>

#include "llamada/base/first_look.hpp"
#include "llamada/base/random.hpp"
#include "test.hpp"

using namespace llamada;

namespace {

constexpr std::uint32_t look_cycles = 16;

/// An answer that is there after so many cycles: how long it was waited for.
std::uint32_t find(FirstLook& first_look, std::uint32_t cycles) {
  const std::uint32_t delay = first_look.delay_cycles();
  const unsigned looks = delay >= cycles ? 0 : (cycles - delay + look_cycles - 1) / look_cycles;
  first_look.found_after(looks);
  return delay + looks * look_cycles;
}

}  // namespace

TEST_CASE("first look: comes when answers come, and little later", "[base]") {
  Random random(7);
  FirstLook first_look;
  REQUIRE(first_look.delay_cycles() == 0);
  for (const std::uint32_t cycles : {100U, 900U, 1500U, 60U}) {
    CAPTURE(cycles);
    for (int i = 0; i < 200; ++i) find(first_look, cycles + static_cast<std::uint32_t>(random.next() % 10));
    std::uint64_t waited = 0, in_vain = 0;
    for (int i = 0; i < 1000; ++i) {
      in_vain += first_look.delay_cycles() < cycles;
      waited += find(first_look, cycles + static_cast<std::uint32_t>(random.next() % 10));
    }
    REQUIRE(in_vain < 300);
    REQUIRE(waited / 1000 < cycles + std::max(30U, cycles / 10));
  }
}

TEST_CASE("first look: what is there at once is looked for at once", "[base]") {
  FirstLook first_look;
  for (int i = 0; i < 200; ++i) find(first_look, 1500);
  REQUIRE(first_look.delay_cycles() > 1000);
  std::uint64_t waited = 0;
  for (int i = 0; i < 1000; ++i) waited += find(first_look, 0);
  REQUIRE(first_look.delay_cycles() < 8);
  REQUIRE(waited < 100 * FirstLook::delay_cycles_max);
}

TEST_CASE("first look: what takes long does not delay answers, and no delay is long", "[base]") {
  FirstLook first_look;
  for (int i = 0; i < 1000; ++i) find(first_look, 100'000);
  REQUIRE(first_look.delay_cycles() == 0);
  for (int i = 0; i < 10'000; ++i) first_look.found_after(1);
  REQUIRE(first_look.delay_cycles() == FirstLook::delay_cycles_max);
  first_look.wait();
}
