#include "book_codec.hpp"

#include "test.hpp"

using namespace llamada;
using namespace llamada::llamanet;
using replication::Address;

namespace {

Address address(Address::Family family, std::uint8_t last, std::uint16_t port) {
  Address made{.family = family, .port = port};
  made.ip[0] = 10;
  made.ip[family == Address::Family::ipv4 ? 3 : 15] = last;
  return made;
}

EthernetPlace ethernet_of(std::uint32_t node, std::uint16_t lane) {
  return {{2, 0, 0, 0, 0, static_cast<std::uint8_t>(node)}, lane};
}

BookEntry entry_of(std::uint32_t slot, std::uint32_t node) {
  const auto family = node == 0 ? Address::Family::ipv4 : Address::Family::ipv6;
  const auto port = static_cast<std::uint16_t>(5000 + 2 * slot);
  const auto last = static_cast<std::uint8_t>(slot);
  return {node, address(family, last, port), address(family, last, static_cast<std::uint16_t>(port + 1)),
          ethernet_of(node, static_cast<std::uint16_t>(slot))};
}

BookNode node_of(std::uint32_t node) {
  const auto family = node == 0 ? Address::Family::ipv4 : Address::Family::ipv6;
  return {100 + node,
          address(family, 200, 4000),
          address(family, 200, 4001),
          ethernet_of(node, static_cast<std::uint16_t>(0x8000 + node)),
          4002,
          1500,
          1496};
}

NodeBook book_of(std::uint32_t count) {
  NodeBook book{1, 77, {3, 4}, {1400, 1496}, {node_of(0), node_of(1)}, {}};
  for (std::uint32_t slot = 0; slot < count; ++slot) book.entries.push_back(entry_of(slot, slot % 2));
  return book;
}

std::string endpoints_of(std::uint32_t node, std::vector<std::uint32_t> slots) {
  NodeEndpoints endpoints{node, node_of(node), {}};
  for (const std::uint32_t slot : slots) endpoints.slots.push_back({slot, entry_of(slot, node)});
  return encode_endpoints(endpoints);
}

}  // namespace

TEST_CASE("book: it says the same when it is read again, for none and for many slots", "[llamanet]") {
  for (const std::uint32_t count : {0U, 1U, 2U, 1000U}) {
    const NodeBook book = book_of(count);
    const auto bytes = encode_book(book);
    CHECK(bytes.size() == 52 + 2 * 64 + 48 * count);
    const auto read = decode_book(bytes);
    REQUIRE(read);
    CHECK((read->own_node == 1 && read->job_number == 77 && read->key.low == 3 && read->key.high == 4));
    CHECK(read->entries == book.entries);
    CHECK(read->nodes == book.nodes);
    CHECK(read->links == book.links);
  }
}

TEST_CASE("book: what is cut, longer or has a field of no legal value is refused", "[llamanet]") {
  const auto whole = encode_book(book_of(2));
  for (std::size_t size = 0; size < whole.size(); ++size)
    CHECK(decode_book(std::span(whole).first(size)).error().code() == Errc::parse_error);
  auto changed = whole;
  changed.push_back(std::byte{0});
  CHECK_FALSE(decode_book(changed));
  // Mark, version, the count's high byte, the count of nodes, and the high bytes of how long datagrams are.
  std::vector<std::size_t> fields{0, 4, 15, 40, 47, 51};
  // Of a driver and of a rank, with IPv4 addresses: endpoint, node, ip behind the address, family, what is
  // reserved.
  const std::size_t driver = 52 + 16, rank = 52 + 2 * 64;
  for (const std::size_t entry : {driver, rank})
    for (const std::size_t field : {0, 4, 12, 28, 40, 47}) fields.push_back(entry + field);
  fields.push_back(52 + 14);  // reserved, of a node
  for (const std::size_t at : fields) {
    CAPTURE(at);
    changed = whole;
    changed[at] ^= std::byte{0x40};
    CHECK_FALSE(decode_book(changed));
  }
  for (const std::size_t port : {driver + 24, driver + 26, rank + 24, rank + 26}) {
    changed = whole;
    changed[port] = changed[port + 1] = std::byte{0};
    CHECK_FALSE(decode_book(changed));
  }
}

TEST_CASE("book: each endpoint receives by the link that was chosen", "[llamanet]") {
  NodeBook book = book_of(2);
  const BookEntry& entry = book.entries[1];
  CHECK(book.small_of(entry).family == Address::Family::ethernet);
  CHECK(book.small_of(entry).port == entry.ethernet.lane);
  CHECK(std::equal(entry.ethernet.mac.begin(), entry.ethernet.mac.end(), book.small_of(entry).ip.begin()));
  CHECK(book.small_of(book.nodes[0]).port == book.nodes[0].ethernet.lane);
  book.links = {};
  CHECK(book.small_of(entry) == entry.small);
  CHECK(peer_state(book, entry, SlotState::dead, 3).small == entry.small);
}

