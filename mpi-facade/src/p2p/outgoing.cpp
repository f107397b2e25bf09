#include "p2p/outgoing.hpp"

#include <algorithm>
#include <cstring>

#include "llamada/base/copy.hpp"
#include "llamada/base/crash_point.hpp"
#include "llamada/base/plain_bytes.hpp"
#include "p2p/outgoing_message.hpp"
#include "p2p/patch.hpp"

namespace llamada::mpi {
namespace {

/// A receiver that has not asked for them keeps so many.
constexpr std::size_t written_unmatched_max = 4;

/// A bulk lane is a ring of a few pieces that fit the processor's cache.
constexpr std::size_t bulk_lane_pieces = 4;

}  // namespace

Outgoing::Outgoing(World& world, SendOwner& owner, DirectCopies& direct, const Options& options)
    : world_(world),
      arena_(world.arena()),
      owner_(owner),
      direct_(direct),
      options_(options),
      live_(!options.compares),
      has_short_way_(live_ && options.has_short_way) {
  grow(world.size());
}

void Outgoing::grow(int size) {
  for (int rank = static_cast<int>(destinations_.size()); rank < size; ++rank) {
    destinations_.push_back(std::make_unique<Destination>());
    destinations_.back()->rank = rank;
  }
}

log::LogOptions Outgoing::log_options() const {
  log::LogOptions options;
  options.live_bytes_max = options_.log_bytes_max;
  options.retention = options_.keeps ? log::Retention::keep_all : log::Retention::recycle;
  return options;
}

void Outgoing::open(Destination& to) {
  if (to.is_lost) return;
  auto log =
      log::LogWriter::open(world_.arena(), message_log_key(to.rank, world_.checkpoint()), log_options());
  if (!log)
    world_.aborted(1, fmt::format("the log to rank {} cannot be made: {}", to.rank, log.error().text()));
  to.log = std::move(*log);
  world_.publish_to(to.log, message_log_key(to.rank, world_.checkpoint()), std::span(&to.rank, 1));
  to.kept = KeptPayloads(options_.keeps);
  to.sleeping = world_.sleeping_word(to.rank);
  to.is_reachable = world_.is_local(to.rank);
  to.open = true;
  if (!options_.compares || to.log.published() == 0) return;
  to.predecessor.left = to.log.published();
  to.predecessor.reader = log::LogReader::open(world_.arena().reading(), to.log.index());
  find_acknowledgements(to);
}

void Outgoing::open_bulk(Destination& to) {
  if (to.bulk.is_open) return;
  log::LogOptions log_options;
  log_options.live_bytes_max = bulk_lane_pieces * (options_.bulk_piece_bytes + 4096);
  auto log = log::LogWriter::open(world_.arena(), bulk_log_key(to.rank, world_.checkpoint()), log_options);
  if (!log)
    world_.aborted(1,
                   fmt::format("the bulk lane to rank {} cannot be made: {}", to.rank, log.error().text()));
  to.bulk.log = std::move(*log);
  world_.publish_to(to.bulk.log, bulk_log_key(to.rank, world_.checkpoint()), std::span(&to.rank, 1));
  to.bulk.is_open = true;
}

void Outgoing::add_reader(Destination& to, bool bulk) {
  log::LogWriter& log = bulk ? to.bulk.log : to.log;
  if (log.reader_count() > 0) return;
  const auto arena = world_.cursors_of(to.rank);
  const auto key =
      bulk ? bulk_log_key(to.rank, world_.checkpoint()) : message_log_key(to.rank, world_.checkpoint());
  const auto* cursor =
      log::find_cursor(arena, key, static_cast<std::uint32_t>(world_.rank()), bulk ? to.bulk.scan : to.scan);
  if (cursor) log.add_reader(cursor);
}

bool Outgoing::room(Destination& to, log::LogWriter& log, bool bulk, std::size_t bytes,
                    log::Reservation& reservation, Filling filling) {
  if (!log.may_reserve(bytes)) {
    if (log.reader_count() > 0) return false;
    add_reader(to, bulk);
    if (!log.may_reserve(bytes)) return false;
  }
  auto reserved = log.reserve(bytes, filling);
  if (reserved) {
    reservation = std::move(*reserved);
    return true;
  }
  if (reserved.error().code() != Errc::would_block) owner_.no_memory(reserved.error());
  return false;
}

bool Outgoing::send_now(const Buffer& buffer, int rank, std::uint32_t context, int tag) {
  Destination& to = destination(rank);
  if (to.first || to.predecessor.left > 0 || !live_ || options_.bounds.any() || to.is_lost) [[unlikely]]
    return send_now_slowly(to, buffer, context, tag);
  const std::span<const std::byte> payload(buffer.contiguous(), buffer.bytes());
  const Route way = route(to, payload.data(), payload.size());
  if (way.way != Way::log || !log_message(to, payload, 0, make_label(context, tag), way)) return false;
  sent(to, payload.size(), context);
  return true;
}

Route Outgoing::route(const Destination& to, const Request& request) const {
  return route(to, message_memory(request), message_bytes(request));
}

bool Outgoing::log_message(Destination& to, std::span<const std::byte> payload, std::uint16_t flags,
                           std::uint64_t label, const Route& route) {
  if (payload.size() <= log::publish_fast_bytes_max &&
      to.log.try_publish(kind_message, flags, label, payload))
    return true;
  return (route.repeat != Repeat::never &&
          publish_again(to, payload, flags, label, route) == Again::reserved) ||
         write(to, payload, flags, label, route);
}

bool Outgoing::log_message(Destination& to, const Request& request, std::uint16_t flags, const Route& route) {
  const std::byte* const memory = message_memory(request);
  const std::size_t bytes = message_bytes(request);
  const std::uint64_t label = make_label(request.context, request.tag);
  if (memory || bytes == 0) return log_message(to, {memory, bytes}, flags, label, route);
  log::Reservation reservation;
  if (!room(to, to.log, false, bytes, reservation)) return false;
  pack_message(request, 0, reservation.payload());
  to.log.commit(std::move(reservation), kind_message, flags, label);
  return true;
}

bool Outgoing::write(Destination& to, std::span<const std::byte> payload, std::uint16_t flags,
                     std::uint64_t label, const Route& route) {
  log::Reservation reservation;
  if (!room(to, to.log, false, payload.size(), reservation, Filling::by_fill)) return false;
  // Who is sent one message after the other copies one while the next is written, and would only be in the
  // writer's way.
  if (route.is_shown && (options_.keeps || has_answered(to, label)))
    to.log.announce(reservation, kind_message, flags, label);
  to.log.fill(reservation, payload);
  to.kept.add(payload, reservation.payload());
  to.log.commit(std::move(reservation), kind_message, flags, label);
  return true;
}

/// Whether a message has come from there since a large one was written for it.
bool Outgoing::has_answered(Destination& to, std::uint64_t label) {
  const std::uint64_t heard = owner_.heard(to.rank, label_context(label));
  return std::exchange(to.heard_before, heard) != heard;
}

/// Room for a record that shows what the log has, in view of a receiver while it is compared.
Again Outgoing::reserve_again(Destination& to, std::span<const std::byte> payload, std::uint16_t flags,
                              std::uint64_t label, const Route& route, log::Reservation& reservation,
                              Differences* differences) {
  const auto show = [&] {
    if (route.is_shown) to.log.announce(reservation, kind_message, flags, label);
  };
  return to.kept.reserve_again(to.log, payload, reservation, show, differences);
}

Again Outgoing::publish_again(Destination& to, std::span<const std::byte> payload, std::uint16_t flags,
                              std::uint64_t label, const Route& route) {
  if (route.repeat == Repeat::nearly) return publish_nearly_again(to, payload, flags, label, route);
  log::Reservation reservation;
  const auto again = reserve_again(to, payload, flags, label, route, reservation);
  if (again == Again::reserved) to.log.commit(std::move(reservation), kind_message, flags, label);
  return again;
}

/// What is different, if anything is, comes before the record that refers to the earlier payload.
Again Outgoing::publish_nearly_again(Destination& to, std::span<const std::byte> payload, std::uint16_t flags,
                                     std::uint64_t label, const Route& route) {
  log::Reservation reservation;
  Differences differences(payload.size());
  const auto again = reserve_again(to, payload, flags, label, route, reservation, &differences);
  if (again != Again::reserved) return again;
  if (!differences.empty()) {
    const std::span<const std::byte> kept = reservation.payload();
    reservation.drop();
    log::Reservation patch;
    if (!room(to, to.log, false, patch_bytes(differences), patch)) return Again::to_write;
    make_patch(payload, differences, patch.payload());
    to.log.commit(std::move(patch), kind_patch, 0, label);
    LLAMADA_CRASH_POINT("send:patch-logged");
    if (!to.log.reserve_again(kept, reservation)) return Again::to_write;
    flags |= flag_patched;
  }
  to.log.commit(std::move(reservation), kind_message, flags, label);
  return again;
}

/// In a replay it is compared, after which it is over, too.
bool Outgoing::send_now_slowly(Destination& to, const Buffer& buffer, std::uint32_t context, int tag) {
  // Where a send may have to wait for others, it is a request from the start, in a replay, too.
  if (to.first || !options_.keeps || options_.bounds.any() || to.is_lost) return false;
  Request request;
  request.kind = Request::Kind::send;
  request.buffer = buffer;
  request.context = context;
  request.tag = tag;
  request.destination = to.rank;
  return publish(to, request);
}

void Outgoing::send(Request& request) {
  Destination& to = destination(request.destination);
  if (to.is_lost) [[unlikely]] {
    request.error = MPIX_ERR_PROC_FAILED;
    return owner_.send_complete(request);
  }
  if (!to.first && publish(to, request)) return;
  request.next_queued = nullptr;
  (to.first ? to.last->next_queued : to.first) = &request;
  to.last = &request;
  mark_busy(to);
}

bool Outgoing::publish(Destination& to, Request& request) {
  if (to.predecessor.left > 0) {
    if (const auto record = predecessors_message(to)) {
      compare(to, request, *record);
      take_predecessors_message(to);
      published(to, request, request.mode == SendMode::synchronous);
      return true;
    }
  }
  if (!live_ && (!may_publish_new() || (to.first && to.first != &request))) return false;
  if (options_.bounds.any() && is_at_bound(to)) return false;
  const Route way = route(to, request);
  const bool awaits_match = request.mode == SendMode::synchronous;
  switch (way.way) {
    case Way::log:
      if (!log_message(to, request, awaits_match ? flag_synchronous : 0, way)) return false;
      message_published(to, request, awaits_match);
      return true;
    case Way::log_if:
      return log_if_better(to, request, way) || announce(to, request, Way::memory);
    case Way::memory:
    case Way::bulk_lane:
      break;
  }
  return announce(to, request, way.way);
}

/// What the log has already, the receiver's cache has, too. And what has been written since it was sent last
/// comes sooner through the log than from memory to memory, where each line would have to be fetched from
/// this core's cache by a copy of the kernel's, which does not fetch ahead, and be taken back by the
/// program's next stores. The send waits for its match all the same, as it does otherwise, so that a program
/// does not work or hang by what its messages contain.
bool Outgoing::log_if_better(Destination& to, Request& request, const Route& route) {
  const std::span<const std::byte> payload(message_memory(request), message_bytes(request));
  const std::uint64_t label = make_label(request.context, request.tag);
  request.is_written = false;
  switch (publish_again(to, payload, flag_synchronous, label, route)) {
    case Again::reserved:
      message_published(to, request, true);
      return true;
    case Again::to_write:
      if (to.written_unmatched >= written_unmatched_max || !to.log.may_reserve(payload.size())) return false;
      if (!write(to, payload, flag_synchronous, label, route)) return false;
      request.is_written = true;
      message_published(to, request, true);
      return true;
    case Again::uncertain:
      break;
  }
  return false;
}

void Outgoing::message_published(Destination& to, Request& request, bool awaits_match) {
  LLAMADA_CRASH_POINT("send:logged");
  arena_.count(log::Counter::messages_sent);
  arena_.count(log::Counter::bytes_sent, message_bytes(request));
  wake(to);
  published(to, request, awaits_match);
}

/// The message is in the log, now or since a predecessor put it there.
void Outgoing::published(Destination& to, Request& request, bool awaits_match) {
  request.ordinal = to.ordinals.next(request.context);
  if (!awaits_match) return owner_.send_complete(request);
  if (to.early.erase({request.context, request.ordinal}) > 0) return owner_.send_complete(request);
  if (request.is_written) ++to.written_unmatched;
  to.heard_at_send = owner_.heard(to.rank, request.context);
  to.unacknowledged.push_back(&request);
}

bool Outgoing::publish_small(Destination& to, log::LogWriter& log, std::uint8_t kind, std::uint64_t label,
                             std::span<const std::byte> payload) {
  if (log.try_publish(kind, 0, label, payload)) return true;
  log::Reservation reservation;
  if (!room(to, log, false, payload.size(), reservation)) return false;
  copy_bytes(reservation.payload().data(), payload.data(), payload.size());
  log.commit(std::move(reservation), kind, 0, label);
  return true;
}

bool Outgoing::announce(Destination& to, Request& request, Way way) {
  open_bulk(to);
  Announcement announcement{message_bytes(request), next_send_id_, 0, 0};
  const std::byte* memory = message_memory(request);
  if (way == Way::memory && (announcement.desk = direct_.desk_for(to.rank)) != 0)
    announcement.address = reinterpret_cast<std::uint64_t>(memory);
  const std::uint64_t label = make_label(request.context, request.tag);
  if (!publish_small(to, to.log, kind_announcement, label, plain_bytes(announcement))) return false;
  request.send_id = next_send_id_++;
  request.bulk_done = 0;
  LLAMADA_CRASH_POINT("bulk:announced");
  request.ordinal = to.ordinals.next(request.context);
  to.announced.push_back(&request);
  ++announced_count_;
  arena_.count(log::Counter::messages_sent);
  arena_.count(log::Counter::bytes_sent, announcement.size);
  wake(to);
  return true;
}

void Outgoing::acknowledge(int rank, std::uint32_t context, std::uint64_t ordinal) {
  Destination& to = destination(rank);
  if (!live_ && repeats_acknowledgement(to, context, ordinal)) return;
  control(to, kind_acknowledgement, make_label(context, 0), ordinal);
}

void Outgoing::tell_taken_in(int rank, std::uint64_t count) {
  control(destination(rank), kind_taken_in, 0, count);
}

void Outgoing::grant(int rank, const Grant& grant) { control(destination(rank), kind_grant, 0, grant); }

void Outgoing::grant_directly(int rank, const DirectGrant& grant) {
  control(destination(rank), kind_direct_grant, 0, grant);
}

template <typename Payload>
void Outgoing::control(Destination& to, std::uint8_t kind, std::uint64_t label, const Payload& payload) {
  if (to.is_lost) return;
  Control control{kind, label, {}, sizeof(payload)};
  std::memcpy(control.payload.data(), &payload, sizeof(payload));
  if (!live_ && !owner_.may_tell_new()) return to.controls.push_back(control);
  if (to.controls.empty() && publish_control(to, control)) return;
  to.controls.push_back(control);
  mark_busy(to);
}

bool Outgoing::publish_control(Destination& to, const Control& control) {
  if (!publish_small(to, to.control_log(), control.kind, control.label,
                     std::span(control.payload).first(control.payload_bytes)))
    return false;
  wake(to);
  return true;
}

void Outgoing::acknowledged(int from, std::uint32_t context, std::uint64_t ordinal) {
  Destination& to = destination(from);
  auto found = std::find_if(to.unacknowledged.begin(), to.unacknowledged.end(), [&](const Request* request) {
    return request->context == context && request->ordinal == ordinal;
  });
  if (found != to.unacknowledged.end()) {
    Request& request = **found;
    to.unacknowledged.erase(found);
    if (std::exchange(request.is_written, false)) --to.written_unmatched;
    to.crossing = !options_.keeps && owner_.heard(from, context) != to.heard_at_send;
    LLAMADA_CRASH_POINT("send:acknowledged");
    return owner_.send_complete(request);
  }
  // Of a send that this incarnation has yet to repeat; or a repetition, from a replacement of the receiver.
  if (ordinal > to.ordinals.last(context)) to.early.insert({context, ordinal});
}

Request* Outgoing::take_announced(Destination& to, std::uint64_t send_id) {
  auto found = std::find_if(to.announced.begin(), to.announced.end(),
                            [&](const Request* request) { return request->send_id == send_id; });
  if (found == to.announced.end()) return nullptr;
  Request* request = *found;
  to.announced.erase(found);
  --announced_count_;
  return request;
}

void Outgoing::granted(int from, const Grant& grant) {
  Destination& to = destination(from);
  if (grant.is_unreachable != 0) to.is_reachable = false;
  Request* request = take_announced(to, grant.send_id);
  if (!request) return;
  to.granted.push_back(request);
  mark_busy(to);
}

void Outgoing::granted_directly(int from, const DirectGrant& grant) {
  Destination& to = destination(from);
  Request* request = take_announced(to, grant.send_id);
  if (request && !direct_.granted(*request, message_memory(*request), message_bytes(*request), from, grant))
    world_.damaged(from, fmt::format("its log to rank {} has a grant that cannot be", world_.rank()));
}

void Outgoing::mark_busy(Destination& to) {
  if (to.busy) return;
  to.busy = true;
  busy_.push_back(&to);
}

bool Outgoing::advance_busy() {
  bool done = false;
  for (std::size_t i = 0; i < busy_.size();) {
    Destination& to = *busy_[i];
    done |= advance(to);
    if (to.first || !to.controls.empty() || !to.granted.empty()) {
      ++i;
      continue;
    }
    to.busy = false;
    busy_[i] = busy_.back();
    busy_.pop_back();
  }
  return done;
}

bool Outgoing::advance(Destination& to) {
  bool done = false;
  while (live_ && !to.controls.empty() && publish_control(to, to.controls.front())) {
    to.controls.pop_front();
    done = true;
  }
  while (live_ && to.first) {
    Request& request = *to.first;
    // Completion may reuse the request: it leaves the queue first.
    Request* next = request.next_queued;
    if (!publish(to, request)) break;
    to.first = next;
    done = true;
  }
  return advance_bulk(to) || done;
}

bool Outgoing::advance_bulk(Destination& to) {
  bool done = false;
  while (!to.granted.empty()) {
    Request& request = *to.granted.front();
    const std::size_t bytes = message_bytes(request);
    const std::size_t piece = std::min<std::size_t>(options_.bulk_piece_bytes, bytes - request.bulk_done);
    log::Reservation reservation;
    if (!room(to, to.bulk.log, true, piece, reservation)) break;
    pack_message(request, request.bulk_done, reservation.payload());
    to.bulk.log.commit(std::move(reservation), kind_bulk, 0, 0);
    LLAMADA_CRASH_POINT("bulk:piece-logged");
    arena_.count(log::Counter::bytes_bulk, piece);
    wake(to);
    request.bulk_done += piece;
    done = true;
    if (request.bulk_done < bytes) continue;
    to.granted.pop_front();
    LLAMADA_CRASH_POINT("bulk:sent");
    owner_.send_complete(request);
  }
  return done;
}

void Outgoing::keep_no_longer() {
  options_.keeps = false;
  for (auto& to : destinations_)
    if (to->open) {
      to->kept = KeptPayloads(false);
      to->log.set_retention(log::Retention::recycle);
    }
}

}  // namespace llamada::mpi
