// What a carrier makes of the frames that come.
#include <cstring>
#include <utility>

#include "peer.hpp"

namespace llamada::replication {

bool Carrier::receive_small(Time now) {
  const auto received = small_.receive();
  for (const auto& datagram : received) take(datagram, false, now);
  return !received.empty();
}

void Carrier::count(FrameFault fault) {
  ++faults_[static_cast<std::size_t>(fault)];
  if (options_.events != nullptr) options_.events->dropped(fault);
}

void Carrier::take(std::span<const std::byte> datagram, bool is_bulk, Time now) {
  const CheckedFrame frame = check_frame(datagram, options_.identity);
  if (frame.fault != FrameFault::none) return count(frame.fault);
  const FrameHead& head = frame.head;
  Peer* const from = find_or_introduce(head.from);
  if (from == nullptr) return count(FrameFault::other_life);
  Peer& peer = *from;
  // A higher incarnation than this end has heard of: it comes again, when it has.
  if (peer.is_gone() || head.from_incarnation != peer.state.incarnation ||
      head.to_incarnation != options_.identity.incarnation)
    return count(FrameFault::other_life);
  if (((head.flags & frame_is_bulk) != 0) != is_bulk || !is_well_formed(frame.body))
    return count(FrameFault::malformed);
  note_due(peer, now);
  Lane& lane = peer.lane(is_bulk);
  const bool is_acknowledged = take_acknowledgement(peer, lane, head, now);
  const bool is_new = head.number != 0 && take_number(peer, lane, frame, datagram, now);
  // A frame that a stranger sends again is no sign of life, and says nothing of now.
  if (is_acknowledged || is_new) peer.heard_at = now;
  if (is_new) lane.session.set_peer_answers_at_once((head.flags & frame_answers_at_once) != 0);
}

/// Whether it says anything new.
bool Carrier::take_acknowledgement(Peer& peer, Lane& lane, const FrameHead& head, Time now) {
  const auto applied = lane.session.acknowledged(head.seen, (head.flags & frame_answers_at_once) != 0, now);
  for (std::uint64_t number = applied.first; number <= applied.last; ++number) {
    const Item& item = lane.item(number);
    if (item.kind == Item::Kind::control) continue;
    if (ServedLog* served = peer.find_served(item.log)) served->applied(item);
  }
  return applied.is_news;
}

/// Whether the datagram was not here before.
bool Carrier::take_number(Peer& peer, Lane& lane, const CheckedFrame& frame,
                          std::span<const std::byte> datagram, Time now) {
  const std::uint64_t number = frame.head.number;
  Session& session = lane.session;
  const bool is_bulk = &lane == &peer.bulk;
  switch (session.arrives(number, now)) {
    case Session::Arrival::next:
      if (apply(peer, frame.head, frame.body)) {
        session.applied(now);
        if (is_bulk) return true;
        // It may be held, because it could not be applied when it came first.
        peer.held.give_back(number);
        apply_held(peer, now);
      } else if (!is_bulk) {
        (void)peer.held.hold(number, session.applied_all(), datagram);
      }
      return true;
    case Session::Arrival::ahead:
      if (is_bulk ? apply(peer, frame.head, frame.body)
                  : peer.held.hold(number, session.applied_all(), datagram))
        session.came(number, now);
      return true;
    case Session::Arrival::before:
      count(FrameFault::repeated);
      return false;
    case Session::Arrival::too_far:
      return false;
  }
  return false;
}

void Carrier::apply_held(Peer& peer, Time now) {
  Session& session = peer.small.session;
  for (std::uint64_t next = session.applied_all() + 1;; ++next) {
    const auto held = peer.held.find(next);
    if (!held) return;
    FrameHead head;
    std::memcpy(&head, held->data(), sizeof(head));
    if (!apply(peer, head, held->subspan(frame_head_bytes))) return note_due(peer, now + retry_after);
    session.applied(now);
    peer.held.give_back(next);
  }
}

/// Acquire, at both ends: whoever has recorded something behind the mark of a cut has seen its number before,
/// and so has this process when it sends what follows from that, or applies it.
std::uint32_t Carrier::present_cut() const {
  return options_.cut == nullptr ? 0
                                 : static_cast<std::uint32_t>(options_.cut->load(std::memory_order_acquire));
}

/// False: it cannot be applied now.
bool Carrier::apply(Peer& peer, const FrameHead& head, std::span<const std::byte> body) {
  if (static_cast<std::int32_t>(head.cut - present_cut()) > 0) return false;
  SubmessageReader reader(body);
  while (const auto message = reader.next())
    if (!apply(peer, *message)) return false;
  return true;
}

bool Carrier::apply(Peer& peer, const Submessage& message) {
  const LogNumber alias = message.head.log;
  switch (message.head.type) {
    case Type::records:
      return apply_to_copy(peer, message);
    case Type::piece:
      if ((message.head.flags & piece_was_pulled) == 0) return apply_to_copy(peer, message);
      take_pulled(peer, alias, *read_piece(message.body));
      return true;
    case Type::follow:
      take_follow(peer, alias, *read_follow(message.body));
      return true;
    case Type::credit:
      if (ServedLog* served = peer.find_served(alias)) {
        served->set_credit(read_credit(message.body)->bytes);
        peer.make_ready(alias);
      }
      return true;
    case Type::pull:
      take_pull(peer, alias, *read_pull(message.body));
      return true;
    case Type::gone:
      take_gone(peer, alias, *read_gone(message.body));
      return true;
    case Type::unfollow:
      take_unfollow(peer, alias);
      return true;
    case Type::unfollowed:
      if (std::erase(peer.parting, alias) > 0) peer.free_aliases.push_back(alias);
      return true;
    case Type::end:
      return take_end(peer, alias, *read_end(message.body));
    case Type::look:
      take_look(peer);
      return true;
  }
  return true;
}

bool Carrier::apply_to_copy(Peer& peer, const Submessage& message) {
  if (message.head.type == Type::records) return apply_records(peer, message);
  const PieceBody piece = *read_piece(message.body);
  // It has overtaken its record's beginning. Behind that it is taken, or dropped as that was.
  if (piece.piece.begun_by > peer.small.session.applied_all()) return false;
  Feed* const feed = peer.find_feed(message.head.log);
  if (feed == nullptr) return true;
  const bool was_open = feed->copy->is_open();
  const auto outcome = feed->copy->apply(piece);
  note_open(was_open, *feed->copy);
  return take_outcome(*feed, outcome);
}

bool Carrier::apply_records(Peer& peer, const Submessage& message) {
  Feed* const feed = peer.find_feed(message.head.log);
  // Of a log that is followed elsewhere by now.
  if (feed == nullptr) return true;
  const RecordsReader records(message.body);
  if (!feed->has_begun) {
    // What was sent before the holder had the last FOLLOW may leave a gap.
    if (records.number() != feed->from) return true;
    feed->has_begun = true;
  }
  if (feed->state == Feed::State::ended) feed->state = Feed::State::catches_up;
  const bool was_open = feed->copy->is_open();
  const auto outcome = feed->copy->apply(records);
  note_open(was_open, *feed->copy);
  return take_outcome(*feed, outcome);
}

bool Carrier::take_outcome(Feed& feed, KeptCopyOutcome outcome) {
  if (outcome == KeptCopyOutcome::wrong) {
    count(FrameFault::malformed);
    // It may be asked again, from another record on.
    if (feed.state == Feed::State::catches_up) end_catch_up(feed);
  }
  if (outcome == KeptCopyOutcome::not_now) return false;
  lacks_memory_ = outcome == KeptCopyOutcome::no_room;
  return !lacks_memory_;
}

/// Endpoints that may ask for histories are met when their first frame comes.
Peer* Carrier::find_or_introduce(EndpointNumber number) {
  const auto found = peers_.find(number);
  if (found != peers_.end()) return found->second.get();
  if (options_.histories == nullptr) return nullptr;
  const auto state = options_.histories->introduce(number);
  return state && meet(number, *state) ? peers_.at(number).get() : nullptr;
}

void Carrier::take_follow(Peer& peer, LogNumber alias, const Follow& follow) {
  if (alias >= options_.follows_max) return count(FrameFault::malformed);
  if (alias >= peer.served.size()) peer.served.resize(alias + std::size_t{1});
  auto& served = peer.served[alias];
  const auto before =
      std::exchange(served, std::make_unique<ServedLog>(alias, follow, small_.limits().datagram_bytes_max,
                                                        options_.eager_bytes_max));
  if (follow.writer == options_.identity.endpoint)
    attach(peer, *served);
  else
    serve_history(peer, *served, before.get());
}

void Carrier::take_pull(Peer& peer, LogNumber alias, const Pull& pull) {
  const ServedLog* const served = peer.find_served(alias);
  const auto payload = served != nullptr ? served->find_payload(pull.record) : std::nullopt;
  if (!payload || pull.offset + pull.bytes > payload->size_bytes) {
    const Gone gone{.from = pull.record, .holder = options_.identity.endpoint, .of = Gone::of_pull};
    peer.controls.push_back(Item::of_control(Type::gone, alias, gone));
    return;
  }
  peer.pulls.push_back({.log = alias,
                        .record = pull.record,
                        .payload = *payload,
                        .offset = pull.offset,
                        .end = pull.offset + pull.bytes});
}

}  // namespace llamada::replication
