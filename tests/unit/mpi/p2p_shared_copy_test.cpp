#include "p2p/shared_copy.hpp"

#include <array>
#include <thread>
#include <vector>

#include "llamada/base/random.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::mpi;

namespace {

using End = SharedCopy::End;
constexpr std::uint64_t kib = 1024;

/// The two words, as two processes have them.
struct Words {
  std::atomic<std::uint64_t> lower{0}, upper{0};
};

SharedCopy lower_end(Words& words, std::uint32_t number, std::uint64_t bytes, bool opens = true) {
  return {words.lower, words.upper, number, bytes, End::lower, opens};
}
SharedCopy upper_end(Words& words, std::uint32_t number, std::uint64_t bytes, bool opens = false) {
  return {words.upper, words.lower, number, bytes, End::upper, opens};
}

/// Marks the bytes of a part; false when one of them was copied before.
bool mark(std::vector<std::uint8_t>& copied, SharedCopy::Part part) {
  bool first = true;
  for (std::uint64_t i = part.first; i < part.first + part.bytes; ++i) first = first && copied[i]++ == 0;
  return first;
}

constexpr std::uint64_t sizes[] = {1,        4095,    4096,      4097,       20 * kib,
                                   64 * kib, 100'000, 300 * kib, 1024 * kib, 3'000'001};

}  // namespace

TEST_CASE("shared copy: either end alone copies each byte once, in few parts") {
  for (const std::uint64_t bytes : sizes) {
    for (const bool lower : {true, false}) {
      Words words;
      SharedCopy idle = lower ? upper_end(words, 1, bytes, true) : lower_end(words, 1, bytes);
      SharedCopy busy = lower ? lower_end(words, 1, bytes, false) : upper_end(words, 1, bytes);
      std::vector<std::uint8_t> copied(bytes);
      int parts = 0;
      for (;; ++parts) {
        const auto part = busy.claim();
        if (part.bytes == 0) break;
        CHECK(!busy.is_over());
        CHECK(mark(copied, part));
        busy.copied();
      }
      CAPTURE(bytes, lower, parts);
      CHECK(parts <= 12);
      CHECK(copied == std::vector<std::uint8_t>(bytes, 1));
      CHECK(busy.is_over());
      CHECK(idle.claim().bytes == 0);
      CHECK(idle.is_over());
    }
  }
}

TEST_CASE("shared copy: a copy of nothing is over at once") {
  Words words;
  SharedCopy lower = lower_end(words, 1, 0), upper = upper_end(words, 1, 0);
  CHECK(lower.claim().bytes == 0);
  CHECK(lower.is_over());
  CHECK(upper.is_over());
}

TEST_CASE("shared copy: two ends that begin together have a half each") {
  Words words;
  SharedCopy lower = lower_end(words, 1, 64 * kib), upper = upper_end(words, 1, 64 * kib);
  const auto low = lower.claim(), high = upper.claim();
  CHECK((low.first == 0 && low.bytes == 32 * kib));
  CHECK((high.first == 32 * kib && high.bytes == 32 * kib));
  lower.copied();
  CHECK(lower.claim().bytes == 0);
  CHECK(!lower.is_over());
  CHECK(!lower.is_changed());
  upper.copied();
  CHECK(lower.is_changed());
  CHECK(lower.is_over());
  CHECK(upper.is_over());
}

TEST_CASE("shared copy: what is claimed ahead is half, and nobody else's") {
  for (const bool lower : {true, false}) {
    for (const std::uint64_t bytes : sizes) {
      Words words;
      SharedCopy first = lower ? lower_end(words, 1, bytes) : upper_end(words, 1, bytes, true);
      first.claim_ahead(SharedCopy::Ahead::half);
      SharedCopy second = lower ? upper_end(words, 1, bytes) : lower_end(words, 1, bytes, false);
      std::vector<std::uint8_t> copied(bytes);
      for (auto part = second.claim(); part.bytes > 0; part = second.claim()) {
        CHECK(mark(copied, part));
        second.copied();
      }
      CHECK(!second.is_over());
      const auto part = first.claim();
      CHECK(part.bytes >= std::min<std::uint64_t>(bytes / 2, 1000 * kib));
      CHECK(mark(copied, part));
      first.copied();
      CHECK(first.claim().bytes == 0);
      CHECK(copied == std::vector<std::uint8_t>(bytes, 1));
      CHECK(second.claim().bytes == 0);
      CHECK((first.is_over() && second.is_over()));
    }
  }
}

TEST_CASE("shared copy: of what is claimed ahead as a whole the other end has nothing to do") {
  for (const bool lower : {true, false}) {
    Words words;
    SharedCopy first = lower ? lower_end(words, 1, 1000 * kib) : upper_end(words, 1, 1000 * kib, true);
    first.claim_ahead(SharedCopy::Ahead::all);
    SharedCopy second = lower ? upper_end(words, 1, 1000 * kib) : lower_end(words, 1, 1000 * kib, false);
    CHECK(second.claim().bytes == 0);
    CHECK(first.claim().bytes == 1000 * kib);
    CHECK_FALSE(second.is_over());
    first.copied();
    CHECK(first.is_over());
    CHECK(second.is_over());
  }
}

TEST_CASE("shared copy: an end that wants all has what nobody has claimed when it comes") {
  for (const bool lower : {true, false}) {
    for (const bool comes_first : {true, false}) {
      Words words;
      SharedCopy greedy = lower ? lower_end(words, 1, 1000 * kib) : upper_end(words, 1, 1000 * kib, true);
      SharedCopy other = lower ? upper_end(words, 1, 1000 * kib) : lower_end(words, 1, 1000 * kib, false);
      greedy.want_all();
      const std::uint64_t others = comes_first ? 0 : other.claim().bytes;
      CHECK(others == (comes_first ? 0 : 500 * kib));
      CHECK(greedy.claim().bytes == 1000 * kib - others);
      greedy.copied();
      other.copied();
      CHECK(other.claim().bytes == 0);
      CHECK(greedy.claim().bytes == 0);
      CHECK(greedy.is_over());
      CHECK(other.is_over());
    }
  }
}

TEST_CASE("shared copy: a copy of nothing that is claimed ahead is over, too") {
  Words words;
  SharedCopy lower = lower_end(words, 1, 0);
  lower.claim_ahead(SharedCopy::Ahead::half);
  CHECK(lower.claim().bytes == 0);
  CHECK(lower.is_over());
  CHECK(upper_end(words, 1, 0).is_over());
}

TEST_CASE("shared copy: an end that stops within a part leaves the copy unfinished for ever") {
  Words words;
  SharedCopy lower = lower_end(words, 1, 256 * kib), upper = upper_end(words, 1, 256 * kib);
  CHECK(upper.claim().bytes > 0);
  while (lower.claim().bytes > 0) lower.copied();
  CHECK(!lower.is_over());
  CHECK(!upper.is_over());
}

TEST_CASE("shared copy: what the other end said of earlier copies counts for nothing") {
  Words words;
  SharedCopy first = lower_end(words, 7, 256 * kib), others = upper_end(words, 7, 256 * kib);
  CHECK(others.claim().bytes > 0);
  others.copied();
  while (first.claim().bytes > 0) first.copied();
  CHECK(first.is_over());
  // The other end has yet to look when the words are used again.
  SharedCopy second = lower_end(words, 8, 100 * kib);
  CHECK(others.claim().bytes == 0);
  CHECK(others.is_over());
  CHECK(!second.is_over());
  std::vector<std::uint8_t> copied(100 * kib);
  for (auto part = second.claim(); part.bytes > 0; part = second.claim()) {
    CHECK(mark(copied, part));
    second.copied();
  }
  CHECK(copied == std::vector<std::uint8_t>(100 * kib, 1));
  CHECK(second.is_over());
}

TEST_CASE("shared copy: in whatever order the ends come, each byte is copied once and both see the end") {
  Random random(12);
  for (int round = 0; round < 2000; ++round) {
    Words words;
    const std::uint64_t bytes = random.next() % (400 * kib);
    // Either end may be the first to know, and claim something before the other one comes.
    const bool lower_opens = round % 2 == 0;
    SharedCopy ends[] = {lower_end(words, 3, bytes, lower_opens), upper_end(words, 3, bytes, !lower_opens)};
    if (round % 4 < 2)
      ends[lower_opens ? 0 : 1].claim_ahead(round % 2 == 0 ? SharedCopy::Ahead::half
                                                           : SharedCopy::Ahead::all);
    if (round % 3 == 0) ends[0].want_all();
    if (round % 5 == 0) ends[1].want_all();
    std::array<SharedCopy::Part, 2> parts{};
    std::vector<std::uint8_t> copied(bytes);
    int turns = 0;
    while ((!ends[0].is_over() || !ends[1].is_over()) && ++turns < 1000) {
      const std::size_t at = random.next() % 2;
      if (parts[at].bytes > 0) {
        REQUIRE(mark(copied, parts[at]));
        ends[at].copied();
        parts[at] = {};
      } else {
        parts[at] = ends[at].claim();
      }
    }
    REQUIRE(turns < 1000);
    REQUIRE(copied == std::vector<std::uint8_t>(bytes, 1));
  }
}

TEST_CASE("shared copy: two threads copy each byte once, over the same words again and again", "[threads]") {
  constexpr std::uint32_t copies = 20'000;
  constexpr std::uint64_t units_max = 40;
  Words words;
  std::atomic<std::uint32_t> opened{0}, ended{0};
  std::atomic<int> twice{0}, missing{0};
  std::vector<std::atomic<std::uint8_t>> copied(units_max);
  const auto bytes_of = [](std::uint32_t number) {
    return (number * 7 % units_max + 1) * SharedCopy::unit_bytes_min;
  };
  const auto work = [&](SharedCopy& end) {
    while (!end.is_over()) {
      const auto part = end.claim();
      if (part.bytes == 0) {
        std::this_thread::yield();
        continue;
      }
      for (std::uint64_t unit = 0; unit < part.bytes / SharedCopy::unit_bytes_min; ++unit)
        twice += copied[part.first / SharedCopy::unit_bytes_min + unit].fetch_add(
                     1, std::memory_order_relaxed) != 0;
      end.copied();
    }
  };
  std::thread sender([&] {
    for (std::uint32_t number = 1; number <= copies; ++number) {
      while (opened.load(std::memory_order_acquire) < number) std::this_thread::yield();
      SharedCopy end = upper_end(words, number, bytes_of(number));
      work(end);
      ended.store(number, std::memory_order_release);
    }
  });
  for (std::uint32_t number = 1; number <= copies; ++number) {
    SharedCopy end = lower_end(words, number, bytes_of(number));
    if (number % 3 == 0) end.claim_ahead(number % 2 == 0 ? SharedCopy::Ahead::half : SharedCopy::Ahead::all);
    if (number % 5 == 0) end.want_all();
    opened.store(number, std::memory_order_release);
    work(end);
    for (std::uint64_t unit = 0; unit < bytes_of(number) / SharedCopy::unit_bytes_min; ++unit)
      missing += copied[unit].exchange(0, std::memory_order_relaxed) != 1;
    // Every other time the words are used again before the other thread has seen the end.
    if (number % 2)
      while (ended.load(std::memory_order_acquire) < number) std::this_thread::yield();
  }
  sender.join();
  CHECK(twice == 0);
  CHECK(missing == 0);
}
