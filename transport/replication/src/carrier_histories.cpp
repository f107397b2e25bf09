// How a carrier serves logs that other processes write, and asks for them beside the holders that it follows.
#include <algorithm>

#include "peer.hpp"

namespace llamada::replication {

Result<Carrier::Copy*> Carrier::find_to_catch_up(const LogName& name, EndpointNumber holder) {
  const auto copy = copies_.find(name);
  const auto found = peers_.find(holder);
  if (copy == copies_.end() || found == peers_.end())
    return failure(Errc::invalid_argument,
                   "log {:x}.{:x} of rank {} cannot be caught up with at endpoint {}: {}", name.key.high,
                   name.key.low, name.writer, holder,
                   copy == copies_.end() ? "no copy of it is kept" : "that was never met");
  if (copy->second.followed != nullptr && copy->second.followed->holder == found->second.get())
    return failure(Errc::invalid_argument, "log {:x}.{:x} of rank {} follows endpoint {} already",
                   name.key.high, name.key.low, name.writer, holder);
  return &copy->second;
}

Status Carrier::catch_up(EndpointNumber holder, const LogName& name) {
  auto copy = find_to_catch_up(name, holder);
  if (!copy) return propagate(copy);
  if ((*copy)->catching_up() != nullptr) return {};
  return ask_history(**copy, *peers_.at(holder));
}

/// By another alias: what comes under the old one is dropped.
Status Carrier::catch_up_anew(EndpointNumber holder, const LogName& name) {
  auto copy = find_to_catch_up(name, holder);
  if (!copy) return propagate(copy);
  if (Feed* const old = (*copy)->find(*peers_.at(holder))) {
    if (old->state == Feed::State::catches_up) end_catch_up(*old);
    std::erase((*copy)->feeds, old);
    part(*old);
  }
  return ask_history(**copy, *peers_.at(holder));
}

bool Carrier::is_catching_up(const LogName& name) const {
  const auto copy = copies_.find(name);
  return copy != copies_.end() && copy->second.catching_up() != nullptr;
}

bool Carrier::has_caught_up(EndpointNumber holder, const LogName& name) const {
  const auto copy = copies_.find(name);
  const auto found = peers_.find(holder);
  if (copy == copies_.end() || found == peers_.end()) return false;
  const Feed* const feed = copy->second.find(*found->second);
  return feed != nullptr && feed->state == Feed::State::ended;
}

Status Carrier::ask_history(Copy& copy, Peer& holder) {
  auto feed = feed_from(copy, holder);
  if (!feed) return propagate(feed);
  Feed& from = **feed;
  if (from.state != Feed::State::ended || from.end != copy.kept->log().published()) {
    from.state = Feed::State::catches_up;
    send_follow(from);
    return {};
  }
  // The holder stands where the copy ends. One question is enough for all logs there.
  if (copy.kept->is_short_of_credit(from))
    if (const auto credit = copy.kept->credit(from))
      holder.controls.push_back(Item::of_control(Type::credit, from.alias, *credit));
  const auto is_look = [](const Item& item) { return item.control_type == Type::look; };
  if (std::ranges::none_of(holder.controls, is_look))
    holder.controls.push_back(Item::of_control(Type::look, 0, Look{}));
  note_due(holder, Time{0});
  return {};
}

/// False: not yet.
bool Carrier::take_end(Peer& peer, LogNumber alias, const End& end) {
  Feed* const feed = peer.find_feed(alias);
  if (feed == nullptr) return true;
  // It answers an older FOLLOW: no record of the last one has come, so none can have been sent before its
  // end.
  if (!feed->has_begun && end.record + 1 != feed->from) return true;
  // It has overtaken pieces of the last record.
  if (feed->has_begun && feed->copy->is_open() && end.record > feed->copy->log().published()) return false;
  const bool was_catching_up = feed->state == Feed::State::catches_up;
  if (was_catching_up) {
    end_catch_up(*feed);
    feed->state = Feed::State::ended;
    feed->end = end.record;
  }
  if (options_.events != nullptr) options_.events->ended(feed->copy->name(), end);
  return true;
}

/// Whoever waits for it is followed now.
void Carrier::end_catch_up(Feed& feed) {
  feed.state = Feed::State::idle;
  const Copy& copy = copies_.at(feed.copy->name());
  if (copy.followed == nullptr || copy.followed->state != Feed::State::waits) return;
  copy.followed->state = Feed::State::follows;
  send_follow(*copy.followed);
}

/// Nothing comes from this holder any more.
void Carrier::end_catch_ups(Peer& holder) {
  for (const auto& feed : holder.kept)
    if (feed->state == Feed::State::catches_up || feed->state == Feed::State::ended) end_catch_up(*feed);
}

/// `before`: what was served under the same alias.
void Carrier::serve_history(Peer& peer, ServedLog& served, const ServedLog* before) {
  const LogNumber alias = served.alias();
  Histories* const histories = options_.histories;
  const auto place = histories != nullptr ? histories->find(served.name(), peer.number) : std::nullopt;
  if (!place) {
    if (served.has_ended()) return;
    served.end();
    peer.controls.push_back(Item::of_control(Type::end, alias, End{served.next() - 1}));
  } else if (served.attach_history(*place,
                                   before != nullptr && before->name() == served.name() ? before : nullptr)) {
    peer.make_ready(alias);
  } else {
    const Gone gone{.from = served.first_here(), .holder = options_.identity.endpoint};
    peer.controls.push_back(Item::of_control(Type::gone, alias, gone));
    peer.served[alias].reset();
  }
  note_due(peer, Time{0});
}

void Carrier::take_look(Peer& peer) {
  for (std::size_t alias = 0; alias < peer.served.size(); ++alias) {
    ServedLog* const served = peer.served[alias].get();
    if (served == nullptr || !served->has_ended() || served->name().writer == options_.identity.endpoint)
      continue;
    if (!served->is_history() || served->has_stopped())
      serve_history(peer, *served, nullptr);
    else if (served->go_on())
      peer.make_ready(static_cast<LogNumber>(alias));
  }
}

}  // namespace llamada::replication
