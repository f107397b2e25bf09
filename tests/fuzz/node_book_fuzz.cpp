#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "book_codec.hpp"

using namespace llamada::llamanet;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

// The input is a book, and what a node tells of its ranks: what parses must say the same again, byte for
// byte.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  if (const auto book = decode_book(bytes)) {
    const auto again = encode_book(*book);
    require(std::ranges::equal(again, bytes));
  }
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (const auto endpoints = decode_endpoints(text)) {
    require(encode_endpoints(*endpoints) == text);
    // Whatever is told, an entry comes from its own node.
    const std::vector<std::uint32_t> node_of_slot(4, endpoints->node);
    if (const auto joined = join_endpoints(std::span(&text, 1), node_of_slot))
      for (const BookEntry& entry : joined->slots) require(entry.node == 0);
    // What is refused changes nothing, and what is known stays.
    std::vector<BookEntry> slots(1, BookEntry{endpoints->node, {}, {}});
    const std::vector<BookEntry> before = slots;
    if (!add_endpoints(std::span(&text, 1), node_of_slot, slots))
      require(slots == before);
    else
      require(slots.size() == node_of_slot.size());
  }
  return 0;
}
