#include "coll/agreement.hpp"

#include <array>

#include "coll/collectives.hpp"
#include "coll/movement.hpp"
#include "runtime/runtime.hpp"

namespace llamada::mpi {
namespace {

/// The channel of a communicator of several members.
Result<coll::Channel*> channel_of(Communicator& communicator) {
  return runtime().collectives->channel(communicator);
}

coll::Waiter& waiter() { return runtime().collectives->waiter(); }

}  // namespace

Status detail::allgather(Communicator& communicator, std::span<const std::byte> own,
                         std::span<std::byte> all) {
  if (communicator.size() == 1) return runtime().collectives->check_usable(communicator);
  auto channel = channel_of(communicator);
  if (!channel) return propagate(channel);
  std::vector<coll::Data> results;
  for (int member = 0; member < communicator.size(); ++member)
    results.push_back(coll::Data::of(all.subspan(static_cast<std::size_t>(member) * own.size(), own.size())));
  return coll::allgather(**channel, waiter(), coll::Data::of(own), results);
}

Status detail::broadcast(Communicator& communicator, std::span<std::byte> bytes, int root) {
  if (communicator.size() == 1 || bytes.empty()) return {};
  auto channel = channel_of(communicator);
  if (!channel) return propagate(channel);
  return coll::broadcast(**channel, waiter(), coll::Data::of(bytes), root);
}

Status meet(Communicator& communicator) {
  if (communicator.size() == 1) return {};
  auto channel = channel_of(communicator);
  if (!channel) return propagate(channel);
  return coll::barrier(**channel, waiter());
}

Result<std::vector<std::vector<std::byte>>> send_around(Communicator& communicator,
                                                        const std::vector<std::vector<std::byte>>& outgoing) {
  const auto size = static_cast<std::size_t>(communicator.size());
  const auto self = static_cast<std::size_t>(communicator.rank());
  std::vector<std::vector<std::byte>> incoming(size);
  incoming[self] = outgoing[self];
  if (size == 1) return incoming;
  auto channel = channel_of(communicator);
  if (!channel) return propagate(channel);
  const auto swap = [&](const auto& out, auto& in) {
    std::vector<coll::Data> contributions;
    std::vector<coll::Data> results;
    for (std::size_t member = 0; member < size; ++member) {
      contributions.push_back(coll::Data::of(std::as_bytes(std::span(out[member]))));
      results.push_back(coll::Data::of(std::as_bytes(std::span(in[member]))));
    }
    return coll::alltoall(**channel, waiter(), contributions, results);
  };
  std::vector<std::array<std::uint64_t, 1>> sizes_out(size);
  std::vector<std::array<std::uint64_t, 1>> sizes_in(size);
  for (std::size_t member = 0; member < size; ++member) sizes_out[member][0] = outgoing[member].size();
  if (auto status = swap(sizes_out, sizes_in); !status) return propagate(status);
  for (std::size_t member = 0; member < size; ++member)
    if (member != self) incoming[member].resize(sizes_in[member][0]);
  if (auto status = swap(outgoing, incoming); !status) return propagate(status);
  return incoming;
}

}  // namespace llamada::mpi
