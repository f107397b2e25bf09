#include "reader_endpoint.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "llamada/topics/matching.hpp"
#include "participant_state.hpp"

namespace llamada::topics::detail {
namespace {

Status check_reader(const EndpointSpec& spec) {
  if (spec.topic.empty() || spec.type.empty())
    return failure(Errc::invalid_argument, "a reader needs the names of its topic and type");
  if (spec.qos.writer)
    return failure(Errc::invalid_argument, "the QoS of the reader of '{}' is a writer's", spec.topic);
  return qos::check_consistent(spec.qos);
}

bool keeps_history(const qos::EndpointQos& qos) {
  return qos.writer ? qos.datawriter.durability.kind != qos::DurabilityKind::volatile_
                    : qos.datareader.durability.kind != qos::DurabilityKind::volatile_;
}

}  // namespace

Result<std::unique_ptr<ReaderImplementation>> ReaderImplementation::create(ParticipantState& participant,
                                                                           const EndpointSpec& spec,
                                                                           ReaderEvents& events) {
  if (auto possible = check_reader(spec); !possible) return propagate(possible);
  std::unique_ptr<ReaderImplementation> reader(new ReaderImplementation(participant, spec, events));
  if (KeeperWatch::needs_service(spec)) reader->past_ = std::make_unique<ReaderPast>(spec.topic);
  auto entry = participant.announce(spec, {});
  if (!entry) return propagate(entry);
  reader->entry_ = *entry;
  reader->id_ = {participant.own_arena_id(),
                 static_cast<std::uint32_t>(participant.directory.entry(*entry).number.load())};
  participant.readers.push_back(reader.get());
  participant.keeper_watch.add(spec, participant.now_ns());
  return reader;
}

ReaderImplementation::~ReaderImplementation() {
  if (id_.endpoint == 0) return;
  std::erase(participant_.readers, this);
  participant_.order_changed = true;
  participant_.unsettle();
  for (auto& stream : streams_) {
    stream->finish();
    participant_.retired_streams.push_back(std::move(stream));
  }
  participant_.directory.remove(entry_);
  participant_.drop_retired_streams();
  participant_.transport.wake_all();
}

Status ReaderImplementation::set_qos(const qos::EndpointQos& qos) {
  EndpointSpec changed = spec_;
  changed.qos = qos;
  if (auto possible = check_reader(changed); !possible) return possible;
  if (auto announced = participant_.announce_change(entry_, std::move(changed), spec_); !announced)
    return announced;
  judge_all = true;
  return {};
}

std::size_t ReaderImplementation::matched_count() const {
  return static_cast<std::size_t>(
      std::count_if(streams_.begin(), streams_.end(), [](const auto& stream) { return stream->started(); }));
}

Stream* ReaderImplementation::find(const EndpointId& writer) const {
  for (const auto& stream : streams_)
    if (stream->writer.id == writer) return stream.get();
  return nullptr;
}

/// Looks at a writer that is new or has changed, or that this reader has not seen with its QoS.
Status ReaderImplementation::consider(const StreamOrigin& origin, const EndpointInfo& writer,
                                      bool writer_lives) {
  if (!is_meant_for(writer, id_) || !is_meant_for(spec_, writer.id)) return {};
  const Fit fit = judge(writer, spec_);
  if (!fit.is_same_topic()) return {};
  Stream* stream = find(writer.id);
  if (fit.shares_partition && !fit.incompatibilities.empty())
    events_.on_incompatible(writer, fit.incompatibilities);
  if (!fit.fits()) {
    if (stream != nullptr) stream->misfit = true;
    return {};
  }
  if (stream == nullptr) return open_stream(origin, writer, writer_lives);
  if (stream->writer.qos == writer.qos) return {};
  stream->writer = writer;
  participant_.order_changed = true;
  if (stream->started()) events_.on_qos_changed(writer);
  return {};
}

Status ReaderImplementation::open_stream(const StreamOrigin& origin, const EndpointInfo& writer,
                                         bool writer_lives) {
  const bool wants_history = keeps_history(spec_.qos) && keeps_history(writer.qos);
  // Of a dead writer only its history is left.
  if (!writer_lives && (!wants_history || over_.contains(writer.id))) return {};
  // A service's writer reuses what nobody waits for, and a BEST_EFFORT reader is to get the past, too.
  const bool reliable =
      spec_.qos.datareader.reliability.kind == qos::ReliabilityKind::reliable || writer.only_with;
  auto match = participant_.directory.add_match(
      {origin.arena_id, static_cast<std::uint32_t>(origin.entry.number), id_.endpoint,
       (reliable ? log::match_is_reliable : 0) | (wants_history ? log::match_wants_history : 0)});
  if (!match) return propagate(match);
  const StreamContext context{participant_.clock, participant_.transport, participant_.directory, *match};
  if (origin.entry.slots != 0) {
    streams_.push_back(std::make_unique<SlotStream>(context, origin, writer, &events_));
  } else if (origin.entry.log >= origin.arena.log_count()) {
    participant_.directory.remove_match(*match);
    return {};
  } else if (reliable)
    streams_.push_back(std::make_unique<LogStream>(context, origin, writer, &events_));
  else
    streams_.push_back(std::make_unique<LossyLogStream>(context, origin, writer, &events_));
  participant_.order_changed = true;
  Stream& stream = *streams_.back();
  stream.acknowledges_later = spec_.keeps;
  stream.past = past_.get();
  if (is_from_service(stream))
    past_->progressed(writer.id.participant, participant_.now_ns());
  else if (past_)
    hold(stream, past_->holds());
  if (!writer_lives) {
    streams_.back()->gone = true;
    start(stream, nullptr);
  } else {
    participant_.transport.wake(origin.slot);
  }
  return {};
}

void ReaderImplementation::start(Stream& stream, const EndpointDirectory::Grant* grant) {
  stream.start(grant);
  events_.on_matched(stream.writer);
  if (stream.held) return;
  look_for_gap(stream);
  if (!stream.held && !stream.gone) stream.show_claims();
}

/// Of a stream that has started and is not held, before it is read: the writer keeps only what no service
/// has.
void ReaderImplementation::look_for_gap(Stream& stream) {
  const std::uint64_t last = stream.given_back();
  if (last == 0) return;
  const std::uint64_t known = past_ ? past_->through(stream.writer.guid) : 0;
  if (known >= last) return;
  if (past_ && past_->awaits_more(participant_.now_ns())) return hold(stream, true);
  if (!spec_.keeps && !std::exchange(has_said_gap_, true)) say_gap(stream, known + 1, last);
  stream.report_lost(last - known);
}

void ReaderImplementation::say_gap(const Stream& stream, std::uint64_t first, std::uint64_t last) {
  fmt::print(stderr,
             "llamada: topic '{}': a reader of process {} does not get the samples {} to {} of a writer of "
             "process {}: the writer has given them to a persistence service, and {}.\n",
             spec_.topic, ::getpid(), first, last, stream.writer.pid,
             past_
                 ? "no service has given them to this reader. Start llamada-persistd with the same store "
                   "before the reader"
                 : "this reader does not ask a service for them. Use DURABILITY TRANSIENT or PERSISTENT for "
                   "the reader");
}

/// Whether nothing more can come by it.
bool ReaderImplementation::is_over(Stream& stream, bool& died) {
  died = stream.gone;
  if (stream.misfit) return true;
  if (stream.is_damaged()) {
    died = true;
    return true;
  }
  // In this order: what was committed before the writer went is seen by absorb().
  if (stream.writer_is_there()) return false;
  // Its last words may say that it was deleted before its application left.
  died = stream.gone && stream.writer_was_alive();
  if (!stream.started()) {
    if (!died || !stream.wants_history()) return true;
    start(stream, nullptr);  // nobody is left to grant it
  }
  return stream.absorb() && (!is_from_service(stream) || may_end(stream));
}

/// Nothing more comes from a service's writer. It stays until the living writers have shown which instances
/// they write: else these would seem to have no writer, for a moment or, where all their samples are known,
/// for ever. One whose service has ended or died too early stays until the next one has given the rest.
bool ReaderImplementation::may_end(Stream& stream) {
  const std::int64_t now_ns = participant_.now_ns();
  if (!stream.has_all_of_past && past_->awaits()) return false;
  if (stream.has_all_of_past) past_->ended(stream.writer.id.participant, now_ns);
  hold_writers();
  if (now_ns >= past_->lingers_until_ns() && !past_->holds()) return true;
  return std::all_of(streams_.begin(), streams_.end(), [this](const auto& each) {
    return is_from_service(*each) || (each->started() && each->drained);
  });
}

/// Lets go of the writers once the past is here. Those that have gone come first: else they would seem to own
/// EXCLUSIVE instances while the living ones are read.
void ReaderImplementation::hold_writers() {
  if (past_->holds()) return;
  bool has_gone = false;
  for (const auto& stream : streams_) {
    if (is_from_service(*stream) || stream->writer_is_there()) continue;
    release(*stream);
    has_gone = true;
  }
  if (has_gone) return;
  bool has_released = false;
  for (const auto& stream : streams_) {
    if (is_from_service(*stream) || !stream->held) continue;
    release(*stream);
    if (stream->started()) stream->show_claims();
    has_released = true;
  }
  if (has_released) participant_.transport.wake(participant_.transport.slot());  // there is something to read
}

/// Only of a reader with a past.
void ReaderImplementation::hold(Stream& stream, bool holds) {
  stream.held = holds;
  holds ? past_->unfollow(stream.writer.guid) : past_->follow(stream.writer.guid);
}

void ReaderImplementation::release(Stream& stream) {
  const bool was_held = stream.held;
  hold(stream, false);
  if (was_held && stream.started()) look_for_gap(stream);
}

void ReaderImplementation::look_at_services(const std::vector<std::uint64_t>& services, bool has_standby) {
  if (!past_) return;
  past_->look(services, has_standby, participant_.now_ns());
  hold_writers();
}

bool ReaderImplementation::awaits_past() const {
  return past_ &&
         (past_->awaits() || std::any_of(streams_.begin(), streams_.end(),
                                         [this](const auto& stream) { return is_from_service(*stream); }));
}

void ReaderImplementation::acknowledge(const EndpointId& writer, std::uint64_t number) {
  if (Stream* stream = find(writer); stream != nullptr && stream->started()) stream->acknowledge_kept(number);
}

void ReaderImplementation::drop_finished() {
  for (std::size_t i = 0; i < streams_.size();) {
    bool died = false;
    if (!is_over(*streams_[i], died)) {
      ++i;
      continue;
    }
    std::unique_ptr<Stream> stream = std::move(streams_[i]);
    streams_.erase(streams_.begin() + static_cast<std::ptrdiff_t>(i));
    participant_.order_changed = true;
    const bool matched = stream->started();
    if (died) over_.insert(stream->writer.id);
    // A service's memory is for other late readers.
    if (is_from_service(*stream)) stream->evacuate(Stream::Out::waiting);
    stream->finish();
    if (past_) past_->unfollow(stream->writer.guid);
    if (matched) events_.on_unmatched(stream->writer.id, died);
    participant_.retired_streams.push_back(std::move(stream));
  }
  if (past_) hold_writers();
}

/// A writer that has gone is ended once all that it left is read; one whose lease is over may assert itself.
bool ReaderImplementation::wants_look() const {
  return judge_all || std::any_of(streams_.begin(), streams_.end(), [](const auto& stream) {
           return stream->misfit || !stream->writer_is_there() || !stream->alive || stream->is_damaged();
         });
}

/// LIVELINESS (DDS 1.4, 2.2.3.11), judged by the writer's own lease.
std::int64_t ReaderImplementation::keep_time(std::int64_t now_ns) {
  std::int64_t due_ns = past_ ? keep_time_of_past(now_ns) : never_ns;
  for (const auto& stream : streams_) {
    if (!stream->started()) continue;
    due_ns = std::min(due_ns, stream->due_ns());
    const std::int64_t end_ns = is_from_service(*stream) ? never_ns : stream->gone ? 0 : lease_end(*stream);
    const bool alive = now_ns <= end_ns;
    if (alive && end_ns != never_ns) due_ns = std::min(due_ns, end_ns + 1);
    if (alive == stream->alive) continue;
    stream->alive = alive;
    events_.on_liveliness_changed(stream->writer.id, alive);
  }
  return due_ns;
}

std::int64_t ReaderImplementation::keep_time_of_past(std::int64_t now_ns) {
  for (const auto& stream : streams_) {
    if (!is_from_service(*stream)) continue;
    const std::uint64_t service = stream->writer.id.participant;
    if (stream->takes_progress()) past_->progressed(service, now_ns);
    if (stream->writer_is_there()) past_->promised(service, std::min(stream->asserted_ns(), now_ns));
  }
  const std::int64_t due_ns = past_->keep_time(now_ns);
  hold_writers();
  return now_ns < past_->lingers_until_ns() ? std::min(due_ns, past_->lingers_until_ns()) : due_ns;
}

std::int64_t ReaderImplementation::lease_end(const Stream& stream) const {
  const qos::Liveliness& liveliness = stream.writer.qos.datawriter.liveliness;
  if (liveliness.lease_duration == qos::duration_infinite) return never_ns;
  const StreamOrigin& origin = stream.origin();
  std::int64_t stamp = 0;
  if (liveliness.kind == qos::LivelinessKind::manual_by_topic) {
    stamp = stream.asserted_ns();
  } else {
    const PeerView* view = participant_.view_of(origin.slot, origin.arena_id);
    if (view == nullptr || !view->has_participant) return 0;
    const log::EndpointEntry& entry = view->arena.endpoint(view->participant_index);
    stamp =
        (liveliness.kind == qos::LivelinessKind::automatic ? entry.asserted_ns : entry.asserted_manually_ns)
            .load(std::memory_order_acquire);
  }
  const std::int64_t lease_ns = liveliness.lease_duration.count();
  return stamp > never_ns - lease_ns ? never_ns : stamp + lease_ns;
}

}  // namespace llamada::topics::detail
