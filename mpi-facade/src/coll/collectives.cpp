#include "coll/collectives.hpp"

#include <algorithm>

namespace llamada::mpi::coll {

/// What hangs on the communicator.
class Collectives::Holder final : public CommunicatorExtension {
 public:
  Holder(Collectives& owner, std::unique_ptr<Channel> channel) : owner_(owner), channel_(std::move(channel)) {
    owner_.channels_.push_back(channel_.get());
  }
  ~Holder() override {
    std::erase(owner_.channels_, channel_.get());
    if (!owner_.is_leaving_) channel_->retire();
  }
  Channel* channel() { return channel_.get(); }

  std::uint32_t persistent_count = 0;  ///< collectives of the communicator with channels of their own

 private:
  Collectives& owner_;
  std::unique_ptr<Channel> channel_;
};

namespace {

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
  if (options_.describe_call) options.describe_call = options_.describe_call;
  options.after_publish = options_.after_publish;
  auto channel = Channel::open(world_, std::move(options));
  if (!channel) return propagate(channel);
  return std::make_unique<Holder>(*this, std::move(*channel));
}

Result<Channel*> Collectives::channel(Communicator& communicator) {
  if (!communicator.collectives) {
    auto holder = open(communicator, 0);
    if (!holder) return propagate(holder);
    communicator.collectives = std::move(*holder);
  }
  world_.arena().count(topics::Counter::collectives);
  return static_cast<Holder&>(*communicator.collectives).channel();
}

Result<Collectives::OwnChannel> Collectives::persistent_channel(Communicator& communicator) {
  auto shared = channel(communicator);
  if (!shared) return propagate(shared);
  auto holder = open(communicator, ++static_cast<Holder&>(*communicator.collectives).persistent_count);
  if (!holder) return propagate(holder);
  Channel* own = (*holder)->channel();
  return OwnChannel{std::move(*holder), own};
}

void Collectives::spare_channel(Communicator& communicator) {
  if (!communicator.collectives || communicator.is_inter()) return;
  Channel* channel = static_cast<Holder&>(*communicator.collectives).channel();
  if (channel->has_tasks()) return;  // The last of them ends it.
  // What is given up goes with the result.
  static_cast<void>(spare_channels_.keep({std::move(communicator.collectives), channel}));
}

void Collectives::skip_stale() {
  for (Channel* channel : channels_) channel->skip_stale();
}

}  // namespace llamada::mpi::coll
