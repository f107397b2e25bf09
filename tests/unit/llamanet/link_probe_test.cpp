#include "link_probe.hpp"

#include "llamada/base/random.hpp"
#include "llamada/links/fake_link.hpp"
#include "test.hpp"

// Drivers that find out by which links they reach each other, in virtual time: a fake network for UDP and one
// for raw Ethernet.

using namespace llamada;
using namespace llamada::llamanet;
using namespace std::chrono_literals;
using replication::Address;
using replication::Time;

namespace {

constexpr SipHashKey key{1, 2};

ProbeFrame some_frame() { return {true, 77, 1, 2, 3, 100, -4}; }

/// A link of a fake network, where an address of any kind has the port of the node: datagrams that are longer
/// than what its path carries are lost.
class PathLink final : public replication::Link {
 public:
  PathLink(std::unique_ptr<links::FakeLink> link, std::size_t path_bytes)
      : link_(std::move(link)), path_bytes_(path_bytes) {}
  replication::LinkLimits limits() const override { return {9000, 1}; }
  Status meet(replication::EndpointNumber endpoint, const Address&) override {
    return link_->meet(
        endpoint, {.family = Address::Family::fake, .port = static_cast<std::uint16_t>(endpoint & 0xffffU)});
  }
  std::size_t send(replication::EndpointNumber to,
                   std::span<const replication::Datagram> datagrams) override {
    if (datagrams[0].size_bytes() > path_bytes_) return datagrams.size();
    return link_->send(to, datagrams);
  }
  std::span<const std::span<const std::byte>> receive() override { return link_->receive(); }
  int descriptor() const override { return -1; }

 private:
  std::unique_ptr<links::FakeLink> link_;
  std::size_t path_bytes_;
};

struct Probes {
  struct Setting {
    std::uint32_t count = 3;
    std::uint64_t seed = 1;
    links::FakeFaults faults{};
    std::size_t udp_path = 1472, raw_path = 1500;
    std::uint16_t mtu = 1500;
    bool is_one_host = false;
  };
  explicit Probes(const Setting& setting)
      : udp(setting.seed, setting.faults), raw(setting.seed + 1, setting.faults) {
    std::vector<BookNode> nodes(setting.count);
    for (std::uint32_t node = 0; node < setting.count; ++node) {
      nodes[node].small.family = Address::Family::ipv4;
      nodes[node].mtu = setting.mtu;
      nodes[node].ethernet_mtu = static_cast<std::uint16_t>(setting.mtu / 8 * 8);
      nodes[node].ethernet.mac[5] = static_cast<std::uint8_t>(setting.is_one_host ? 1 : node);
    }
    std::vector<std::unique_ptr<replication::Link>> udp_links, raw_links;
    for (std::uint32_t node = 0; node < setting.count; ++node) {
      udp_links.push_back(std::make_unique<PathLink>(udp.make_link({9000, 1}), setting.udp_path));
      raw_links.push_back(std::make_unique<PathLink>(raw.make_link({9000, 1}), setting.raw_path));
    }
    for (std::uint32_t node = 0; node < setting.count; ++node)
      probes.push_back(std::make_unique<LinkProbe>(LinkProbe::Options{node, 77, key, nodes},
                                                   std::move(udp_links[node]), std::move(raw_links[node])));
  }

  bool are_over() const {
    return std::all_of(probes.begin(), probes.end(), [](const auto& probe) { return probe->is_over(); });
  }
  /// Until all is known; how long that took.
  Time run(Time at_most = 60s) {
    for (Time now{0}; now < at_most; now += 100us) {
      udp.advance(now);
      raw.advance(now);
      for (std::size_t node = 0; node < probes.size(); ++node)
        if (now >= (node == 0 ? first_begins : Time{0})) probes[node]->work(now, now + (node == 2 ? 5s : 0s));
      if (are_over()) return now;
    }
    return replication::never;
  }
  PairProbe result(std::uint32_t from, std::uint32_t to) const { return probes[from]->results().at(to); }

  links::FakeNetwork udp, raw;
  Time first_begins{0};
  std::vector<std::unique_ptr<LinkProbe>> probes;
};

}  // namespace

TEST_CASE("probe frame: it says the same when it is read again, and nothing when it was changed",
          "[llamanet]") {
  std::vector<std::byte> bytes(100, std::byte{1});
  write_probe(bytes, some_frame(), key);
  CHECK(read_probe(bytes, key) == some_frame());
  CHECK_FALSE(read_probe(bytes, {1, 3}));
  for (std::size_t at = 0; at < probe_head_bytes; ++at) {
    auto changed = bytes;
    changed[at] ^= std::byte{0x20};
    CHECK_FALSE(read_probe(changed, key));
  }
  for (std::size_t size = 0; size < bytes.size(); ++size)
    CHECK_FALSE(read_probe(std::span(bytes).first(size), key));
}

TEST_CASE("link probe: all is known at once where nothing is lost", "[llamanet]") {
  Probes all(Probes::Setting{});
  CHECK(all.run() < 5ms);
  for (const std::uint32_t node : {1U, 2U}) {
    CHECK(all.result(0, node).udp_bytes == 1472);
    CHECK(all.result(node, 0).ethernet_mtu == 1496);
    CHECK((all.result(0, node).round_trip > 0ns && all.result(0, node).round_trip < 1ms));
  }
  CHECK(all.result(1, 1).udp_bytes == 0);
  CHECK(std::abs((all.result(0, 2).clock_ahead - 5s).count()) < 1'000'000);
  CHECK(std::abs((all.result(2, 1).clock_ahead + 5s).count()) < 1'000'000);
}

