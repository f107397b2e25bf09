#include "link_conformance.hpp"

#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <cerrno>
#include <random>
#include <thread>

#include "llamada/links/ethernet_link.hpp"
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

/// A lane that nothing else on this machine uses, as far as chance goes.
std::uint16_t own_lane() {
  static std::uint16_t lane = static_cast<std::uint16_t>(std::random_device{}());
  return lane++;
}

/// Whether raw sockets are allowed; else the test is left out, and says so.
bool may_use_ethernet() {
  if (EthernetLink::make_socket({.interface = "lo"})) return true;
  say_skipped("raw Ethernet: raw sockets are refused here (CAP_NET_RAW)");
  return false;
}

struct EthernetEnds {
  EthernetEnds() {
    ends.address_of_other = other->address();
    REQUIRE(one->meet(2, other->address()).has_value());
    REQUIRE(other->meet(1, one->address()).has_value());
    ends.one = one.get();
    ends.other = other.get();
    ends.pass_time = [] { std::this_thread::sleep_for(100us); };
  }
  static std::unique_ptr<EthernetLink> make(std::size_t datagrams_max = 512) {
    const EthernetOptions options{.interface = "lo", .lane = own_lane(), .datagrams_max = datagrams_max};
    auto socket = EthernetLink::make_socket(options);
    REQUIRE(socket.has_value());
    auto link = EthernetLink::adopt(std::move(*socket), options);
    REQUIRE(link.has_value());
    return std::move(*link);
  }
  std::unique_ptr<EthernetLink> one = make(), other = make();
  conformance::Ends ends;
};

/// A frame to everybody on "lo", as a stranger may send it.
void send_frame(const conformance::Bytes& frame) {
  const FileDescriptor socket(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0));
  sockaddr_ll to{};
  to.sll_family = AF_PACKET;
  to.sll_ifindex = static_cast<int>(if_nametoindex("lo"));
  REQUIRE(::sendto(socket.get(), frame.data(), frame.size(), 0, reinterpret_cast<const sockaddr*>(&to),
                   sizeof(to)) == static_cast<ssize_t>(frame.size()));
}

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

TEST_CASE("link: the kernel drops at a UDP socket what is no frame of its job for its endpoint", "[links]") {
  constexpr std::uint32_t job = 0x12345678, endpoint = 3;
  const SipHashKey key{};
  const auto frame = [&](FrameHead head, std::size_t body_bytes = 24) {
    conformance::Bytes bytes(frame_head_bytes + body_bytes);
    head.job = head.job == 0 ? job : head.job;
    head.to = head.to == 0 ? endpoint : head.to;
    seal_frame(bytes, {}, head, key);
    return bytes;
  };
  for (const bool has_trains : {false, true}) {
    const UdpEnds strangers({.has_trains = has_trains});
    const auto filtered =
        UdpEnds::make({.has_trains = has_trains, .takes_only = UdpFilter{job, endpoint}}, loopback);
    REQUIRE(strangers.one->meet(4, filtered->address().value()).has_value());
    const auto send = [&](const conformance::Bytes& bytes) {
      const Datagram datagram{bytes, {}};
      REQUIRE(strangers.one->send(4, std::span(&datagram, 1)) == 1);
    };
    CHECK(filtered->take_unread() == 0);
    const auto good = frame({}), smallest = frame({.number = 7}, 0);
    send(conformance::Bytes(200));
    send(frame({.mark = 0x4d4d}));
    send(frame({.version = replication::frame_version + 1}));
    send(frame({.job = job + 1}));
    send(frame({.to = endpoint + 1}));
    send(conformance::Bytes(good.begin(), good.begin() + frame_head_bytes - 1));
    send({});
    send(good);
    send(smallest);
    conformance::check_same(conformance::receive(strangers.ends, *filtered, 2), {good, smallest});
    CHECK(filtered->take_unread() == 7);
    CHECK(filtered->take_unread() == 0);
    // Other frames from now on, whoever reads the socket.
    const std::array<replication::EndpointNumber, 2> silenced{3, 5};
    REQUIRE(UdpLink::set_filter(filtered->descriptor(), {job, endpoint, silenced}).has_value());
    for (const replication::EndpointNumber from : silenced) send(frame({.from = from}));
    const auto other = frame({.from = 4});
    send(other);
    conformance::check_same(conformance::receive(strangers.ends, *filtered, 1), {other});
    CHECK(filtered->take_unread() == 2);
    REQUIRE(UdpLink::set_filter(filtered->descriptor(), {job, endpoint}).has_value());
    // A train, of which the kernel sees the first frame only, is no less than that.
    if (!strangers.one->sends_trains()) continue;
    const std::vector<Datagram> train(5, Datagram{good, {}});
    REQUIRE(strangers.one->send(4, train) == train.size());
    conformance::check_same(conformance::receive(strangers.ends, *filtered, 5),
                            {good, good, good, good, good});
    CHECK(filtered->take_unread() == 0);
  }
}

