#include "coll/spare_channels.hpp"

#include <algorithm>
#include <utility>

namespace llamada::mpi::coll {
namespace {

ChannelOffer::Name name_of(const Channel& channel) {
  // Members that go different ways in a collective whose lengths differ may differ in this, too.
  const std::uint64_t introduced = channel.is_introduced() ? 1 : 0;
  return {std::uint64_t{channel.context()} << 32 | channel.persistent(),
          introduced << 63 | channel.ordinal()};
}

bool is_for(const SpareChannel& spare, std::span<const int> members) {
  return std::ranges::equal(spare.channel->members().world_ranks(), members);
}

}  // namespace

SpareChannel SpareChannels::keep(SpareChannel spare) {
  const Channel& channel = *spare.channel;
  if (channel.size() == 1 || channel.fitting().ever_failed()) return spare;
  spare.channel->leave_communicator();
  spares_.push_back(std::move(spare));
  if (spares_.size() <= kept_max) return {};
  SpareChannel oldest = std::move(spares_.front());
  spares_.pop_front();
  return oldest;
}

std::vector<SpareChannel> SpareChannels::with(int world_rank) {
  std::vector<SpareChannel> found;
  std::erase_if(spares_, [&](SpareChannel& spare) {
    const bool has = std::ranges::find(spare.channel->members().world_ranks(), world_rank) !=
                     spare.channel->members().world_ranks().end();
    if (has) found.push_back(std::move(spare));
    return has;
  });
  return found;
}

ChannelOffer::ChannelOffer(SpareChannels& spares, std::span<const int> members, std::size_t count_max)
    : spares_(spares) {
  const auto is_offered = [&](const SpareChannel& spare) {
    return offered_.size() < count_max && (members.empty() || is_for(spare, members));
  };
  std::deque<SpareChannel> others;
  for (SpareChannel& spare : spares.spares_) {
    const bool offered = is_offered(spare);
    if (offered)
      offered_.push_back(std::move(spare));
    else
      others.push_back(std::move(spare));
  }
  spares.spares_ = std::move(others);
}

ChannelOffer::~ChannelOffer() {
  // Behind the others: what nobody else has does not stand in the way of the rest.
  for (SpareChannel& spare : offered_) spares_.spares_.push_back(std::move(spare));
}

ChannelOffer::Names ChannelOffer::names() const {
  Names names{};
  std::ranges::transform(offered_, names.begin(),
                         [](const SpareChannel& spare) { return name_of(*spare.channel); });
  return names;
}

std::unique_ptr<CommunicatorExtension> ChannelOffer::take(std::span<const int> members,
                                                          std::span<const Names> offers,
                                                          std::uint32_t context) {
  auto taken = offered_.end();
  for (auto spare = offered_.begin(); spare != offered_.end(); ++spare) {
    const Name name = name_of(*spare->channel);
    const auto has_it = [name](const Names& names) { return std::ranges::find(names, name) != names.end(); };
    if (!is_for(*spare, members) || !std::ranges::all_of(offers, has_it)) continue;
    // The same on all members, in whatever order they offer them.
    if (taken == offered_.end() || name < name_of(*taken->channel)) taken = spare;
  }
  if (taken == offered_.end()) return nullptr;
  taken->channel->change_communicator(context);
  auto holder = std::move(taken->holder);
  offered_.erase(taken);
  return holder;
}

}  // namespace llamada::mpi::coll
