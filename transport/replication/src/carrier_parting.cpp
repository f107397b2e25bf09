// How keepers and holders let go of a log that is read no more. The keeper's alias is free when the holder
// has said so behind everything that bears it: then no datagram of the old log can be taken for one of the
// next.
#include <algorithm>

#include "llamada/log/log_reader.hpp"
#include "peer.hpp"

namespace llamada::replication {

void Carrier::unfollow(const LogName& name) {
  const auto found = copies_.find(name);
  if (found == copies_.end()) return;
  Copy& copy = found->second;
  for (auto pull = pulls_.begin(); (pull = std::ranges::find_if(pulls_, [&](const auto& each) {
                                      return each->name == name;
                                    })) != pulls_.end();)
    finish_pull(pull, false);
  for (Feed* const feed : copy.feeds) part(*feed);
  if (copy.kept->is_open()) --open_copies_;
  copy.kept->discard();
  copies_.erase(found);
}

/// Its copy has it no longer.
void Carrier::part(Feed& feed) {
  Peer& holder = *feed.holder;
  feed.state = Feed::State::idle;
  feed.copy = nullptr;
  if (holder.is_gone()) {
    // It sends nothing before it begins anew, and what it had sent is dropped.
    holder.free_aliases.push_back(feed.alias);
  } else {
    holder.parting.push_back(feed.alias);
    holder.controls.push_back(Item::of_control(Type::unfollow, feed.alias, Unfollow{}));
    note_due(holder, Time{0});
  }
}

void Carrier::take_unfollow(Peer& peer, LogNumber alias) {
  if (alias >= options_.follows_max) return count(FrameFault::malformed);
  if (const ServedLog* const served = peer.find_served(alias)) {
    // A history has no follower, and its writer is told by itself.
    if (served->name().writer == options_.identity.endpoint) let_go(peer, served->name());
    peer.served[alias].reset();
  }
  std::erase(peer.ready, alias);
  std::erase(peer.begun, alias);
  std::erase_if(peer.pulls, [alias](const ServedPull& pull) { return pull.log == alias; });
  peer.unfollowed.push_back(alias);
  note_due(peer, Time{0});
}

/// The keeper reads this log of the own process no more.
void Carrier::let_go(Peer& keeper, const LogName& name) {
  const auto at = source_of_.find(name);
  Source::Follower* const follower =
      at != source_of_.end() ? sources_[at->second]->find(keeper.number) : nullptr;
  if (follower == nullptr) {
    keeper.left_early.insert(name);
    return;
  }
  follower->has_left = true;
  follower->peer = nullptr;
  follower->leave();
}

/// Small datagrams are applied in their order. Those with pieces are not, so all of these must have come
/// before.
void Carrier::answer_unfollows(Peer& peer) {
  if (peer.unfollowed.empty()) return;
  const Session& bulk = peer.bulk.session;
  std::erase_if(peer.unfollowed, [&](LogNumber alias) {
    for (std::uint64_t number = bulk.first_under_way(); number < bulk.next_number(); ++number)
      if (peer.bulk.item(number).log == alias) return false;
    peer.controls.push_back(Item::of_control(Type::unfollowed, alias, Unfollowed{}));
    return true;
  });
}

bool Carrier::is_read_by(log::LogKey key, EndpointNumber keeper) const {
  const auto at = source_of_.find({options_.identity.endpoint, key});
  if (at == source_of_.end()) return false;
  const Source::Follower* const follower = sources_[at->second]->find(keeper);
  const auto peer = peers_.find(keeper);
  return follower != nullptr && !follower->has_left && (peer == peers_.end() || !peer->second->state.is_done);
}

void Carrier::withdraw(log::LogKey key) {
  const auto at = source_of_.find({options_.identity.endpoint, key});
  if (at == source_of_.end()) return;
  Source& source = *sources_[at->second];
  for (const Source::Follower& follower : source.followers) {
    if (follower.peer != nullptr) follower.peer->served[follower.alias].reset();
    own_->remove_cursor(follower.cursor);
  }
  source.followers.clear();
  source.place = {};
  source.is_withdrawn = true;
  source_of_.erase(at);
}

}  // namespace llamada::replication