TEST_CASE("book: links of an impossible size are refused", "[llamanet]") {
  for (const LinkChoice& links : {LinkChoice{0, 0}, LinkChoice{100, 1496}, LinkChoice{1472, 9001},
                                  LinkChoice{9001, 0}, LinkChoice{1472, 100}}) {
    NodeBook book = book_of(1);
    book.links = links;
    CHECK_FALSE(decode_book(encode_book(book)));
  }
}

TEST_CASE("book: it is joined from what each node says of its own slots", "[llamanet]") {
  const std::vector<std::uint32_t> of_slot{0, 1, 1};
  const auto join = [&](std::vector<std::string> endpoints) { return join_endpoints(endpoints, of_slot); };
  const auto joined = join({endpoints_of(0, {0}), endpoints_of(1, {2, 1})});
  REQUIRE(joined);
  CHECK(joined->slots == std::vector{entry_of(0, 0), entry_of(1, 1), entry_of(2, 1)});
  CHECK(joined->nodes == std::vector{node_of(0), node_of(1)});
  CHECK(join({endpoints_of(0, {0}), endpoints_of(1, {1})}).error().text() ==
        "node 1 does not tell where its rank 2 is");
  CHECK_FALSE(join({endpoints_of(0, {0, 1}), endpoints_of(1, {2})}));  // not its slot
  CHECK_FALSE(join({endpoints_of(0, {0}), endpoints_of(1, {1, 2, 2})}));
  CHECK_FALSE(join({endpoints_of(0, {0}), endpoints_of(1, {1, 2, 3})}));
  CHECK_FALSE(join({endpoints_of(1, {1, 2}), endpoints_of(0, {0})}));
  CHECK_FALSE(join({"", endpoints_of(1, {1, 2})}));
  std::string of_wrong_driver = endpoints_of(1, {1, 2});
  of_wrong_driver[16 + 16] ^= 1;
  CHECK_FALSE(join({endpoints_of(0, {0}), of_wrong_driver}));
}

TEST_CASE("book: a slot whose rank could not be added has no address, in the book only", "[llamanet]") {
  NodeBook book = book_of(3);
  book.entries[1] = {1, {}, {}};
  const auto bytes = encode_book(book);
  const auto read = decode_book(bytes);
  REQUIRE(read);
  CHECK(read->entries == book.entries);
  CHECK_FALSE(read->entries[1].is_known());
  // An address has all of its parts, or none.
  const std::size_t entry = bytes.size() - 2 * 48;
  for (const std::size_t field : {8, 24, 26, 28, 32}) {
    CAPTURE(field);
    auto changed = bytes;
    changed[entry + field] = std::byte{1};
    CHECK_FALSE(decode_book(changed));
  }
  NodeEndpoints endpoints{1, node_of(1), {{1, {1, {}, {}}}}};
  CHECK_FALSE(decode_endpoints(encode_endpoints(endpoints)));
}

TEST_CASE("book: what nodes tell of added slots is added to what is known", "[llamanet]") {
  const std::vector<std::uint32_t> of_slot{0, 1, 1, 0, 1};
  std::vector<BookEntry> slots{entry_of(0, 0), entry_of(1, 1)};
  const auto before = slots;
  const auto add = [&](std::vector<std::string> endpoints) {
    return add_endpoints(endpoints, of_slot, slots).has_value();
  };
  CHECK_FALSE(add({endpoints_of(0, {3}), endpoints_of(1, {1})}));  // known
  CHECK_FALSE(add({endpoints_of(0, {4}), endpoints_of(1, {2})}));  // not its slot
  CHECK_FALSE(add({endpoints_of(0, {3, 3}), endpoints_of(1, {})}));
  CHECK_FALSE(add({endpoints_of(0, {3}), endpoints_of(1, {5})}));
  CHECK(slots == before);
  REQUIRE(add({endpoints_of(0, {3}), endpoints_of(1, {4})}));
  CHECK(slots ==
        std::vector{entry_of(0, 0), entry_of(1, 1), BookEntry{1, {}, {}}, entry_of(3, 0), entry_of(4, 1)});
  REQUIRE(add({endpoints_of(0, {}), endpoints_of(1, {2})}));
  CHECK(slots[2] == entry_of(2, 1));
}

TEST_CASE("book: a lost node tells nothing of added slots", "[llamanet]") {
  const std::vector<std::uint32_t> of_slot{0, 1, 1};
  std::vector<BookEntry> slots{entry_of(0, 0), entry_of(1, 1)};
  const std::vector<std::string> endpoints{"", endpoints_of(1, {2})};
  REQUIRE(add_endpoints(endpoints, of_slot, slots));
  CHECK(slots[2] == entry_of(2, 1));
}
