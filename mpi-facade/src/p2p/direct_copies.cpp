#include "p2p/direct_copies.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>

#include "llamada/base/copy.hpp"
#include "llamada/base/crash_point.hpp"

namespace llamada::mpi {
namespace {

/// Copied before there is a look at what else has come.
constexpr std::uint64_t bytes_in_a_row_min = 128 * 1024;
/// Where something small is awaited it comes soon or late: copies wait for so many looks. Then parts of them
/// are copied, each twice as long as the one before, because short ones take longer together.
constexpr unsigned looks_before_copies = 1000;
constexpr std::uint64_t bytes_giving_way_min = 16 * 1024;
constexpr std::uint64_t bytes_giving_way_max = 256 * 1024;
/// Messages that came together are one copy up to so many.
constexpr std::uint64_t group_bytes_max = 2048 * 1024;
/// Copies of which an end has its half while the other end has not come.
constexpr std::size_t begun_ahead_max = 4;
/// Of up to 100 ms each, after the death of a peer.
constexpr int naps_before_job_ends_max = 200;

/// Which end this rank has does not depend on who sends: what goes to and fro is copied by the core whose
/// cache has it.
SharedCopy::End end_of(int rank, int other, bool is_receiver) {
  const bool is_lower = rank == other ? is_receiver : rank < other;
  return is_lower ? SharedCopy::End::lower : SharedCopy::End::upper;
}

void copy_within(const CopyGroup::Pieces& pieces, bool is_receive) {
  for (const PeerPiece& piece : pieces.span()) {
    auto* others = reinterpret_cast<std::byte*>(piece.others);
    copy_bytes(is_receive ? piece.own : others, is_receive ? others : piece.own, piece.bytes);
  }
}

}  // namespace

void DirectCopies::set_bulk(Bulk bulk) {
  bulk_ = bulk;
  looks_before_copies_ = bulk == Bulk::gives_way ? looks_before_copies : 0;
  bytes_giving_way_ = bytes_giving_way_min;
}

DirectCopies::Peer& DirectCopies::peer(int rank) {
  const auto index = static_cast<std::size_t>(rank);
  if (index >= peers_.size()) peers_.resize(index + 1);
  if (!peers_[index]) {
    peers_[index] = std::make_unique<Peer>();
    peers_[index]->rank = rank;
  }
  return *peers_[index];
}

bool DirectCopies::open_desk(Peer& peer) {
  if (peer.own || peer.has_no_desk) return peer.own != nullptr;
  log::ArenaWriter& arena = world_.arena();
  const auto chunk = arena.allocate({0, sizeof(Desk)}, 0);
  peer.has_no_desk = !chunk;
  if (!chunk) return false;
  peer.own_chunk = *chunk;
  peer.own_place = chunk->payload();
  peer.own = new (arena.base() + peer.own_place) Desk{};
  peer.own->process = own_card();
  return true;
}

log::Offset DirectCopies::desk_for(int rank) {
  Peer& to = peer(rank);
  return open_desk(to) ? to.own_place : 0;
}

/// Where the peer's desk is. False when there can be none.
bool DirectCopies::meet(Peer& peer, log::Offset place) {
  if (!world_.is_local(peer.rank)) return false;
  const auto arena = world_.peer(peer.rank);
  if (place == 0 || place % alignof(Desk) != 0 || !arena.covers(place, sizeof(Desk))) return false;
  peer.theirs = reinterpret_cast<const Desk*>(arena.base + place);
  return true;
}

bool DirectCopies::reaches(Peer& peer) {
  const ProcessCard process = peer.theirs->process;
  peer.process = static_cast<int>(process.process);
  return peer.reach.of(process);
}

bool DirectCopies::is_unreachable(int source) const {
  const auto index = static_cast<std::size_t>(source);
  return index < peers_.size() && peers_[index] && peers_[index]->reach.no();
}

bool DirectCopies::receive(Request& request, int source, const Announcement& announcement, bool is_exchange) {
  if (announcement.address == 0 || !request.buffer.contiguous() || request.buffer.bytes() == 0) return false;
  Peer& from = peer(source);
  if (!meet(from, announcement.desk) || !open_desk(from) || !reaches(from)) return false;
  const Waiting message{&request, announcement, is_exchange};
  // The first is not kept waiting by what may come behind it.
  if (from.waiting.empty() && (from.receives.empty() || (!is_gathering_ && from.receives.size() < window))) {
    begin_receive(from, {&message, 1});
  } else {
    from.waiting.push_back(message);
    mark_active(from);
  }
  return true;
}

/// Makes copies of the messages that wait. True when there were any.
bool DirectCopies::begin_waiting(Peer& from) {
  bool begun = false;
  while (!from.waiting.empty() && from.receives.size() < window) {
    std::array<Waiting, CopyGroup::messages_max> next;
    std::size_t count = 0;
    std::uint64_t bytes = 0;
    do {
      bytes += from.waiting.front().announcement.size;
      next[count++] = from.waiting.front();
      from.waiting.pop_front();
    } while (count < next.size() && !from.waiting.empty() &&
             bytes + from.waiting.front().announcement.size <= group_bytes_max);
    begin_receive(from, std::span(next).first(count));
    begun = true;
  }
  return begun;
}

void DirectCopies::begin_receive(Peer& from, std::span<const Waiting> messages) {
  const auto message = [](const Waiting& waiting) {
    const Buffer& buffer = waiting.request->buffer;
    return CopyGroup::Message{waiting.request, buffer.contiguous(), waiting.announcement.address,
                              std::min<std::uint64_t>(waiting.announcement.size, buffer.bytes())};
  };
  CopyGroup group(message(messages.front()));
  for (const Waiting& next : messages.subspan(1)) group.add(message(next));
  const std::uint32_t number = ++from.receives_begun;
  SharedCopy share(from.own->receives[number % window].claim, from.theirs->sends[number % window].claim,
                   number, group.bytes(), end_of(world_.rank(), from.rank, true), true);
  const bool is_exchange = messages.back().is_exchange || !from.sends.empty();
  if (is_waiting()) share.claim_ahead(is_exchange ? SharedCopy::Ahead::all : SharedCopy::Ahead::half);
  for (std::size_t i = 0; i < messages.size(); ++i)
    owner_.grant_directly(
        from.rank,
        {messages[i].announcement.send_id, reinterpret_cast<std::uint64_t>(group[i].own), group[i].bytes,
         from.own_place, number, static_cast<std::uint32_t>(messages.size() - 1 - i)});
  from.receives.emplace_back(std::move(group), share, true, is_exchange);
  mark_active(from);
  LLAMADA_CRASH_POINT("direct:granted");
}

/// Whether it is the next of its copy, or the first.
bool DirectCopies::is_next(Peer& to, const DirectGrant& grant) {
  const bool next = to.granted ? grant.number == to.granted_number && grant.left + 1u == to.granted_left
                               : grant.left < CopyGroup::messages_max;
  to.granted_number = grant.number;
  to.granted_left = grant.left;
  return next;
}

bool DirectCopies::granted(Request& request, const std::byte* memory, std::uint64_t bytes, int rank,
                           const DirectGrant& grant) {
  Peer& to = peer(rank);
  // It was written just before the grant.
  if (to.theirs) __builtin_prefetch(&to.theirs->receives[grant.number % window]);
  if (!to.own || !memory || grant.bytes > bytes || !is_next(to, grant) || !meet(to, grant.desk)) return false;
  const CopyGroup::Message message{&request, const_cast<std::byte*>(memory), grant.address, grant.bytes};
  ++sending_;
  if (to.granted)
    to.granted->add(message);
  else
    to.granted.emplace(message);
  if (grant.left > 0) return true;
  begin_send(to, std::move(*to.granted), grant.number);
  to.granted.reset();
  return true;
}

void DirectCopies::begin_send(Peer& to, CopyGroup&& group, std::uint32_t number) {
  // Who cannot reach the receiver leaves all of it to him.
  const bool is_reached = reaches(to);
  const std::uint32_t slot = number % window;
  SharedCopy share(to.own->sends[slot].claim, to.theirs->receives[slot].claim, number, group.bytes(),
                   end_of(world_.rank(), to.rank, false), false);
  Copy& copy = to.sends.emplace_back(std::move(group), share, false, false);
  if (is_reached && bulk_ == Bulk::first && to.sends.size() == 1 && to.receives.empty()) copy_part(to, copy);
  mark_active(to);
}

void DirectCopies::mark_active(Peer& peer) {
  if (peer.active) return;
  peer.active = true;
  active_.push_back(&peer);
}

bool DirectCopies::anything_new() const {
  const auto changed = [](const Copy& copy) { return !copy.is_over && copy.share.is_changed(); };
  return std::any_of(active_.begin(), active_.end(), [&](const Peer* peer) {
    return std::any_of(peer->receives.begin(), peer->receives.end(), changed) ||
           std::any_of(peer->sends.begin(), peer->sends.end(), changed);
  });
}

bool DirectCopies::advance_active() {
  bool done = false;
  for (std::size_t i = 0; i < active_.size();) {
    Peer& peer = *active_[i];
    done |= advance(peer);
    if (!peer.receives.empty() || !peer.sends.empty() || !peer.waiting.empty()) {
      ++i;
      continue;
    }
    peer.active = false;
    active_[i] = active_.back();
    active_.pop_back();
  }
  return done;
}

/// What is awaited here comes before what others await; and an own half before what may be left of the
/// other's, who may be about to begin it, or busy with his own half of what goes the other way.
bool DirectCopies::advance(Peer& peer) {
  const bool reaches = peer.reach.yes();
  bool done = begin_waiting(peer);
  done |= begin_some(peer, peer.receives) || (reaches && begin_some(peer, peer.sends)) ||
          go_on(peer, peer.receives) || (reaches && go_on(peer, peer.sends));
  done |= end_some(peer.receives);
  done |= end_some(peer.sends);
  return done;
}

/// The first part of the next copies.
bool DirectCopies::begin_some(Peer& peer, std::deque<Copy>& copies) {
  std::uint64_t bytes = 0;
  const std::size_t count = std::min(copies.size(), begun_ahead_max);
  for (std::size_t i = 0; i < count && bytes < bytes_in_a_row_min; ++i)
    if (copies[i].share.is_fresh()) bytes += copy_part(peer, copies[i]);
  return bytes > 0;
}

bool DirectCopies::go_on(Peer& peer, std::deque<Copy>& copies) {
  for (Copy& next : copies)
    if (copy_part(peer, next) > 0) return true;
  return false;
}

/// Gives how many bytes.
std::uint64_t DirectCopies::copy_part(Peer& peer, Copy& next) {
  SharedCopy::Part& rest = next.claimed;
  if (rest.bytes == 0) {
    if (next.is_exchange && is_waiting()) next.share.want_all();
    rest = next.share.claim();
    if (rest.bytes > 0) LLAMADA_CRASH_POINT("direct:claimed");
  }
  SharedCopy::Part part = rest;
  if (bulk_ == Bulk::gives_way) {
    part.bytes = std::min(part.bytes, bytes_giving_way_);
    bytes_giving_way_ = std::min(2 * bytes_giving_way_, bytes_giving_way_max);
  }
  if (part.bytes > 0) {
    copy(peer, next, part);
    rest = {rest.first + part.bytes, rest.bytes - part.bytes};
    if (rest.bytes == 0) {
      LLAMADA_CRASH_POINT("direct:part-copied");
      next.share.copied();
    }
  }
  // The other end may be waiting for it.
  if (next.share.has_said()) world_.wake(peer.rank);
  return part.bytes;
}

void DirectCopies::copy(Peer& peer, const Copy& copy, SharedCopy::Part part) {
  const CopyGroup::Pieces pieces = copy.group.pieces(part, copy.share.end());
  world_.arena().count(log::Counter::bytes_bulk, part.bytes);
  if (peer.rank == world_.rank()) return copy_within(pieces, copy.is_receive);
  const auto reached =
      copy.is_receive ? read_memory(peer.process, pieces.span()) : write_memory(peer.process, pieces.span());
  if (reached == Reached::done) return;
  // What is not copied is never said to be. Of who is gone the driver knows, and ends the job.
  if (reached == Reached::gone) {
    for (int nap = 0; nap < naps_before_job_ends_max; ++nap) world_.sleep([] { return false; });
    world_.damaged(peer.rank,
                   fmt::format("it says that its process is {}, but no such process exists", peer.process));
  }
  world_.aborted(1, fmt::format("a message of rank {} cannot be copied to rank {}: {}: the buffer of one of "
                                "them is not whole",
                                copy.is_receive ? peer.rank : world_.rank(),
                                copy.is_receive ? world_.rank() : peer.rank, std::strerror(errno)));
}

void DirectCopies::end(const Copy& copy) {
  for (std::size_t i = 0; i < copy.group.size(); ++i)
    copy.is_receive ? owner_.received_directly(*copy.group[i].request)
                    : owner_.sent_directly(*copy.group[i].request);
  if (!copy.is_receive) sending_ -= copy.group.size();
}

bool DirectCopies::end_some(std::deque<Copy>& copies) {
  bool done = false;
  for (std::size_t i = 0; i < copies.size(); ++i) {
    if (copies[i].is_over || !copies[i].share.is_over()) continue;
    LLAMADA_CRASH_POINT("direct:over");
    copies[i].is_over = true;
    done = true;
    end(copies[i]);
  }
  while (!copies.empty() && copies.front().is_over) copies.pop_front();
  return done;
}

}  // namespace llamada::mpi
