#include "coll/collectives.hpp"

#include <algorithm>

#include "coll/awaits_collective.hpp"
#include "coll/movement.hpp"

namespace llamada::mpi::coll {

Collectives::Holder::Holder(Collectives& owner, std::unique_ptr<Channel> channel)
    : owner_(owner), channel_(std::move(channel)) {
  owner_.channels_.push_back(channel_.get());
}

std::unique_ptr<Channel> Collectives::Holder::leave() {
  std::erase(owner_.channels_, channel_.get());
  channel_->retire();
  return std::move(channel_);
}

Collectives::Holder::~Holder() {
  if (!channel_) return;
  std::erase(owner_.channels_, channel_.get());
  if (owner_.is_leaving_) return;
  // Nobody would look there again.
  if (owner_.lost_.empty()) owner_.lost_ = channel_->left_over();
  channel_->retire();
  owner_.keep_retired(std::move(channel_));
}

/// While histories are kept, a replacement of any member may read the log again.
void Collectives::keep_retired(std::unique_ptr<Channel> channel) {
  if (options_.keep_all && world_.is_protected()) return;
  retired_.push_back(std::move(channel));
  if (retired_.size() >= retired_look_at_) give_back_retired();
}

void Collectives::give_back_retired() {
  std::erase_if(retired_, [](const auto& channel) { return channel->give_back(); });
  retired_look_at_ = 2 * retired_.size() + retired_before_look;
}

namespace {

class PastChannel final : public PastLog {
 public:
  PastChannel(std::uint32_t checkpoint, std::unique_ptr<Channel> channel)
      : channel_(std::move(channel)), checkpoint_(checkpoint) {}
  std::uint32_t checkpoint() const override { return checkpoint_; }
  void discard() override { channel_->discard(); }

