#include "p2p/receiving.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "llamada/base/copy.hpp"
#include "llamada/base/crash_point.hpp"
#include "p2p/awaits.hpp"
#include "p2p/patch.hpp"

namespace llamada::mpi {

namespace {

/// What Request::room_bytes says of a receive that has been described.
std::int64_t room_bytes(const Request& request) {
  const Buffer& buffer = request.buffer;
  if (request.expected_ordinal != 0 || !buffer.type->is_contiguous() || buffer.contiguous() != buffer.base)
    return -1;
  return static_cast<std::int64_t>(buffer.bytes());
}

/// Up to so many messages of so many bytes together are left to gather, for so many looks; none that are
/// longer than that.
constexpr std::uint8_t gathered_max = 16;
constexpr std::size_t gathered_bytes = 32 << 10;
constexpr std::size_t gathered_message_max = 8 << 10;
constexpr int gather_looks = 200;

/// Where that goes.
std::byte* room(const Request& request) { return static_cast<std::byte*>(request.buffer.base); }

/// Whether a receive takes a message of so many bytes without any detour.
bool takes_at_once(const Request& request, std::size_t bytes) {
  return static_cast<std::int64_t>(bytes) <= request.room_bytes;
}

}  // namespace

Receiving::Receiving(const Parts& parts)
    : world_(parts.world),
      arena_(parts.world.arena()),
      determinants_(parts.determinants),
      requests_(parts.requests),
      outgoing_(parts.outgoing),
      direct_(parts.direct),
      early_(parts.early),
      owner_(parts.owner),
      matcher_(parts.world.size()),
      arrivals_(parts.keeps) {
  grow(parts.world.size());
}

void Receiving::grow(int count) {
  matcher_.grow(count);
  if (granted_.size() < static_cast<std::size_t>(count)) granted_.resize(static_cast<std::size_t>(count));
}

void Receiving::describe(waits::Report& report) const {
  std::optional<std::uint32_t> named;
  std::string name;
  const auto name_of = [&](std::uint32_t context) -> const std::string& {
    if (std::exchange(named, context) != context) name = name_of_context(context);
    return name;
  };
  matcher_.for_each_unexpected([&](const MessageNode& message) {
    report.add_message(message.source, message.tag, name_of(message.context));
  });
  matcher_.for_each_posted([&](const ReceiveNode& receive) {
    report.add_receive(receive.source, receive.tag, name_of(receive.context));
  });
}

void Receiving::part(int rank) {
  matcher_.part(rank, [this](MessageNode& message) { arrivals_.recycle(static_cast<Arrival&>(message)); });
  early_.forget(rank);
  if (static_cast<std::size_t>(rank) < granted_.size()) granted_[static_cast<std::size_t>(rank)].clear();
}

void Receiving::lose(int rank) {
  early_.forget(rank);
  const auto index = static_cast<std::size_t>(rank);
  if (index >= is_lost_.size()) is_lost_.resize(index + 1);
  is_lost_[index] = true;
  if (index >= granted_.size()) return;
  for (Request* request : std::exchange(granted_[index], {})) fail(*request, MPIX_ERR_PROC_FAILED);
}

void Receiving::fail(Request& request, int error) {
  request.error = error;
  request.status_source = request.peer;
  request.status_bytes = 0;
  requests_.complete(request);
}

void Receiving::end_those_in_vain(const Losses& losses) {
  for (ReceiveNode* node : matcher_.posted()) {
    auto& request = static_cast<Request&>(*node);
    const int error = losses.why_in_vain(request);
    const bool was_pending = request.error == MPIX_ERR_PROC_FAILED_PENDING;
    if (error == MPIX_ERR_PROC_FAILED_PENDING) {
      request.error = error;
      request.complete = true;
    } else if (error != MPI_SUCCESS) {
      matcher_.cancel(request);
      fail(request, error);
    } else if (was_pending) {
      request.error = MPI_SUCCESS;
      request.complete = false;
    }
  }
}

void Receiving::start(Request& request) {
  request.begin();
  address(request);
  request.rule = ReceiveNode::Rule::free;
  request.expected_ordinal = 0;
  if (determinants_.replayer().anything_left()) [[unlikely]]
    restrict(request, matcher_.posts());
  request.room_bytes = room_bytes(request);
  if (MessageNode* message = matcher_.post(request)) deliver(request, static_cast<Arrival&>(*message));
}

/// What a replay knows about a receive: that the program cancels it, or which message it takes.
void Receiving::restrict(Request& request, std::uint64_t post_index) {
  auto& replayer = determinants_.replayer();
  if (replayer.is_cancelled(post_index)) {
    request.rule = ReceiveNode::Rule::cancelled;
    return;
  }
  if (request.source != any_source) {
    if (replayer.has_match(post_index))
      owner_.differs(fmt::format("its receive {} names a source, its predecessor's was from MPI_ANY_SOURCE",
                                 post_index + 1));
    return;
  }
  if (const auto match = replayer.take_match(post_index)) {
    ++awaited_matches_;
    request.source = match->source;
    request.expected_ordinal = match->ordinal;
    return;
  }
  if (!replayer.outcomes_left()) return;
  request.rule = ReceiveNode::Rule::held;
  holds_ = true;
}

void Receiving::outcome_taken() {
  if (determinants_.replaying()) return;
  determinants_.publish_counters();
  if (!holds_) return;
  holds_ = false;
  for (auto& [receive, message] : matcher_.go_live())
    deliver(static_cast<Request&>(*receive), static_cast<Arrival&>(*message));
}

/// What message_arrived() does, for the messages that most are: whole ones for which a receive is posted.
int Receiving::take_awaited(int from, Stream& stream, int at_most) {
  int taken = take_run(from, stream, at_most);
  if (taken < 0) return taken;
  const int taken_before = taken;
  std::uint64_t taken_bytes = 0;
  log::LogReader& reader = stream.reader;
  for (; taken < at_most; ++taken) {
    const log::Cell* cell = reader.peek_cell();
    if (!cell || cell->kind != kind_message || (cell->flags & ~(flag_synchronous | flag_patched)) != 0) break;
    const bool is_synchronous = (cell->flags & flag_synchronous) != 0;
    const bool is_patched = (cell->flags & flag_patched) != 0;
    std::span<const std::byte> payload{cell->payload, cell->inline_size};
    const std::uint64_t label = cell->label;
    const bool is_apart = payload.size() > log::inline_payload_max;
    if (is_apart) {
      const auto record = reader.peek();
      if (!record) break;
      payload = record->payload;
    }
    ReceiveNode* receive = matcher_.first_posted(label_context(label), from, label_tag(label));
    if (!receive) break;
    auto& request = static_cast<Request&>(*receive);
    if (!takes_at_once(request, payload.size())) break;
    const std::size_t early = payload.size() < RouteLimits::shown_bytes_min
                                  ? 0
                                  : early_.take(from, reader, *reader.peek(), request);
    reader.advance();
    const std::uint64_t ordinal = stream.ordinals.next(label_context(label));
    matcher_.take_first_posted(request, from);
    request.status_source = request.peer;
    if (request.source == any_source) {
      determinants_.record_match(request.post_index(), {from, ordinal});
      request.status_source = request.communicator->rank_of(from);
    }
    if (is_synchronous) {
      outgoing_.acknowledge(from, label_context(label), ordinal);
      LLAMADA_CRASH_POINT("match:acknowledged");
    }
    if (is_apart)
      take_apart(request, payload, early);
    else
      log::copy_small(room(request), payload.data(), payload.size());
    if (is_patched) [[unlikely]]
      patch(request, from, payload.size(), stream.patch);
    LLAMADA_CRASH_POINT("match:delivered");
    request.status_tag = label_tag(label);
    request.status_bytes = payload.size();
    request.complete = true;
    taken_bytes += payload.size();
    stream.last_bytes = payload.size();
  }
  if (taken > taken_before) count_received(taken - taken_before, taken_bytes);
  return taken;
}

/// Whether so few of the messages that are waited for have come that more are to come first. Who takes each
/// at once takes from the sender's cache the lines that it is about to write, and both wait for each line.
bool Receiving::is_to_gather(const log::LogReader& reader, const NodeList<ReceiveNode>& posted) {
  if (looks_left_ == 0) return false;
  std::ptrdiff_t behind = -1;
  for (const ReceiveNode* node = posted.first; node && behind < gathered_ - 1; node = node->next) ++behind;
  if (!reader.is_to_come(behind)) return false;
  --looks_left_;
  return true;
}

/// For take_awaited(): copies what lies apart, of which the first `early` bytes are there already.
void Receiving::take_apart(Request& request, std::span<const std::byte> payload, std::size_t early) {
  if (payload.size() > log::LogReader::Run::size_bytes_max) {
    looks_left_ = payload.size() <= gathered_message_max ? gather_looks : 0;
    gathered_ = static_cast<std::uint8_t>(gathered_bytes / payload.size());
  }
  copy_bytes_in(room(request) + early, payload.data() + early, payload.size() - early);
}

/// take_awaited() for a run of small messages of one context, for which several receives that name their
/// source are posted: what belongs to all of them is looked at once.
int Receiving::take_run(int from, Stream& stream, int at_most) {
  log::LogReader& reader = stream.reader;
  const log::Cell* first = reader.peek_cell();
  if (!first) return 0;
  const std::uint32_t context = label_context(first->label);
  NodeList<ReceiveNode>* posted = matcher_.named_alone(context, from);
  if (!posted || !posted->first || !posted->first->next) return 0;
  if (gathers_ && is_to_gather(reader, *posted)) return -1;
  log::LogReader::Run run(reader);
  ReceiveNode* receive = posted->first;
  std::uint64_t bytes = 0;
  int taken = 0;
  for (; taken < at_most && receive; ++taken) {
    const auto message = run.peek();
    if (!message || message->kind_and_flags != kind_message || label_context(message->label) != context)
      break;
    auto& request = static_cast<Request&>(*receive);
    const int tag = label_tag(message->label);
    if ((request.tag != tag && request.tag != any_tag) || !takes_at_once(request, message->size_bytes)) break;
    run.advance();
    receive = receive->next;
    request.queued = false;
    request.status_source = request.peer;
    request.status_tag = tag;
    request.status_bytes = message->size_bytes;
    request.complete = true;
    bytes += message->size_bytes;
    if (message->size_bytes <= log::inline_payload_max)
      log::copy_small(room(request), message->payload, message->size_bytes);
    else
      std::memcpy(room(request), message->payload, message->size_bytes);
    LLAMADA_CRASH_POINT("match:delivered");
  }
  if (taken == 0) return 0;
  looks_left_ = gather_looks;
  gathered_ = gathered_max;
  posted->remove_before(receive);
  run.finish();
  stream.ordinals.pass(context, static_cast<std::uint64_t>(taken));
  count_received(taken, bytes);
  return taken;
}

/// That a receive will take it is certain where it names its source and take_awaited() finds it.
bool Receiving::message_announced(int from, const log::LogReader& reader) {
  const auto record = reader.peek_announced();
  if (!record || record->kind != kind_message) return false;
  ReceiveNode* receive = matcher_.first_posted(label_context(record->label), from, label_tag(record->label));
  if (!receive || receive->source == any_source) return false;
  auto& request = static_cast<Request&>(*receive);
  return takes_at_once(request, record->payload.size()) && early_.copy(from, reader, *record, request);
}

void Receiving::message_arrived(const IncomingMessage& message) {
  early_.forget(message.source);
  if (ReceiveNode* receive = matcher_.arrive(message))
    return deliver(static_cast<Request&>(*receive), message);
  matcher_.add_unexpected(arrivals_.add(message));
  arena_.count(log::Counter::messages_unexpected);
}

/// Everything that follows from a match comes after it has been recorded.
void Receiving::matched(Request& request, const Envelope& message, std::size_t bytes, bool synchronous) {
  if (request.expected_ordinal != 0) {
    if (request.expected_ordinal != message.ordinal)
      owner_.differs(
          fmt::format("its receive {} takes message {} of rank {}, its predecessor's took message {}",
                      request.post_index() + 1, message.ordinal, message.source, request.expected_ordinal));
    --awaited_matches_;
    LLAMADA_CRASH_POINT("match:repeated");
  } else if (request.peer == MPI_ANY_SOURCE && request.kind == Request::Kind::receive &&
             request.source == any_source) {
    determinants_.record_match(request.post_index(), {message.source, message.ordinal});
  }
  request.status_source = request.communicator->rank_of(message.source);
  request.status_tag = message.tag;
  request.status_bytes = bytes;
  arena_.count(log::Counter::messages_received);
  arena_.count(log::Counter::bytes_received, bytes);
  if (!synchronous) return;
  outgoing_.acknowledge(message.source, message.context, message.ordinal);
  LLAMADA_CRASH_POINT("match:acknowledged");
}

namespace {

/// Whether so many bytes end within a basic element of a datatype with gaps: then other datatypes were sent,
/// and nobody can use what lies there (3.3.1).
bool ends_within_element(const Datatype& type, std::size_t bytes) {
  if (type.is_contiguous()) return false;
  const std::size_t rest = bytes % type.size();
  return rest != 0 && type.signature().elements_in(rest) < 0;
}

}  // namespace

void Receiving::finish(Request& request) {
  LLAMADA_CRASH_POINT("match:delivered");
  const std::size_t capacity = request.buffer.bytes();
  if (request.status_bytes > capacity) {
    request.error = MPI_ERR_TRUNCATE;
    request.failed_bytes = request.status_bytes;
    request.status_bytes = capacity;
  } else if (request.status_bytes > 0 && ends_within_element(*request.buffer.type, request.status_bytes))
      [[unlikely]] {
    request.error = MPI_ERR_TYPE;
    request.failed_bytes = request.status_bytes;
  }
  requests_.complete(request);
}

void Receiving::deliver(Request& request, const IncomingMessage& message) {
  matched(request, message, message.bytes, message.synchronous);
  if (message.rendezvous) return grant(request, message.source, message.announcement);
  request.buffer.unpack(0, message.payload);
  patch(request, message.source, message.bytes, message.patch);
  finish(request);
}

/// What a message has in place of bytes of the earlier one that is there.
void Receiving::patch(Request& request, int from, std::size_t bytes, std::span<const std::byte> patch) {
  std::byte* const memory = bytes <= request.buffer.bytes() ? request.buffer.contiguous() : nullptr;
  const auto put = [&](std::size_t offset, std::span<const std::byte> piece) {
    if (memory)
      std::memcpy(memory + offset, piece.data(), piece.size());
    else
      request.buffer.unpack(offset, piece);
  };
  if (!apply_patch(patch, bytes, put))
    world_.damaged(from, fmt::format("its log to rank {} has a patch that cannot be", world_.rank()));
}

void Receiving::deliver(Request& request, Arrival& arrival) {
  matched(request, arrival, arrival.bytes, arrival.synchronous);
  if (arrival.rendezvous) {
    grant(request, arrival.source, arrival.announcement);
  } else {
    request.buffer.unpack(0, {arrival.payload, arrival.bytes});
    patch(request, arrival.source, arrival.bytes, arrival.patch);
    finish(request);
  }
  arrivals_.recycle(arrival);
}

void Receiving::start_matched(Request& request, Arrival& arrival) {
  request.begin();
  request.context = request.communicator->context();
  request.source = arrival.source;
  request.expected_ordinal = 0;
  deliver(request, arrival);
}

void Receiving::grant(Request& request, int source, const Announcement& announcement) {
  if (static_cast<std::size_t>(source) < is_lost_.size() && is_lost_[static_cast<std::size_t>(source)])
    return fail(request, MPIX_ERR_PROC_FAILED);
  if (direct_.receive(request, source, announcement, outgoing_.awaits_grant(source))) return;
  request.bulk_done = 0;
  granted_[static_cast<std::size_t>(source)].push_back(&request);
  outgoing_.grant(source, {announcement.send_id, direct_.is_unreachable(source) ? 1u : 0u});
  LLAMADA_CRASH_POINT("bulk:granted");
}

void Receiving::bulk_arrived(int from, std::span<const std::byte> piece) {
  auto& waiting = granted_[static_cast<std::size_t>(from)];
  const std::size_t left = waiting.empty() ? 0 : waiting.front()->status_bytes - waiting.front()->bulk_done;
  if (piece.size() > left)
    world_.damaged(from, fmt::format("its bulk lane to rank {} has {} bytes, and {} are to come",
                                     world_.rank(), piece.size(), left));
  Request& request = *waiting.front();
  request.buffer.unpack(request.bulk_done, piece);
  request.bulk_done += piece.size();
  LLAMADA_CRASH_POINT("bulk:piece-taken");
  if (request.bulk_done < request.status_bytes) return;
  waiting.pop_front();
  finish(request);
}

bool Receiving::cancel(Request& request) {
  bool cancelled = false;
  if (determinants_.replaying()) {
    auto taken = determinants_.replayer().take_cancel(request.post_index());
    if (!taken) owner_.differs(taken.error().text());
    cancelled = *taken;
    if (cancelled) matcher_.cancel(request);
    outcome_taken();
  } else {
    // A receive whose match is recorded has taken its message, which may still be on its way.
    const bool is_taken = request.complete || request.expected_ordinal != 0;
    cancelled = !is_taken && !early_.has_begun(request) && matcher_.cancel(request);
    if (cancelled)
      determinants_.record_cancelled(request.post_index());
    else
      determinants_.record_completion(replay::CallKind::cancel, {});
  }
  if (!cancelled) return false;
  request.cancelled = true;
  request.status_source = MPI_ANY_SOURCE;
  request.status_tag = MPI_ANY_TAG;
  request.status_bytes = 0;
  requests_.complete(request);
  return true;
}

void Receiving::acknowledged(int from, std::uint32_t context, std::uint64_t ordinal) {
  outgoing_.acknowledged(from, context, ordinal);
}

void Receiving::granted(int from, const Grant& grant) { outgoing_.granted(from, grant); }

void Receiving::granted_directly(int from, const DirectGrant& grant) {
  outgoing_.granted_directly(from, grant);
}

// Probes

Arrival* Receiving::probe(std::uint32_t context, int source, int tag) {
  return static_cast<Arrival*>(matcher_.probe(context, source, tag));
}

Arrival* Receiving::find(std::uint32_t context, int source, std::uint64_t ordinal) {
  return static_cast<Arrival*>(matcher_.find(context, source, ordinal));
}

}  // namespace llamada::mpi
