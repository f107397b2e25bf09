#pragma once

#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "llamada/base/check.hpp"
#include "llamada/base/random.hpp"
#include "llamada/links/fake_link.hpp"
#include "llamada/links/udp_link.hpp"
#include "world/in_process.hpp"

namespace llamada::mpi {

/// A link that loses, doubles and reorders some of what it sends, by a seed.
class UnreliableLink final : public replication::Link {
 public:
  UnreliableLink(std::unique_ptr<replication::Link> inner, std::uint64_t seed)
      : inner_(std::move(inner)), random_(seed) {}

  replication::LinkLimits limits() const override { return inner_->limits(); }
  Status meet(replication::EndpointNumber endpoint, const replication::Address& address) override {
    return inner_->meet(endpoint, address);
  }
  std::size_t send(replication::EndpointNumber to,
                   std::span<const replication::Datagram> datagrams) override {
    for (const replication::Datagram& datagram : datagrams) {
      if (random_.chance(1, 100)) continue;  // lost
      if (random_.chance(5, 100)) {
        keep(to, datagram);  // behind the next one
        continue;
      }
      (void)inner_->send(to, std::span(&datagram, 1));
      if (random_.chance(2, 100)) (void)inner_->send(to, std::span(&datagram, 1));
      send_kept();
    }
    return datagrams.size();
  }
  std::span<const std::span<const std::byte>> receive() override { return inner_->receive(); }
  int descriptor() const override { return inner_->descriptor(); }

 private:
  void keep(replication::EndpointNumber to, const replication::Datagram& datagram) {
    std::vector<std::byte> bytes(datagram.head.begin(), datagram.head.end());
    bytes.insert(bytes.end(), datagram.tail.begin(), datagram.tail.end());
    kept_.emplace_back(to, std::move(bytes));
  }
  void send_kept() {
    for (const auto& [to, bytes] : kept_) {
      const replication::Datagram late{bytes, {}};
      (void)inner_->send(to, std::span(&late, 1));
    }
    kept_.clear();
  }

  std::unique_ptr<replication::Link> inner_;
  Random random_;
  std::vector<std::pair<replication::EndpointNumber, std::vector<std::byte>>> kept_;
};

/// UDP sockets on the loopback interface, which the job keeps for all incarnations of its ranks.
class UdpJobLinks final : public JobLinks {
 public:
  explicit UdpJobLinks(int ranks, bool are_unreliable = false) : are_unreliable_(are_unreliable) {
    for (int i = 0; i < 2 * ranks; ++i) {
      auto socket = links::UdpLink::make_socket(loopback(), options(lane_of(i)));
      LLAMADA_CHECK(socket.has_value());
      addresses_.push_back(adopt(*socket, lane_of(i))->address().value());
      sockets_.push_back(std::move(*socket));
    }
  }

  std::unique_ptr<replication::Link> make(int rank, Lane lane) override {
    std::unique_ptr<replication::Link> link = adopt(sockets_[index(rank, lane)], lane);
    if (!are_unreliable_) return link;
    return std::make_unique<UnreliableLink>(std::move(link), index(rank, lane) + 1);
  }
  replication::Address address(int rank, Lane lane) const override { return addresses_[index(rank, lane)]; }

 private:
  static replication::Address loopback() {
    return {.family = replication::Address::Family::ipv4, .ip = {127, 0, 0, 1}};
  }
  static links::UdpOptions options(Lane lane) { return {.has_trains = lane == Lane::bulk}; }
  static Lane lane_of(int index) { return index % 2 == 0 ? Lane::small : Lane::bulk; }
  static std::size_t index(int rank, Lane lane) {
    return 2 * static_cast<std::size_t>(rank) + (lane == Lane::bulk ? 1 : 0);
  }
  static std::unique_ptr<links::UdpLink> adopt(const FileDescriptor& socket, Lane lane) {
    auto link = links::UdpLink::adopt(FileDescriptor(::dup(socket.get())), options(lane));
    LLAMADA_CHECK(link.has_value());
    return std::move(*link);
  }

  bool are_unreliable_;
  std::vector<FileDescriptor> sockets_;
  std::vector<replication::Address> addresses_;
};

/// Links of a network in memory, for ranks that are driven in turn by one thread.
class FakeJobLinks final : public JobLinks {
 public:
  FakeJobLinks(links::FakeNetwork& network, int ranks) {
    for (int i = 0; i < 2 * ranks; ++i)
      links_.push_back(network.make_link({.datagram_bytes_max = 1472, .train_max = i % 2 == 0 ? 1U : 8U}));
    for (const auto& link : links_) addresses_.push_back(link->address());
  }
  /// Once for each rank.
  std::unique_ptr<replication::Link> make(int rank, Lane lane) override {
    return std::move(links_[index(rank, lane)]);
  }
  replication::Address address(int rank, Lane lane) const override { return addresses_[index(rank, lane)]; }

 private:
  static std::size_t index(int rank, Lane lane) {
    return 2 * static_cast<std::size_t>(rank) + (lane == Lane::bulk ? 1 : 0);
  }
  std::vector<std::unique_ptr<links::FakeLink>> links_;
  std::vector<replication::Address> addresses_;
};

/// What a suite's jobs use between nodes, as LLAMADA_TEST_LINKS says: "udp", "unreliable" (UDP that loses,
/// doubles and reorders), or nothing: ranks read each other's logs where they lie.
inline std::shared_ptr<JobLinks> job_links(int ranks) {
  const char* text = std::getenv("LLAMADA_TEST_LINKS");
  if (text == nullptr) return nullptr;
  return std::make_shared<UdpJobLinks>(ranks, std::string_view(text) == "unreliable");
}

}  // namespace llamada::mpi
