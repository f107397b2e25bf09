#include "link_conformance.hpp"

#include <thread>

#include "llamada/links/fake_link.hpp"
#include "llamada/links/udp_link.hpp"

using namespace llamada;
using namespace llamada::links;
using namespace llamada::replication;
using namespace std::chrono_literals;

namespace {

constexpr Address loopback{.family = Address::Family::ipv4, .ip = {127, 0, 0, 1}};

struct UdpEnds {
  explicit UdpEnds(const UdpOptions& options, const Address& bound = loopback)
      : one(make(options, bound)), other(make(options, bound)) {
    ends.address_of_other = other->address().value();
    REQUIRE(one->meet(2, ends.address_of_other).has_value());
    REQUIRE(other->meet(1, one->address().value()).has_value());
    ends.one = one.get();
    ends.other = other.get();
    ends.pass_time = [] { std::this_thread::sleep_for(100us); };
  }
  static std::unique_ptr<UdpLink> make(const UdpOptions& options, const Address& bound) {
    auto socket = UdpLink::make_socket(bound, options);
    REQUIRE(socket.has_value());
    auto link = UdpLink::adopt(std::move(*socket), options);
    REQUIRE(link.has_value());
    return std::move(*link);
  }
  std::unique_ptr<UdpLink> one, other;
  conformance::Ends ends;
};

}  // namespace

TEST_CASE("link: the fake one in virtual time", "[links]") {
  FakeNetwork network(1, {});
  const auto one = network.make_link({.datagram_bytes_max = 1472, .train_max = 64});
  const auto other = network.make_link({.datagram_bytes_max = 1472, .train_max = 64});
  REQUIRE(one->meet(2, other->address()).has_value());
  REQUIRE(other->meet(1, one->address()).has_value());
  conformance::check_link(
      {.one = one.get(), .other = other.get(), .address_of_other = other->address(), .pass_time = [&] {
         network.advance(network.now() + 20us);
       }});
}

TEST_CASE("link: UDP for small frames", "[links]") { conformance::check_link(UdpEnds({}).ends); }

TEST_CASE("link: UDP with trains", "[links]") {
  const UdpEnds udp({.has_trains = true});
  conformance::check_link(udp.ends);
}

TEST_CASE("link: UDP with datagrams of 8,900 bytes", "[links]") {
  conformance::check_link(UdpEnds({.datagram_bytes_max = 8900, .has_trains = true}).ends);
}

TEST_CASE("link: UDP over IPv6", "[links]") {
  constexpr Address loopback6{.family = Address::Family::ipv6,
                              .ip = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
  if (!UdpLink::make_socket(loopback6, {})) return say_skipped("UDP over IPv6: this machine has no ::1");
  conformance::check_link(UdpEnds({}, loopback6).ends);
}

TEST_CASE("link: a UDP datagram that is longer than the link's is dropped", "[links]") {
  const UdpEnds large({.datagram_bytes_max = 2000});
  for (const bool has_trains : {false, true}) {
    const auto small = UdpEnds::make({.datagram_bytes_max = 500, .has_trains = has_trains}, loopback);
    REQUIRE(large.one->meet(4, small->address().value()).has_value());
    const auto fits = conformance::numbered(1, 500), longer = conformance::numbered(2, 501);
    const Datagram datagrams[] = {{longer, {}}, {fits, {}}};
    CHECK(large.one->send(4, datagrams) == 2);
    conformance::check_same(conformance::receive(large.ends, *small, 1), {fits});
  }
}

TEST_CASE("link: options and sockets that cannot be are refused", "[links]") {
  CHECK_FALSE(UdpLink::make_socket({}, {}).has_value());
  CHECK_FALSE(UdpLink::adopt({}, {}).has_value());
  for (const std::size_t size : {0, 255, 65001}) {
    auto socket = UdpLink::make_socket(loopback, {});
    CHECK_FALSE(UdpLink::adopt(std::move(*socket), {.datagram_bytes_max = size}).has_value());
  }
}

TEST_CASE("link: the fake network's faults follow from its seed", "[links]") {
  const auto run = [](std::uint64_t seed) {
    FakeNetwork network(seed, {.loss = 200, .doubling = 100, .reordering = 300, .corruption = 100});
    const auto one = network.make_link({.datagram_bytes_max = 1472}),
               other = network.make_link({.datagram_bytes_max = 1472});
    REQUIRE(one->meet(2, other->address()).has_value());
    std::vector<conformance::Bytes> come;
    for (std::uint32_t i = 0; i < 300; ++i) {
      const auto bytes = conformance::numbered(i, 100);
      const Datagram datagram{bytes, {}};
      one->send(2, std::span(&datagram, 1));
      network.advance(network.now() + 1us);
      for (const auto& received : other->receive()) come.emplace_back(received.begin(), received.end());
    }
    return come;
  };
  const auto come = run(7);
  CHECK(come == run(7));
  CHECK(come != run(8));
  CHECK((come.size() > 200 && come.size() < 300));
}
