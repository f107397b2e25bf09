#include "coll/awaits_collective.hpp"

#include <span>
#include <utility>

#include "coll/collectives.hpp"
#include "runtime/runtime.hpp"

namespace llamada::mpi::coll {
namespace {

bool has_root(Kind kind) {
  return kind == Kind::bcast || kind == Kind::scatter || kind == Kind::gather || kind == Kind::reduce;
}

/// A channel that had another communicator before keeps that one's context.
std::string name_of(const Channel& channel) {
  const Communicator* found = nullptr;
  if (const Runtime* runtime = runtime_if_any())
    runtime->for_each_communicator([&](const Communicator& each) {
      if (Collectives::look_at_channel(each) == &channel) found = &each;
    });
  return found ? found->description() : name_of_context(channel.context());
}

}  // namespace

std::uint64_t identity_of(const Channel& channel) {
  // Disjoint communicators may have one context.
  constexpr std::uint32_t prime = 16777619;
  std::uint32_t hash = 2166136261U;
  const auto mix = [&hash](std::uint32_t value) { hash = (hash ^ value) * prime; };
  for (const int rank : channel.members().world_ranks()) mix(static_cast<std::uint32_t>(rank));
  mix(channel.persistent());
  return std::uint64_t{channel.context()} << 32 | hash;
}

void AwaitsCollective::describe(waits::Report& report) const {
  const Members& members = channel_.members();
  const std::span<const int> all(members.world_ranks());
  waits::Awaited awaited;
  awaited.kind = waits::Kind::collective;
  awaited.ranks = waits::Ranks::of(all);
  awaited.communicator = identity_of(channel_);
  awaited.ordinal = channel_.ordinal();
  if (members.peer_count() == members.size()) awaited.operation = to_string(channel_.kind());
  if (has_root(channel_.kind()) && root_ >= 0 && root_ < members.size())
    awaited.root = members.world_rank(root_);
  awaited.name = name_of(channel_);
  report.add_awaited(std::move(awaited));
}

}  // namespace llamada::mpi::coll
