#include "llamada/replication/carrier.hpp"

#include <algorithm>
#include <utility>

#include "llamada/base/rounding.hpp"
#include "peer.hpp"

namespace llamada::replication {
namespace {

constexpr std::size_t bulk_room_bytes = 256;
/// So that a sender at full rate does not keep this end from everything else.
constexpr int receives_max = 4;
constexpr Time bulk_looks_apart = std::chrono::microseconds(100);
/// Pieces of a log of this process are sent from where they lie; those of histories are copied.
std::size_t bulk_room_for_each(const CarrierOptions& options, const Link& bulk) {
  const std::size_t whole = rounded_up(bulk.limits().datagram_bytes_max, bulk_room_bytes);
  return options.histories != nullptr ? whole : bulk_room_bytes;
}

}  // namespace

Carrier::Carrier(const CarrierOptions& options, Link& small, Link& bulk, log::ArenaWriter& own)
    : Carrier(options, small, bulk, &own) {}

Carrier::Carrier(const CarrierOptions& options, Link& small, Link& bulk)
    : Carrier(options, small, bulk, nullptr) {}

Carrier::Carrier(const CarrierOptions& options, Link& small, Link& bulk, log::ArenaWriter* own)
    : options_(options),
      small_(small),
      bulk_(bulk),
      own_(own),
      held_(options.held_datagrams_max, small.limits().datagram_bytes_max),
      room_(small.limits().datagram_bytes_max),
      bulk_rooms_(bulk.limits().train_max * bulk_room_for_each(options, bulk)) {}

Carrier::~Carrier() = default;

Status Carrier::meet(EndpointNumber number, const PeerState& state) {
  const auto found = peers_.find(number);
  Peer* const known = found != peers_.end() ? found->second.get() : nullptr;
  if (known != nullptr && state.incarnation < known->state.incarnation)
    return failure(Errc::invalid_argument, "endpoint {} has incarnation {} already, and cannot become {}",
                   number, known->state.incarnation, state.incarnation);
  if (known != nullptr && known->state.is_done && !state.is_done)
    return failure(Errc::invalid_argument, "endpoint {} is done, and cannot come again", number);
  if (!state.is_lost && !state.is_done) {
    if (Status met = small_.meet(number, state.small); !met) return met;
    if (Status met = bulk_.meet(number, state.bulk); !met) return met;
  }
  auto& peer = peers_[number];
  if (!peer) peer = std::make_unique<Peer>(number, small_, bulk_, held_);
  const bool is_new_life = known != nullptr && state.incarnation > peer->state.incarnation;
  peer->state = state;
  if (peer->is_gone()) {
    end_catch_ups(*peer);
    // What these wait for no longer comes.
    peer->held.clear();
  }
  if (state.is_done)
    end(*peer);
  else if (is_new_life)
    begin_again(*peer);
  return {};
}

/// What both ends knew of each other.
void Carrier::forget(Peer& peer) {
  for (Lane* lane : {&peer.small, &peer.bulk}) lane->session.reset();
  peer.held.clear();
  peer.controls.clear();
  for (const auto& source : sources_)
    for (auto& follower : source->followers)
      if (follower.peer == &peer) follower.peer = nullptr;
  peer.served.clear();
  peer.ready.clear();
  peer.begun.clear();
  peer.pulls.clear();
  peer.unfollowed.clear();
  peer.left_early.clear();
  peer.free_aliases.insert(peer.free_aliases.end(), peer.parting.begin(), peer.parting.end());
  peer.parting.clear();
}

/// The peer is done. Its cursors let go of all logs, as those of a local reader that leaves.
void Carrier::end(Peer& peer) {
  forget(peer);
  for (const auto& source : sources_)
    if (Source::Follower* follower = source->find(peer.number)) follower->leave();
  // Pulls from it fail with the next work().
  note_due(Time{0});
}

/// The peer knows nothing of what was said so far.
void Carrier::begin_again(Peer& peer) {
  forget(peer);
  for (const auto& feed : peer.kept) {
    if (feed->goes_on())
      send_follow(*feed);
    else if (feed->state == Feed::State::ended)
      feed->state = Feed::State::idle;
  }
  for (const auto& pull : pulls_)
    if (pull->holder == &peer) ask_again(*pull);
}

Result<Carrier::OwnLog> Carrier::publish_to(log::LogWriter& log, log::LogKey key, EndpointNumber keeper) {
  auto cursor = keeper_cursor(key, keeper);
  if (!cursor) return propagate(cursor);
  log.add_reader(*cursor);
  return publish(log.index(), key, keeper, *cursor);
}

Result<Carrier::OwnLog> Carrier::publish_ended(std::uint32_t index, log::LogKey key, EndpointNumber keeper) {
  auto cursor = keeper_cursor(key, keeper);
  if (!cursor) return propagate(cursor);
  return publish(index, key, keeper, *cursor);
}

Result<log::CursorEntry*> Carrier::keeper_cursor(log::LogKey key, EndpointNumber keeper) {
  if (own_ == nullptr)
    return failure(Errc::unsupported, "endpoint {} has no arena to publish logs in",
                   options_.identity.endpoint);
  return own_->cursor(keeper_key(key), keeper);
}

Carrier::OwnLog Carrier::publish(std::uint32_t index, log::LogKey key, EndpointNumber keeper,
                                 log::CursorEntry* cursor) {
  const LogName name{options_.identity.endpoint, key};
  const auto [at, is_new] = source_of_.try_emplace(name, static_cast<OwnLog>(sources_.size()));
  if (is_new) {
    // In the place of a withdrawn one, if there is any.
    const auto free = std::ranges::find_if(sources_, [](const auto& each) { return each->is_withdrawn; });
    at->second = static_cast<OwnLog>(free - sources_.begin());
    auto source = std::make_unique<Source>();
    source->name = name;
    source->place = {.arena = own_->own(), .index = index};
    if (free == sources_.end())
      sources_.push_back(std::move(source));
    else
      *free = std::move(source);
  }
  Source& source = *sources_[at->second];
  if (source.find(keeper) == nullptr) source.followers.push_back({.keeper = keeper, .cursor = cursor});
  if (const auto peer = peers_.find(keeper); peer != peers_.end()) {
    Source::Follower& follower = *source.find(keeper);
    follower.has_left = peer->second->left_early.erase(name) > 0;
    if (follower.has_left || peer->second->state.is_done) follower.leave();
  }
  attach_waiting(source);
  return at->second;
}

/// Those that asked for the log before it was there.
void Carrier::attach_waiting(Source& source) {
  for (const auto& [number, peer] : peers_)
    for (const auto& served : peer->served)
      if (served && !served->is_attached() && served->name() == source.name) attach(*peer, *served);
}

void Carrier::attach(Peer& peer, ServedLog& served) {
  const auto at = source_of_.find(served.name());
  if (at == source_of_.end()) return;
  Source& source = *sources_[at->second];
  Source::Follower* follower = source.find(peer.number);
  // One that has left means the next log of this name.
  if (follower == nullptr || follower->has_left) return;
  if (!served.attach(source.place, follower->cursor)) {
    const Gone gone{.from = served.first_here(), .holder = options_.identity.endpoint};
    peer.controls.push_back(Item::of_control(Type::gone, served.alias(), gone));
    peer.served[served.alias()].reset();
  } else {
    follower->peer = &peer;
    follower->alias = served.alias();
    peer.make_ready(served.alias());
  }
  note_due(peer, Time{0});
}

void Carrier::grown(OwnLog log, Time now) {
  for (const auto& follower : sources_[log]->followers) {
    if (follower.peer == nullptr) continue;
    follower.peer->make_ready(follower.alias);
    pump(*follower.peer, now);
  }
}

void Carrier::push(EndpointNumber number, Time now) {
  const auto found = peers_.find(number);
  if (found == peers_.end()) return;
  Peer& peer = *found->second;
  for (const auto& served : peer.served)
    if (served && served->has_unsent()) peer.make_ready(served->alias());
  give_credit(peer, now);
  pump(peer, now);
}

bool Carrier::work(Time now) {
  bool has_come = false;
  for (int i = 0; i < receives_max; ++i) {
    const bool small = receive_small(now);
    const bool bulk = receive_bulk(now);
    if (!small && !bulk) break;
    has_come = true;
  }
  if (!has_come && now < due_) return false;
  attend_active(now);
  return has_come;
}

/// Serves the peers that something has come from or is due for. The others cost nothing, however many.
void Carrier::attend_active(Time now) {
  ask_for_pieces();
  due_ = never;
  expects_bulk_ = !pulls_.empty();
  for (std::size_t at = 0; at < active_.size();) {
    Peer& peer = *active_[at];
    if (peer.due <= now) {
      peer.due = never;
      apply_held(peer, now);
      give_credit(peer, now);
      pump(peer, now);
    }
    // While anything is under way its timer is due.
    expects_bulk_ |= peer.bulk.session.is_anything_under_way();
    if (peer.due != never) {
      note_due(peer.due);
      ++at;
      continue;
    }
    peer.is_active = false;
    active_[at] = active_.back();
    active_.pop_back();
  }
}

/// Each look is a system call, and as a rule only small frames come. A late look is needed all the same: for
/// a peer that has not heard that its last pieces came.
bool Carrier::receive_bulk(Time now) {
  if (!expects_bulk_ && open_copies_ == 0 && now < look_at_bulk_) return false;
  look_at_bulk_ = now + bulk_looks_apart;
  const auto received = bulk_.receive();
  if (received.empty()) return false;
  // The small link has what these pieces belong to, which may have come after the last look: a piece that is
  // ahead of its record is dropped.
  (void)receive_small(now);
  for (const auto& datagram : received) take(datagram, true, now);
  return true;
}

void Carrier::acknowledge_all(Time now) {
  // Where anything is unacknowledged, that is due some time.
  for (Peer* peer : active_)
    for (Lane* lane : {&peer->small, &peer->bulk}) {
      if (!lane->session.has_unacknowledged()) continue;
      lane->session.acknowledge_at_once();
      peer->due = Time{0};
    }
  attend_active(now);
}

bool Carrier::is_idle(const std::function<bool(EndpointNumber)>& counts) const {
  const auto has_all = [&counts](const auto& entry) {
    if (!counts(entry.first)) return true;
    const Peer& peer = *entry.second;
    const auto is_behind = [](const auto& served) { return served && served->has_unsent(); };
    return peer.is_gone() ||
           (!peer.small.session.is_anything_under_way() && !peer.bulk.session.is_anything_under_way() &&
            peer.controls.empty() && peer.pulls.empty() && std::ranges::none_of(peer.served, is_behind));
  };
  return std::ranges::all_of(peers_, has_all) &&
         std::ranges::none_of(sources_, [&](const auto& source) { return is_awaited(*source, counts); });
}

/// Whether a peer is still to ask for records of this log that are there.
bool Carrier::is_awaited(const Source& source, const std::function<bool(EndpointNumber)>& counts) const {
  if (source.is_withdrawn) return false;
  const log::LogEntry& entry = source.place.arena.log(source.place.index);
  if (entry.published.load(std::memory_order_relaxed) == 0) return false;
  return std::ranges::any_of(source.followers, [&](const Source::Follower& follower) {
    if (!counts(follower.keeper)) return false;
    const auto peer = peers_.find(follower.keeper);
    return follower.peer == nullptr && !follower.has_left &&
           (peer == peers_.end() || !peer->second->is_gone());
  });
}

Time Carrier::heard_at(EndpointNumber peer) const {
  const auto found = peers_.find(peer);
  return found != peers_.end() ? found->second->heard_at : Time{0};
}

void Carrier::note_due(Time due) { due_ = std::min(due_, due); }

void Carrier::note_due(Peer& peer, Time due) {
  if (due == never) return;
  peer.due = std::min(peer.due, due);
  note_due(due);
  if (!std::exchange(peer.is_active, true)) active_.push_back(&peer);
}

}  // namespace llamada::replication