TEST_CASE("link: Ethernet", "[links]") {
  if (may_use_ethernet()) conformance::check_link(EthernetEnds().ends);
}

TEST_CASE("link: an Ethernet ring goes round, and what it has no room for is lost", "[links]") {
  if (!may_use_ethernet()) return;
  EthernetEnds ethernet;
  const auto small = EthernetEnds::make(1);  // as few slots as there can be
  REQUIRE(ethernet.one->meet(3, small->address()).has_value());
  conformance::Ends ends = ethernet.ends;
  for (std::uint32_t round = 0; round < 50; ++round) {
    const auto bytes = conformance::numbered(round, 64 + round);
    const Datagram datagram{bytes, {}};
    REQUIRE(ethernet.one->send(3, std::span(&datagram, 1)) == 1);
    conformance::check_same(conformance::receive(ends, *small, 1), {bytes});
  }
  const auto bytes = conformance::numbered(7, 64);
  const std::vector<Datagram> many(100, Datagram{bytes, {}});
  CHECK(ethernet.one->send(3, many) == many.size());
  const auto come = conformance::receive(ends, *small, many.size());
  CHECK((!come.empty() && come.size() < many.size()));
  for (const auto& one : come) CHECK(one == bytes);
}

TEST_CASE("link: Ethernet frames that no link sends are dropped, and so are those of other lanes",
          "[links]") {
  if (!may_use_ethernet()) return;
  EthernetEnds ethernet;
  const std::uint16_t lane = ethernet.other->address().port;
  const auto frame = [&](std::uint16_t in_lane, std::size_t says_bytes, std::size_t has_bytes) {
    conformance::Bytes bytes(22 + has_bytes);
    const std::size_t words[] = {ethernet_type, in_lane, says_bytes};
    for (std::size_t i = 0; i < std::size(words); ++i) {
      bytes[12 + 2 * i] = static_cast<std::byte>(words[i] >> 8);
      bytes[13 + 2 * i] = static_cast<std::byte>(words[i]);
    }
    return bytes;
  };
  send_frame(frame(lane, 101, 100));    // says more than it has
  send_frame(frame(lane, 65535, 100));  // far more
  send_frame(frame(lane, 0, 100));
  send_frame(frame(static_cast<std::uint16_t>(lane + 1000), 64, 64));
  auto cut = frame(lane, 0, 0);
  cut.resize(16);
  send_frame(cut);
  send_frame(frame(lane, 64, 100));  // padded, as network cards do
  const auto come = conformance::receive(ethernet.ends, *ethernet.other, 2);
  REQUIRE(come.size() == 1);
  CHECK(come[0].size() == 64);
}

TEST_CASE("link: an Ethernet link is refused where there can be none", "[links]") {
  if (!may_use_ethernet()) return;
  const auto error = [](const EthernetOptions& options) {
    auto made = EthernetLink::make_socket(options);
    REQUIRE_FALSE(made.has_value());
    return made.error().text();
  };
  CHECK(error({.interface = "none7"}) == "this host has no network interface 'none7'");
  CHECK(error({.interface = ""}) == "'' is no name of a network interface");
  CHECK(error({.interface = "a-name-that-is-too-long"}).find("is no name") != std::string::npos);
  CHECK_FALSE(EthernetLink::adopt({}, {.interface = "lo"}).has_value());
  auto udp = UdpLink::make_socket(loopback, {});
  CHECK_FALSE(EthernetLink::adopt(std::move(*udp), {.interface = "lo"}).has_value());
}

TEST_CASE("link: the ring of an Ethernet link lies where it is wanted", "[links]") {
  if (!may_use_ethernet()) return;
  const EthernetOptions options{.interface = "lo", .lane = own_lane()};
  // Where nothing lies, whatever else this process maps.
  constexpr std::size_t room_bytes = 64 << 20;
  void* const place = ::mmap(nullptr, room_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE((place != MAP_FAILED && ::munmap(place, room_bytes) == 0));
  auto socket = EthernetLink::make_socket(options);
  REQUIRE(socket.has_value());
  const auto link = EthernetLink::adopt(std::move(*socket), options, place);
  REQUIRE(link.has_value());
  const auto other = EthernetEnds::make();
  REQUIRE(other->meet(1, (*link)->address()).has_value());
  const auto bytes = conformance::numbered(3, 100);
  const Datagram datagram{bytes, {}};
  REQUIRE(other->send(1, std::span(&datagram, 1)) == 1);
  std::span<const std::span<const std::byte>> come;
  for (int look = 0; look < 2000 && come.empty(); ++look, std::this_thread::sleep_for(100us))
    come = (*link)->receive();
  REQUIRE(come.size() == 1);
  const auto* const at = reinterpret_cast<const std::byte*>(place);
  CHECK((come[0].data() > at && come[0].data() < at + room_bytes));
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
