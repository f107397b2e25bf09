#include <algorithm>
#include <array>
#include <cmath>
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

/// Two that send to and fro, in a time of their own, in which a line takes so many cycles from core to core,
/// and what is done with a message takes as many in the mean, at times much more. Cycles for each message.
std::uint64_t exchange(bool do_wait) {
  constexpr int messages = 20'000;
  constexpr std::uint64_t line_cycles = 130, own_cycles = 60;
  constexpr double other_cycles = 60;
  Random random(11);
  std::array<FirstLook, 2> first_looks;
  std::array<std::uint64_t, 2> sent_at{};
  for (int i = 0; i < messages; ++i) {
    const int me = i % 2;
    const double drawn = static_cast<double>(random.next() % 1'000'000 + 1) / 1e6;
    const std::uint64_t there_at =
        sent_at[1 - me] + line_cycles + static_cast<std::uint64_t>(-other_cycles * std::log(drawn));
    const std::uint64_t look_at = sent_at[me] + (do_wait ? first_looks[me].delay_cycles() : 0);
    const bool is_early = look_at < there_at;
    // Who has looked in vain has the line, which has to be taken from it.
    const std::uint64_t found_at = is_early ? there_at + line_cycles : look_at;
    const std::uint64_t looks = is_early ? (there_at - look_at + look_cycles - 1) / look_cycles : 0;
    first_looks[me].found_after(static_cast<unsigned>(looks));
    sent_at[me] = found_at + own_cycles;
  }
  return std::max(sent_at[0], sent_at[1]) / messages;
}

}  // namespace

TEST_CASE("first look: two that wait for each other's answers do not drive each other's waiting up",
          "[base]") {
  REQUIRE(exchange(true) < exchange(false) * 19 / 20);
}

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