 private:
  std::unique_ptr<Channel> channel_;
  std::uint32_t checkpoint_;
};

}  // namespace

void Collectives::pass_checkpoint(std::span<Communicator* const> communicators,
                                  std::vector<std::unique_ptr<PastLog>>& past) {
  const auto leave = [&](std::unique_ptr<CommunicatorExtension>& holder) {
    if (!holder) return;
    past.push_back(std::make_unique<PastChannel>(world_.checkpoint(), static_cast<Holder&>(*holder).leave()));
    holder.reset();
  };
  for (Communicator* communicator : communicators) leave(communicator->collectives);
  for (SpareChannel& spare : spare_channels_.take_all()) leave(spare.holder);
  known_.clear();
  lost_.clear();
}

bool Collectives::is_idle() const {
  return std::ranges::none_of(channels_, [](const Channel* channel) { return channel->turns().has_tasks(); });
}

Status Collectives::take_over(std::function<bool()> may_contribute) {
  options_.may_contribute = std::move(may_contribute);
  lost_.clear();
  for (Channel* channel : channels_)
    if (auto taken = channel->take_over(options_.may_contribute); !taken) return taken;
  return {};
}

void Collectives::part(int world_rank) {
  for (SpareChannel& spare : spare_channels_.with(world_rank)) spare.holder.reset();
  for (Channel* channel : channels_) channel->part(world_rank);
  for (const auto& channel : retired_) channel->part(world_rank);
  give_back_retired();
}

namespace {

constexpr std::chrono::milliseconds between_damage_looks{250};

void add_members(Channel::Options& options, const Communicator& communicator) {
  const auto own = communicator.group()->members();
  options.members.assign(own.begin(), own.end());
  options.self = communicator.rank();
  if (!communicator.is_inter()) return;
  const auto others = communicator.remote_group()->members();
  const bool own_first = own.front() < others.front();
  options.members.insert(own_first ? options.members.end() : options.members.begin(), others.begin(),
                         others.end());
  options.self += own_first ? 0 : static_cast<int>(others.size());
  options.first_peer = own_first ? static_cast<int>(own.size()) : 0;
  options.peer_count = static_cast<int>(others.size());
}

}  // namespace

Result<std::unique_ptr<Collectives::Holder>> Collectives::open(const Communicator& communicator,
                                                               std::uint32_t persistent) {
  Channel::Options options;
  options.context = communicator.context();
  options.persistent = persistent;
  add_members(options, communicator);
  options.keep_all = options_.keep_all;
  options.piece_bytes = options_.piece_bytes;
  options.bound_bytes = options_.log_bytes_max;
  if (options_.describe_call) options.describe_call = options_.describe_call;
  options.after_publish = options_.after_publish;
  options.may_contribute = options_.may_contribute;
  options.look_for_culprit = options_.look_for_culprit;
  if (options_.keep_all) known_.insert({options.context, persistent});
  auto channel = Channel::open(world_, std::move(options));
  if (!channel) return propagate(channel);
  return std::make_unique<Holder>(*this, std::move(*channel));
}

Status Collectives::check_revoked(const Communicator& communicator) const {
  // Where each collective fails at once, this may be all that hears of a revocation.
  const Channel* const made = look_at_channel(communicator);
  if (made && made->fitting().ever_failed())
    waiter_.wait_until([looks = 0]() mutable { return looks++ > 0; });
  if (!options_.losses->is_revoked(communicator.context())) return {};
  return failure(Errc::revoked, "a process has revoked it");
}

Result<Channel*> Collectives::make_channel(Communicator& communicator) {
  auto holder = open(communicator, 0);
  if (!holder) return propagate(holder);
  communicator.collectives = std::move(*holder);
  return channel_if_made(communicator);
}

Result<Collectives::OwnChannel> Collectives::persistent_channel(Communicator& communicator) {
  auto shared = channel(communicator);
  if (!shared) return propagate(shared);
  const std::uint32_t number = ++static_cast<Holder&>(*communicator.collectives).persistent_count;
  ++persistent_count_;
  if (communicator.persistents_before + number > new_persistents && !communicator.is_inter()) {
    auto spare = common_spare(communicator, **shared);
    if (!spare) return propagate(spare);
    if (*spare) {
      Channel* own = static_cast<Holder&>(**spare).channel();
      return OwnChannel{std::move(*spare), own};
    }
  }
  auto holder = open(communicator, number);
  if (!holder) return propagate(holder);
  Channel* own = (*holder)->channel();
  return OwnChannel{std::move(*holder), own};
}

/// A spare channel that all members have; null if there is none.
Result<std::unique_ptr<CommunicatorExtension>> Collectives::common_spare(Communicator& communicator,
                                                                         Channel& channel) {
  const auto members = communicator.group()->members();
  if (members.size() == 1) return std::unique_ptr<CommunicatorExtension>();
  ChannelOffer offer(spare_channels_, members);
  std::vector<ChannelOffer::Names> offers(members.size());
  std::vector<Data> results;
  for (auto& names : offers) results.push_back(Data::of(std::as_writable_bytes(std::span(&names, 1))));
  const auto self = static_cast<std::size_t>(communicator.rank());
  offers[self] = offer.names();
  auto gathered = allgather(channel, waiter_, results[self], results);
  if (!gathered) return propagate(gathered);
  return offer.take(members, offers, communicator.context());
}

void Collectives::spare_persistent(OwnChannel own) {
  if (!own.channel->members().is_intra()) return;
  // What is given up goes with the result.
  static_cast<void>(spare_channels_.keep({std::move(own.holder), own.channel}));
}

void Collectives::spare_channel(Communicator& communicator) {
  if (!communicator.collectives || communicator.is_inter()) return;
  Channel* channel = static_cast<Holder&>(*communicator.collectives).channel();
  if (channel->turns().has_tasks()) return;  // The last of them ends it.
  // What is given up goes with the result.
  static_cast<void>(spare_channels_.keep({std::move(communicator.collectives), channel}));
}

std::string Collectives::left_over() {
  if (!options_.may_contribute) return {};
  if (!lost_.empty()) return lost_;
  for (Channel* channel : channels_)
    if (std::string left = channel->left_over(); !left.empty()) return left;
  const auto arena = world_.arena().reading();
  for (std::uint32_t index = 0; index < arena.log_count(); ++index) {
    const log::LogEntry& log = arena.log(index);
    const log::LogKey key{log.key_high, log.key_low};
    const auto name = name_of_collective_log(key);
    if (!name || checkpoint_of_log(key) != world_.checkpoint() || known_.contains(*name)) continue;
    if (log::LogReader::open(arena, index).peek())
      return fmt::format("a collective on the communicator with context {}", name->first);
  }
  return {};
}

void Collectives::skip_stale() {
  for (Channel* channel : channels_) channel->skip_stale();
  const auto now = clock_.monotonic();
  if (now < next_damage_look_) return;
  next_damage_look_ = now + between_damage_looks;
  look_for_damage();
}

void Collectives::end_those_in_vain() {
  if (!is_anything_lost()) return;
  for (Channel* channel : channels_) channel->look_at_losses(*options_.losses);
}

void Collectives::describe(waits::Report& report) const {
  for (const Channel* channel : channels_) {
    if (report.positions.size() == waits::positions_max) {
      report.has_all_positions = false;
      return;
    }
    report.positions.push_back({identity_of(*channel), channel->ordinal(), !channel->turns().is_idle()});
  }
}

void Collectives::look_for_damage() {
  for (Channel* channel : channels_) channel->look_for_damage();
}

}  // namespace llamada::mpi::coll
