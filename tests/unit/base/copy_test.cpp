#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "llamada/base/copy.hpp"
#include "llamada/base/faster_way.hpp"
#include "llamada/base/random.hpp"
#include "test.hpp"

using namespace llamada;

namespace {

constexpr std::size_t margin = 64;

using Copy = void (*)(void*, const void*, std::size_t);

/// Copies between these places of two buffers; whether exactly the bytes meant were written.
bool copies(Copy copy, std::size_t size, std::size_t to_offset, std::size_t from_offset) {
  std::vector<std::uint8_t> from(size + 2 * margin), to(size + 2 * margin, 0xee), expected = to;
  Random random(size);
  for (auto& byte : from) byte = static_cast<std::uint8_t>(random.next());
  for (std::size_t i = 0; i < size; ++i) expected[to_offset + i] = from[from_offset + i];
  copy(to.data() + to_offset, from.data() + from_offset, size);
  return to == expected;
}

}  // namespace

TEST_CASE("copy: all bytes and no others, at every alignment and around every border", "[base]") {
  for (const auto& variant : detail::copy_variants())
    for (std::size_t size : {2048, 2049, 2063, 2079, 2080, 2175, 2176, 2177, 4096, 65536 + 5})
      for (std::size_t to : {0, 1, 8, 15, 16, 31, 32, 63})
        for (std::size_t from : {0, 1, 8, 17, 31, 32, 48, 64}) {
          CAPTURE(variant.name, size, to, from);
          REQUIRE(copies(variant.copy, size, to, from));
        }
}

TEST_CASE("copy: nothing may come from nowhere, and little goes by libc", "[base]") {
  copy_bytes(nullptr, nullptr, 0);
  for (std::size_t size : {1, 7, 64, 1000, 2047, 2048, 5000}) CHECK(copies(&copy_bytes, size, 3, 5));
}

TEST_CASE("copy: what comes from another core or goes to one is the same bytes", "[base]") {
  for (std::size_t size :
       {0, 1, 1023, 1024, 1500, 2047, 2048, 2049, 2111, 2560, 4095, 4096, 4097, 8192, 16383, 16384, 16385})
    for (std::size_t to : {0, 1, 31, 63})
      for (std::size_t from : {0, 8, 33}) {
        CAPTURE(size, to, from);
        REQUIRE(copies(&copy_bytes_in, size, to, from));
        // More than once, for the way may change.
        for (int again = 0; again < 3; ++again) REQUIRE(copies(&copy_bytes_out, size, to, from));
      }
}

TEST_CASE("copy: pieces of much and of little are the same bytes", "[base]") {
  const Copy of_little = [](void* to, const void* from, std::size_t size) {
    copy_piece(to, from, size, size);
  };
  const Copy of_much = [](void* to, const void* from, std::size_t size) {
    copy_piece(to, from, size, std::numeric_limits<std::size_t>::max());
  };
  for (std::size_t size : {0, 1, 2047, 2048, 2049, 2079, 2175, 4096, 65536 + 5, (1 << 20) + 33})
    for (std::size_t to : {0, 1, 31, 32, 63})
      for (std::size_t from : {0, 8, 33}) {
        CAPTURE(size, to, from);
        REQUIRE(copies(of_little, size, to, from));
        REQUIRE(copies(of_much, size, to, from));
      }
}

TEST_CASE("copy: what is much is a quarter of a cache, if any", "[base]") {
  CHECK(detail::past_cache_bytes_min() >= 4096);
}

TEST_CASE("copy: a way is chosen once, among those that the processor has", "[base]") {
  const auto& chosen = detail::copy_variant_in_use();
  CHECK(&chosen == &detail::copy_variant_in_use());
  const auto variants = detail::copy_variants();
  CHECK((&chosen >= &variants.front() && &chosen <= &variants.back()));
}

TEST_CASE("copy: the faster of two ways is taken, and the other one when that has become faster", "[base]") {
  detail::FasterWay ways(2);  // the second must take less than two thirds of the time
  const auto second_in = [&](int turns, std::uint64_t first_ticks, std::uint64_t second_ticks) {
    int second = 0;
    for (int i = 0; i < turns; ++i) {
      const bool was_first_next = ways.is_first_next();
      const auto turn = ways.take_turn();
      CHECK(was_first_next == (turn.way == 0 && !turn.is_trial));
      second += turn.way == 1 && !turn.is_trial ? 1 : 0;
      if (turn.is_trial) ways.took(turn.way, turn.way == 0 ? first_ticks : second_ticks, 4096);
    }
    return second;
  };
  CHECK(second_in(1000, 300, 290) == 0);
  CHECK(second_in(1000, 300, 210) == 0);
  CHECK(second_in(2000, 1200, 300) > 1000);
  CHECK(second_in(1000, 1200, 300) > 950);
  // One that took very long, once, counts twice the mean.
  ways.took(1, 1'000'000, 4096);
  CHECK(second_in(1000, 1200, 300) > 950);
  CHECK(second_in(3000, 300, 290) < 2000);
  CHECK(second_in(1000, 300, 290) == 0);
}

TEST_CASE("copy: what goes out by libc for its size does well with lines that were fetched", "[base]") {
  for (std::size_t size : {0, 64, 2048, 65537, 1 << 20}) CHECK(copy_bytes_out_fetches(size));
}
