#include "p2p/content_samples.hpp"

#include <cstring>
#include <vector>

#include "test.hpp"

using namespace llamada::mpi;

TEST_CASE("content samples: a buffer has changed when it is new, or some of its bytes are") {
  for (const std::size_t bytes : {8u, 9u, 33u, 1000u, 100003u}) {
    std::vector<std::byte> memory(bytes);
    ContentSamples samples;
    CHECK(samples.has_changed(memory.data(), bytes));
    CHECK(!samples.has_changed(memory.data(), bytes));
    memory.front() = std::byte{1};
    CHECK(samples.has_changed(memory.data(), bytes));
    CHECK(!samples.has_changed(memory.data(), bytes));
    memory.back() = std::byte{1};
    CHECK(samples.has_changed(memory.data(), bytes));
    std::memset(memory.data(), 2, bytes);
    CHECK(samples.has_changed(memory.data(), bytes));
    CHECK(!samples.has_changed(memory.data(), bytes));
  }
}

TEST_CASE("content samples: another length is another buffer, and several buffers are known at a time") {
  constexpr std::size_t page = 4096, count = 7;
  std::vector<std::byte> memory(20 * page);
  ContentSamples samples;
  CHECK(samples.has_changed(memory.data(), page / 2));
  for (int times = 0; times < 3; ++times)
    for (std::size_t i = 0; i < count; ++i)
      CHECK(samples.has_changed(memory.data() + i * page, page) == (times == 0));
  CHECK(!samples.has_changed(memory.data(), page / 2));
  // Others in their place.
  for (std::size_t i = 10; i < 18; ++i) CHECK(samples.has_changed(memory.data() + i * page, page));
  CHECK(samples.has_changed(memory.data(), page / 2));
}
