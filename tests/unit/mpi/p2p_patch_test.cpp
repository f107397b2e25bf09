#include "p2p/patch.hpp"

#include <vector>

#include "test.hpp"

using namespace llamada;
using namespace llamada::mpi;

TEST_CASE("patch: applied to what a message was made from it gives the message") {
  for (const std::size_t size : {1UL, 63UL, 64UL, 1000UL, 4096UL}) {
    std::vector<std::byte> before(size), message(size);
    for (const std::size_t at : {std::size_t{0}, size / 2, size - 1}) message[at] = std::byte{9};
    Differences differences(size);
    REQUIRE(differences.add(before, message, 0));
    std::vector<std::byte> patch(patch_bytes(differences));
    make_patch(message, differences, patch);
    CHECK(apply_patch(patch, size, [&](std::size_t offset, std::span<const std::byte> piece) {
      REQUIRE(offset + piece.size() <= size);
      std::copy(piece.begin(), piece.end(), before.begin() + static_cast<std::ptrdiff_t>(offset));
    }));
    CHECK(before == message);
  }
}

TEST_CASE("patch: what is none for the message is refused") {
  const auto nothing = [](std::size_t, std::span<const std::byte>) {};
  PatchLine line;
  line.offset = 128;
  const auto bytes = std::as_bytes(std::span(&line, 1));
  CHECK(apply_patch(bytes, 129, nothing));
  CHECK_FALSE(apply_patch(bytes, 128, nothing));
  CHECK_FALSE(apply_patch(bytes.first(71), 1000, nothing));
  line.offset = ~std::uint64_t{0};
  CHECK_FALSE(apply_patch(bytes, 1000, nothing));
}
