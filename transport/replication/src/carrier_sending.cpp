// How a carrier makes frames of what is to be sent.
#include <algorithm>
#include <array>
#include <vector>

#include "peer.hpp"

namespace llamada::replication {

FrameHead Carrier::head_for(const Peer& peer, const Lane& lane, std::uint64_t number) const {
  const Identity& own = options_.identity;
  FrameHead head;
  head.flags = static_cast<std::uint8_t>((waits_ ? frame_answers_at_once : 0) |
                                         (&lane == &peer.bulk ? frame_is_bulk : 0));
  head.job = own.job;
  head.from = own.endpoint;
  head.to = peer.number;
  head.from_incarnation = own.incarnation;
  head.to_incarnation = peer.state.incarnation;
  head.cut = present_cut();
  head.number = number;
  head.seen = lane.session.seen();
  return head;
}

void Carrier::send(Peer& peer, Lane& lane, FrameWriter& writer, std::uint64_t number) {
  const Datagram datagram = writer.seal(head_for(peer, lane, number), options_.identity.key);
  // What the link does not take is lost, like anything else.
  (void)lane.link.send(peer.number, std::span(&datagram, 1));
  lane.session.acknowledgement_sent();
}

/// The number under which it was sent.
std::uint64_t Carrier::send_new(Peer& peer, FrameWriter& writer, const Item& item, Time now) {
  Session& session = peer.small.session;
  const std::uint64_t number = session.next_number();
  peer.small.item(number) = item;
  session.sent(writer.size_bytes(), now);
  send(peer, peer.small, writer, number);
  return number;
}

void Carrier::pump(Peer& peer, Time now) {
  if (peer.is_gone()) return;
  repair(peer, peer.small, now);
  repair(peer, peer.bulk, now);
  answer_unfollows(peer);
  send_controls(peer, now);
  // The end of a train may let the log of its pieces go on.
  do send_records(peer, now);
  while (send_train(peer, now));
  for (Lane* lane : {&peer.small, &peer.bulk}) {
    if (lane->session.owes_acknowledgement(now)) {
      FrameWriter writer(room_, lane->link.limits().datagram_bytes_max);
      send(peer, *lane, writer, 0);
    }
    note_due(peer, lane->session.due());
  }
}

void Carrier::repair(Peer& peer, Lane& lane, Time now) {
  while (const auto lost = lane.session.lost(now)) {
    const bool is_bulk = &lane == &peer.bulk;
    FrameWriter writer(is_bulk ? bulk_room(0) : room_, lane.link.limits().datagram_bytes_max);
    write_again(peer, lane.item(*lost), writer);
    send(peer, lane, writer, *lost);
    lane.session.resent(*lost, now);
  }
}

void Carrier::write_again(Peer& peer, const Item& item, FrameWriter& writer) {
  if (item.kind == Item::Kind::control) return write_control(item, writer);
  const ServedLog* const served = peer.find_served(item.log);
  if (served != nullptr && served->write_again(item, writer)) return;
  // The log no longer has it. The number must be sent all the same.
  const std::uint32_t of = item.kind == Item::Kind::pulled ? Gone::of_pull : Gone::of_follow;
  writer = FrameWriter(room_, room_.size());
  (void)writer.put(item.log, Gone{item.record, options_.identity.endpoint, of});
}

/// There is room in an empty frame for each of them.
void Carrier::write_control(const Item& item, FrameWriter& writer) {
  switch (item.control_type) {
    case Type::follow:
      (void)writer.put(item.log, item.control_as<Follow>());
      return;
    case Type::credit:
      (void)writer.put(item.log, item.control_as<Credit>());
      return;
    case Type::pull:
      (void)writer.put(item.log, item.control_as<Pull>());
      return;
    case Type::gone:
      (void)writer.put(item.log, item.control_as<Gone>());
      return;
    case Type::end:
      (void)writer.put(item.log, item.control_as<End>());
      return;
    case Type::look:
      (void)writer.put(item.log, item.control_as<Look>());
      return;
    case Type::unfollow:
      (void)writer.put(item.log, item.control_as<Unfollow>());
      return;
    case Type::unfollowed:
      (void)writer.put(item.log, item.control_as<Unfollowed>());
      return;
    case Type::records:
    case Type::piece:
      return;
  }
}

void Carrier::send_controls(Peer& peer, Time now) {
  while (!peer.controls.empty() && peer.small.session.may_send(room_.size())) {
    FrameWriter writer(room_, room_.size());
    write_control(peer.controls.front(), writer);
    (void)send_new(peer, writer, peer.controls.front(), now);
    peer.controls.pop_front();
  }
}

/// One frame of each log in turn.
void Carrier::send_records(Peer& peer, Time now) {
  std::vector<LogNumber> passing;
  while (!peer.ready.empty() && peer.small.session.may_send(room_.size())) {
    const LogNumber alias = peer.ready.front();
    peer.ready.pop_front();
    ServedLog* const served = peer.find_served(alias);
    if (served == nullptr || served->has_begun_bulk()) continue;
    FrameWriter writer(room_, room_.size());
    const Item item = served->has_begun() ? served->write_piece(writer) : served->write(writer);
    if (item.kind != Item::Kind::none) {
      const std::uint64_t number = send_new(peer, writer, item, now);
      if (served->has_begun_bulk()) {
        served->was_begun_by(number);
        peer.make_begun(alias);
      } else {
        peer.ready.push_back(alias);
      }
    } else if (served->is_passing()) {
      passing.push_back(alias);
    } else if (served->is_at_end()) {
      end_history(peer, *served, now);
    }
  }
  for (const LogNumber alias : passing) {
    peer.make_ready(alias);
    note_due(peer, Time{0});
  }
}

void Carrier::end_history(Peer& peer, ServedLog& served, Time now) {
  served.end();
  const Item item = Item::of_control(Type::end, served.alias(), End{served.next() - 1});
  FrameWriter writer(room_, room_.size());
  write_control(item, writer);
  (void)send_new(peer, writer, item, now);
}

/// The next piece of the first record that has begun. Item::Kind::none: it has no more.
Item Carrier::write_begun(Peer& peer, FrameWriter& writer) {
  const LogNumber alias = peer.begun.front();
  ServedLog* const served = peer.find_served(alias);
  const bool goes_on = served != nullptr && served->has_begun_bulk();
  const Item item = goes_on ? served->write_piece(writer) : Item{};
  if (item.kind != Item::Kind::none && served->has_begun()) return item;
  peer.begun.pop_front();
  if (goes_on) {
    // The next record is due, or the end of a history whose memory was used again meanwhile.
    peer.make_ready(alias);
    note_due(peer, Time{0});
  }
  return item;
}

/// The next piece of the first payload that was asked for. Item::Kind::none: it is not here.
Item Carrier::write_pulled(Peer& peer, FrameWriter& writer) {
  ServedPull& pull = peer.pulls.front();
  const ServedLog* const served = peer.find_served(pull.log);
  const Item item = served != nullptr
                        ? served->write_pulled(pull.record, pull.payload, pull.offset, pull.end, writer)
                        : Item{};
  pull.offset += item.count;
  if (item.kind == Item::Kind::none) {
    const Gone gone{pull.record, options_.identity.endpoint, Gone::of_pull};
    peer.controls.push_back(Item::of_control(Type::gone, pull.log, gone));
    note_due(peer, Time{0});
  }
  if (item.kind == Item::Kind::none || pull.offset == pull.end) peer.pulls.pop_front();
  return item;
}

/// For a frame of a train; it may be too short for all but the head.
std::span<std::byte> Carrier::bulk_room(std::size_t index) {
  const std::size_t size_bytes = bulk_rooms_.size() / bulk_.limits().train_max;
  return std::span<std::byte>(bulk_rooms_).subspan(index * size_bytes, size_bytes);
}

/// As many pieces as may leave at once. False: none may.
bool Carrier::send_train(Peer& peer, Time now) {
  constexpr std::size_t train_max = 64;
  std::array<Datagram, train_max> train;
  std::size_t count = 0;
  Session& session = peer.bulk.session;
  const LinkLimits limits = bulk_.limits();
  while (count < std::min(limits.train_max, train_max) && !(peer.begun.empty() && peer.pulls.empty()) &&
         session.may_send(limits.datagram_bytes_max)) {
    FrameWriter writer(bulk_room(count), limits.datagram_bytes_max);
    const Item item = !peer.begun.empty() ? write_begun(peer, writer) : write_pulled(peer, writer);
    if (item.kind == Item::Kind::none) continue;
    const std::uint64_t number = session.next_number();
    peer.bulk.item(number) = item;
    session.sent(writer.size_bytes(), now);
    train[count++] = writer.seal(head_for(peer, peer.bulk, number), options_.identity.key);
  }
  if (count == 0) return false;
  (void)bulk_.send(peer.number, std::span<const Datagram>(train).first(count));
  session.acknowledgement_sent();
  return true;
}

}  // namespace llamada::replication
