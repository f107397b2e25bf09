#include "llamada/topics/kept_payloads.hpp"

#include <vector>

#include "test.hpp"

namespace llamada::topics {
namespace {

constexpr std::size_t size = 5000;

TEST_CASE("kept payloads: what was published from the same memory is found as long as it seems unchanged",
          "[topics]") {
  std::vector<std::byte> memory(size), kept(memory), other(memory);
  KeptPayloads payloads;
  CHECK(payloads.find(memory).kept.empty());
  payloads.add(memory, kept);
  CHECK(payloads.find(memory).kept.data() == kept.data());
  CHECK(payloads.find(memory).kept.size() == size);
  CHECK(payloads.find(other).kept.empty());
  CHECK(payloads.find(std::span(memory).first(size - 1)).kept.empty());
  for (const std::size_t at : {std::size_t{0}, size - 1}) {
    memory[at] = std::byte{1};
    CHECK(payloads.find(memory).kept.empty());
    payloads.add(memory, other);
    CHECK(payloads.find(memory).kept.data() == other.data());
  }
}

TEST_CASE("kept payloads: of memory that seems unchanged and is not one is given more and more rarely",
          "[topics]") {
  std::vector<std::byte> memory(size), kept(memory);
  KeptPayloads payloads;
  payloads.add(memory, kept);
  int given = 0;
  for (int sent = 0; sent < 1000; ++sent) {
    if (!payloads.find(memory).kept.empty()) {
      ++given;
      payloads.compared(memory, false);
    }
    payloads.add(memory, kept);
  }
  CHECK((given > 10 && given < 25));
  while (payloads.find(memory).kept.empty()) {
  }
  payloads.compared(memory, true);
  for (int sent = 0; sent < 10; ++sent) CHECK_FALSE(payloads.find(memory).kept.empty());
  payloads.compared(memory, false);
  CHECK(payloads.find(memory).kept.empty());
  CHECK(payloads.find(memory).kept.empty());
  CHECK_FALSE(payloads.find(memory).kept.empty());
}

TEST_CASE("kept payloads: many buffers are known at a time", "[topics]") {
  constexpr std::size_t count = 3000;
  std::vector<std::byte> memory(count * 64 + size);
  KeptPayloads payloads;
  const auto part = [&](std::size_t i) { return std::span<const std::byte>(memory).subspan(i * 64, size); };
  for (const std::size_t several : {10, 100, 3000}) {
    for (int times = 0; times < 10; ++times)
      for (std::size_t i = 0; i < several; ++i)
        if (payloads.find(part(i)).kept.empty()) payloads.add(part(i), part(i));
    std::size_t found = 0;
    for (std::size_t i = 0; i < several; ++i) {
      const auto kept = payloads.find(part(i)).kept;
      CHECK((kept.empty() || kept.data() == part(i).data()));
      found += !kept.empty();
    }
    // In no more than some memory.
    CHECK(found >= std::min<std::size_t>(several * 3 / 4, 500));
    CHECK(found <= 1024);
  }
}

TEST_CASE("kept payloads: what changes all the time is looked at now and then, unless all is kept",
          "[topics]") {
  for (const bool keeps_all : {false, true}) {
    std::vector<std::byte> memory(size), kept(memory);
    KeptPayloads payloads(keeps_all);
    for (int sent = 0; sent < 1000; ++sent) {
      memory[0] = static_cast<std::byte>(sent);
      CHECK(payloads.find(memory).kept.empty());
      payloads.add(memory, kept);
    }
    int sent = 0;
    for (; payloads.find(memory).kept.empty(); ++sent) payloads.add(memory, kept);
    CHECK(sent <= (keeps_all ? 0 : 68));
    // One that changes now and then is known every time that it has not.
    for (int i = 0; i < 100; ++i) {
      payloads.compared(memory, true);
      memory[0] = ~memory[0];
      CHECK(payloads.find(memory).kept.empty());
      payloads.add(memory, kept);
      CHECK_FALSE(payloads.find(memory).kept.empty());
    }
  }
}

TEST_CASE("kept payloads: no more are known than a chunk that is used again has room for", "[topics]") {
  std::vector<std::byte> memory(100 * size);
  KeptPayloads payloads(false);
  for (int times = 0; times < 10; ++times)
    for (std::size_t i = 0; i < 100; ++i) {
      const auto part = std::span<const std::byte>(memory).subspan(i * size, size);
      payloads.add(part, part);
    }
  std::size_t found = 0;
  for (std::size_t i = 0; i < 100; ++i)
    found += !payloads.find(std::span(memory).subspan(i * size, size)).kept.empty();
  CHECK((found > 16 && found <= 32));
}

}  // namespace
}  // namespace llamada::topics
