#include <algorithm>

#include "p2p/direct_copies.hpp"
#include "p2p/incoming.hpp"
#include "p2p/outgoing.hpp"

// How a rank forgets another one that has ended, so that its slot can be a new process's; and how it leaves
// its logs, to go on in others.

namespace llamada::mpi {

void Incoming::part(int rank) {
  if (!has_met(rank)) return;
  std::erase(open_, rank);
  std::erase(missing_, rank);
  next_ = 0;
  ProgressHook* const link = world_.is_local(rank) ? nullptr : world_.link();
  streams_[static_cast<std::size_t>(rank)] = Stream{};
  log::ArenaWriter& own = world_.arena();
  const std::uint32_t checkpoint = world_.checkpoint();
  for (const log::LogKey key :
       {message_log_key(world_.rank(), checkpoint), bulk_log_key(world_.rank(), checkpoint)}) {
    if (link) {
      link->stop_reading(rank, key);
      continue;
    }
    std::uint32_t scanned = 0;
    const auto* cursor = log::find_cursor(own.reading(), key, static_cast<std::uint32_t>(rank), scanned);
    if (cursor) own.remove_cursor(const_cast<log::CursorEntry*>(cursor));
  }
}

void Incoming::lose(int rank) {
  if (!has_met(rank)) return;
  find_streams();
  Stream& stream = streams_[static_cast<std::size_t>(rank)];
  while (stream.open && stream.reader.ready()) drain(rank, stream);
  std::erase(open_, rank);
  std::erase(missing_, rank);
  next_ = 0;
  if (!stream.is_far) return;
  // Its copy may have the beginning of a record that never comes whole.
  stream.open = stream.may_be_brief = false;
  stream.reader = {};
  world_.link()->stop_reading(rank, message_log_key(world_.rank(), world_.checkpoint()));
}

std::vector<int> Incoming::strangers() const {
  std::vector<int> ranks;
  const int first = world_.world_first(), end = first + world_.world_size();
  for (int rank = 0; rank < static_cast<int>(streams_.size()); ++rank)
    if ((rank < first || rank >= end) && has_met(rank)) ranks.push_back(rank);
  return ranks;
}

void Outgoing::part(int rank) {
  const auto index = static_cast<std::size_t>(rank);
  if (index >= destinations_.size()) return;
  auto& to = destinations_[index];
  std::erase(busy_, to.get());
  if (last_sent_to_ == to.get()) last_sent_to_ = nullptr;
  if (to->open) to->log.discard();
  if (to->bulk.is_open) to->bulk.log.discard();
  if (ProgressHook* const link = world_.is_local(rank) ? nullptr : world_.link())
    for (const log::LogKey key :
         {message_log_key(rank, world_.checkpoint()), bulk_log_key(rank, world_.checkpoint())})
      link->withdraw(key);
  to = std::make_unique<Destination>();
  to->rank = rank;
}

std::uint64_t Outgoing::sent_count() const {
  std::uint64_t count = 0;
  for (const auto& to : destinations_) count += to->ordinals.total();
  return count;
}

class Outgoing::PastDestination final : public PastLog {
 public:
  PastDestination(World& world, std::unique_ptr<Destination> to)
      : world_(world), to_(std::move(to)), checkpoint_(world.checkpoint()) {}
  std::uint32_t checkpoint() const override { return checkpoint_; }
  void discard() override {
    if (ProgressHook* const link = world_.is_local(to_->rank) ? nullptr : world_.link())
      for (const log::LogKey key :
           {message_log_key(to_->rank, checkpoint_), bulk_log_key(to_->rank, checkpoint_)})
        link->withdraw(key);
    to_->log.discard();
    if (to_->bulk.is_open) to_->bulk.log.discard();
  }

 private:
  World& world_;
  std::unique_ptr<Destination> to_;
  std::uint32_t checkpoint_;
};

void Outgoing::leave_logs(std::vector<std::unique_ptr<PastLog>>& to) {
  for (auto& destination : destinations_)
    if (destination->open) to.push_back(std::make_unique<PastDestination>(world_, std::move(destination)));
  destinations_.clear();
}

void DirectCopies::part(int rank) {
  const auto index = static_cast<std::size_t>(rank);
  if (index >= peers_.size() || !peers_[index]) return;
  std::erase(active_, peers_[index].get());
  if (peers_[index]->own) world_.arena().free(peers_[index]->own_chunk);
  peers_[index].reset();
}

}  // namespace llamada::mpi