TEST_CASE("link probe: the longest datagrams that pass are found, whatever the interfaces say",
          "[llamanet]") {
  Probes all({.udp_path = 1452, .raw_path = 1491, .mtu = 9000});
  CHECK(all.run() < 1s);
  CHECK(all.result(0, 1).udp_bytes == 1400);
  CHECK(all.result(0, 1).ethernet_mtu == 1496);
  Probes large({.udp_path = 9000, .raw_path = 9000, .mtu = 9000});
  CHECK(large.run() < 5ms);
  CHECK(large.result(1, 0).udp_bytes == 8968);
  CHECK(large.result(1, 0).ethernet_mtu == 9000);
}

TEST_CASE("link probe: raw frames that pass nowhere are given up soon, also beside a late peer",
          "[llamanet]") {
  Probes all({.raw_path = 0});
  all.first_begins = 3s;
  const Time took = all.run();
  CHECK((took > 3s && took < 4s));
  CHECK(all.result(0, 1).ethernet_mtu == 0);
  CHECK(all.result(1, 0).udp_bytes == 1472);
}

TEST_CASE("link probe: nodes on one network interface have no raw frames between them", "[llamanet]") {
  Probes all({.is_one_host = true});
  CHECK(all.run() < 5ms);
  CHECK(all.result(0, 1).ethernet_mtu == 0);
  CHECK(all.result(0, 1).udp_bytes == 1472);
}

TEST_CASE("link probe: a peer that UDP does not reach is known after a while", "[llamanet]") {
  Probes all({.count = 2});
  all.udp.cut(0, 1);
  SECTION("soon, if raw frames reach it") { CHECK(all.run() < 5s); }
  SECTION("late, if nothing does") {
    all.raw.cut(0, 1);
    const Time took = all.run();
    CHECK((took > 9s && took < 11s));
    CHECK(all.result(0, 1).ethernet_mtu == 0);
  }
  CHECK(all.result(0, 1).udp_bytes == 0);
  CHECK(all.result(1, 0).udp_bytes == 0);
}

TEST_CASE("link probe: links that lose, double, damage and delay are found by any seed", "[llamanet]") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    Probes all({.seed = seed, .faults = {.loss = 100, .doubling = 50, .reordering = 100, .corruption = 20}});
    CHECK(all.run() < 5s);
    for (std::uint32_t from = 0; from < 3; ++from)
      for (std::uint32_t to = 0; to < 3; ++to) {
        if (from == to) continue;
        CHECK(all.result(from, to).udp_bytes >= 1200);
        CHECK(all.result(from, to).ethernet_mtu >= 1400);
      }
  }
}

TEST_CASE("link probe: later, pings find out who is still reached", "[llamanet]") {
  Probes all(Probes::Setting{});
  all.run();
  Time now = 1s;
  const auto exchange = [&](bool all_ask) {
    for (const auto& probe : all.probes)
      if (all_ask || probe == all.probes[0]) probe->ping();
    for (int round = 0; round < 100; ++round, now += 100us) {
      all.udp.advance(now);
      for (const auto& probe : all.probes) probe->work(now, now);
    }
  };
  const auto heard = [&](std::size_t node) { return all.probes[node]->take_heard(); };
  for (std::size_t node = 0; node < 3; ++node) heard(node);
  exchange(false);
  CHECK(heard(0) == std::vector<std::uint32_t>{1, 2});
  CHECK(heard(1) == std::vector<std::uint32_t>{0});
  CHECK(heard(1).empty());
  SECTION("a cut in one direction") {
    all.udp.cut(0, 1);
    exchange(true);
    CHECK(heard(0) == std::vector<std::uint32_t>{1, 2});
    CHECK(heard(1) == std::vector<std::uint32_t>{2});
  }
  SECTION("a cut by a rule") {
    all.probes[1]->stop_hearing({0});
    exchange(true);
    CHECK(heard(1) == std::vector<std::uint32_t>{2});
    all.probes[1]->stop_hearing({});
    exchange(true);
    CHECK(heard(1) == std::vector<std::uint32_t>{0, 2});
  }
}

TEST_CASE("link probe: what comes once more is no sign of life", "[llamanet]") {
  Probes all({.count = 2, .faults = {.doubling = 1000}});
  all.run();
  for (Time now = 1s; now < 2s; now += 1ms) {
    all.udp.advance(now);
    for (const auto& probe : all.probes) probe->work(now, now);
  }
  for (const auto& probe : all.probes) probe->take_heard();
  std::vector<std::byte> old(probe_head_bytes);
  write_probe(old, {false, 77, 0, 1, 1, static_cast<std::uint32_t>(old.size()), 0}, key);
  const auto stranger = all.udp.make_link({9000, 1});
  REQUIRE(stranger->meet(replication::driver_endpoint(1), {.family = Address::Family::fake, .port = 1})
              .has_value());
  const replication::Datagram datagram{old, {}};
  REQUIRE(stranger->send(replication::driver_endpoint(1), std::span(&datagram, 1)) == 1);
  all.udp.advance(3s);
  all.udp.advance(4s);
  all.probes[1]->work(4s, 4s);
  CHECK(all.probes[1]->take_heard().empty());
}
