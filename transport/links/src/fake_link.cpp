#include "llamada/links/fake_link.hpp"

#include <algorithm>
#include <iterator>

namespace llamada::links {

using replication::Address;
using replication::Datagram;
using replication::EndpointNumber;
using replication::Time;

std::unique_ptr<FakeLink> FakeNetwork::make_link(const replication::LinkLimits& limits) {
  const auto port = static_cast<std::uint16_t>(links_.size());
  auto link = std::make_unique<FakeLink>(*this, port, limits);
  links_.push_back(link.get());
  return link;
}

void FakeNetwork::damage(std::vector<std::byte>& bytes) {
  if (random_.chance(1, 8)) {
    bytes.resize(random_.below(bytes.size() + 1));
    return;
  }
  for (std::uint64_t bits = 1 + random_.below(3); bits > 0; --bits)
    bytes[random_.below(bytes.size())] ^= static_cast<std::byte>(1U << random_.below(8));
}

void FakeNetwork::put_under_way(std::uint16_t to, std::vector<std::byte> bytes) {
  const auto spread = static_cast<std::uint64_t>((faults_.delay_max - faults_.delay_min).count());
  Time delay = faults_.delay_min + Time(static_cast<std::int64_t>(random_.below(spread + 1)));
  if (random_.chance(faults_.reordering, 1000))
    delay += Time(static_cast<std::int64_t>(
        random_.below(static_cast<std::uint64_t>(10 * faults_.delay_max.count()) + 1)));
  under_way_.emplace(now_ + delay, Flight{to, std::move(bytes)});
}

void FakeNetwork::carry(std::uint16_t from, std::uint16_t to, const Datagram& datagram) {
  if (cuts_.contains({from, to}) || random_.chance(faults_.loss, 1000)) return;
  std::vector<std::byte> bytes(datagram.head.begin(), datagram.head.end());
  bytes.insert(bytes.end(), datagram.tail.begin(), datagram.tail.end());
  if (random_.chance(faults_.doubling, 1000)) put_under_way(to, bytes);
  if (!bytes.empty() && random_.chance(faults_.corruption, 1000)) damage(bytes);
  put_under_way(to, std::move(bytes));
}

void FakeNetwork::advance(Time now) {
  now_ = std::max(now_, now);
  while (!under_way_.empty() && under_way_.begin()->first <= now_) {
    Flight flight = std::move(under_way_.begin()->second);
    under_way_.erase(under_way_.begin());
    FakeLink* const link = links_[flight.to];
    if (link != nullptr && link->inbox_.size() < FakeLink::inbox_max)
      link->inbox_.push_back(std::move(flight.bytes));
  }
}

Time FakeNetwork::due() const { return under_way_.empty() ? replication::never : under_way_.begin()->first; }

Status FakeLink::meet(EndpointNumber endpoint, const Address& address) {
  if (address.family != Address::Family::fake || address.port >= network_.links_.size())
    return failure(Errc::invalid_argument, "endpoint {} has no address on this network", endpoint);
  met_[endpoint] = address.port;
  return {};
}

std::size_t FakeLink::send(EndpointNumber to, std::span<const Datagram> datagrams) {
  const auto met = met_.find(to);
  if (met == met_.end()) return datagrams.size();
  for (const Datagram& datagram : datagrams) network_.carry(port_, met->second, datagram);
  return datagrams.size();
}

std::span<const std::span<const std::byte>> FakeLink::receive() {
  given_.clear();
  views_.clear();
  const std::size_t count = std::min(inbox_.size(), received_max);
  const auto end = inbox_.begin() + static_cast<std::ptrdiff_t>(count);
  std::move(inbox_.begin(), end, std::back_inserter(given_));
  inbox_.erase(inbox_.begin(), end);
  views_.assign(given_.begin(), given_.end());
  return views_;
}

}  // namespace llamada::links
