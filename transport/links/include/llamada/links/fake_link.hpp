#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "llamada/base/random.hpp"
#include "llamada/replication/link.hpp"
#include "llamada/replication/session.hpp"

namespace llamada::links {

/// What a fake network does to datagrams. Rates are in thousandths.
struct FakeFaults {
  std::uint32_t loss = 0;
  std::uint32_t doubling = 0;
  std::uint32_t reordering = 0;  ///< is late by up to ten times delay_max
  std::uint32_t corruption = 0;  ///< one to three bits of it, or its length, change
  replication::Time delay_min{1000};
  replication::Time delay_max{10000};
};

class FakeLink;

/// A network in the memory of one process, for simulators: all that happens to a datagram follows from a seed
/// and from virtual time.
///
/// Threads: one.
class FakeNetwork {
 public:
  FakeNetwork(std::uint64_t seed, const FakeFaults& faults) : random_(seed), faults_(faults) {}

  /// A new link and its address. The network must outlive it.
  std::unique_ptr<FakeLink> make_link(const replication::LinkLimits& limits);
  void set_faults(const FakeFaults& faults) { faults_ = faults; }
  /// Nothing gets from one link to another, in this direction, until it is healed.
  void cut(std::uint16_t from_port, std::uint16_t to_port) { cuts_.insert({from_port, to_port}); }
  void heal_all() { cuts_.clear(); }
  /// Goes on to this moment and delivers what is due.
  void advance(replication::Time now);
  /// When the next datagram is due; `never` if none is under way.
  replication::Time due() const;
  replication::Time now() const { return now_; }
  std::size_t under_way() const { return under_way_.size(); }

 private:
  friend class FakeLink;
  void carry(std::uint16_t from, std::uint16_t to, const replication::Datagram& datagram);
  void put_under_way(std::uint16_t to, std::vector<std::byte> bytes);
  void damage(std::vector<std::byte>& bytes);
  void part(std::uint16_t port) { links_[port] = nullptr; }

  Random random_;
  FakeFaults faults_;
  replication::Time now_{};
  std::vector<FakeLink*> links_;
  std::set<std::pair<std::uint16_t, std::uint16_t>> cuts_;
  struct Flight {
    std::uint16_t to;
    std::vector<std::byte> bytes;
  };
  std::multimap<replication::Time, Flight> under_way_;
};

class FakeLink final : public replication::Link {
 public:
  FakeLink(FakeNetwork& network, std::uint16_t port, const replication::LinkLimits& limits)
      : network_(network), port_(port), limits_(limits) {}
  FakeLink(const FakeLink&) = delete;
  FakeLink& operator=(const FakeLink&) = delete;
  ~FakeLink() override { network_.part(port_); }

  replication::Address address() const {
    return {.family = replication::Address::Family::fake, .port = port_};
  }
  replication::LinkLimits limits() const override { return limits_; }
  Status meet(replication::EndpointNumber endpoint, const replication::Address& address) override;
  std::size_t send(replication::EndpointNumber to, std::span<const replication::Datagram> datagrams) override;
  std::span<const std::span<const std::byte>> receive() override;
  int descriptor() const override { return -1; }

 private:
  friend class FakeNetwork;
  /// More are dropped, as by a socket whose buffer is full.
  static constexpr std::size_t inbox_max = 512;
  static constexpr std::size_t received_max = 32;

  FakeNetwork& network_;
  std::uint16_t port_;
  replication::LinkLimits limits_;
  std::map<replication::EndpointNumber, std::uint16_t> met_;
  std::deque<std::vector<std::byte>> inbox_;
  std::vector<std::vector<std::byte>> given_;
  std::vector<std::span<const std::byte>> views_;
};

}  // namespace llamada::links
