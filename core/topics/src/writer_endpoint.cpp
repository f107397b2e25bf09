#include "writer_endpoint.hpp"

#include <algorithm>

#include "llamada/topics/matching.hpp"
#include "participant_state.hpp"

namespace llamada::topics::detail {
namespace {

// EndpointEntry::waits.
constexpr std::uint32_t waits_for_room = 1;
constexpr std::uint32_t waits_for_acknowledgment = 2;

/// When an idle writer looks again for memory to give back.
constexpr std::int64_t idle_ns = 100'000'000;

/// However large LATENCY_BUDGET is, nobody sleeps longer over what has been published.
constexpr std::int64_t latency_budget_max_ns = 100'000'000;

Status check_writer(const EndpointSpec& spec) {
  if (spec.topic.empty() || spec.type.empty())
    return failure(Errc::invalid_argument, "a writer needs the names of its topic and type");
  if (!spec.qos.writer)
    return failure(Errc::invalid_argument, "the QoS of the writer of '{}' is a reader's", spec.topic);
  return qos::check_consistent(spec.qos);
}

}  // namespace

WriterImplementation::WriterImplementation(ParticipantState& participant, const EndpointSpec& spec,
                                           WriterEvents& events)
    : participant_(participant),
      spec_(spec),
      events_(events),
      limits_(spec.qos.datawriter),
      expiry_(spec.qos.datawriter.lifespan.duration),
      must_be_kept_(spec.qos.datawriter.durability.kind == qos::DurabilityKind::persistent &&
                    !spec.only_with),
      keeps_acknowledged_(spec.qos.datawriter.history.kind == qos::HistoryKind::keep_last),
      gives_back_(spec.qos.datawriter.durability.kind >= qos::DurabilityKind::transient &&
                  spec.qos.datawriter.reliability.kind == qos::ReliabilityKind::reliable &&
                  spec.qos.datawriter.ownership.kind == qos::OwnershipKind::shared && !keeps_acknowledged_ &&
                  !spec.only_with) {}

Result<std::unique_ptr<WriterImplementation>> WriterImplementation::create(ParticipantState& participant,
                                                                           const EndpointSpec& spec,
                                                                           WriterEvents& events) {
  if (auto possible = check_writer(spec); !possible) return propagate(possible);
  std::unique_ptr<WriterImplementation> writer(new WriterImplementation(participant, spec, events));
  log::ArenaWriter& arena = participant.transport.arena();
  StorePlace place;
  auto store = make_store(arena, spec, place);
  if (!store) return propagate(store);
  auto entry = participant.announce(spec, place);
  if (!entry) {
    (*store)->discard();
    return propagate(entry);
  }
  writer->store_ = std::move(*store);
  writer->entry_ = *entry;
  if (place.slots == 0) arena.log(place.log).endpoint = *entry;
  writer->id_ = {participant.own_arena_id(),
                 static_cast<std::uint32_t>(participant.directory.entry(*entry).number.load())};
  participant.writers.push_back(writer.get());
  writer->assert_liveliness();
  participant.keeper_watch.add(spec, participant.now_ns());
  return writer;
}

WriterImplementation::~WriterImplementation() {
  if (store_ == nullptr) return;
  std::erase(participant_.writers, this);
  if (wake_due_ns_ != 0) wake_now();
  participant_.unsettle();
  participant_.directory.bury(entry_);
  participant_.retired_writers.push_back({entry_, std::move(store_), std::move(matches_)});
  participant_.transport.wake_all();
}

/// Does what needs room. When there is none, it asks to be woken and looks again, so that room made meanwhile
/// is not missed.
template <typename Action>
auto WriterImplementation::attempt(const SampleHeader* header, Action action) -> decltype(action()) {
  for (bool again = false;; again = true) {
    auto room = check_room(header);
    if (room) {
      auto done = action();
      if (done || (done.error().code() != Errc::would_block && !may_give_back(done.error()))) return done;
      if (again && done.error().code() != Errc::would_block && is_behind())
        return failure(Errc::would_block, "{}; a persistence service or a reader is behind",
                       done.error().text());
      if (again) return done;
    } else if (again || room.error().code() != Errc::would_block) {
      return propagate(room);
    }
    wait_for(waits_for_room);
    give_back();
    look_at_expiry();
  }
}

Status WriterImplementation::check_room(const SampleHeader* header) {
  expire();
  if (!limits_.any()) return {};
  const std::uint64_t published = store_->published();
  const std::uint64_t acknowledged = acknowledged_by_all();
  const std::uint64_t released = std::max(this->released(acknowledged), expired_);
  limits_.released(released);
  const bool goes_by_itself = expiry_.is_finite() || will_give_back();
  return limits_.check(header, published - acknowledged, published - released, goes_by_itself);
}

/// Up to which sample nothing has to stay, though all RELIABLE readers have only those up to `acknowledged`.
std::uint64_t WriterImplementation::released(std::uint64_t acknowledged) {
  if (!limits_.keeps_for_good()) return acknowledged;
  if (gives_back()) released_ = std::max(released_, std::min(acknowledged, kept()));
  return released_;
}

/// LIFESPAN (DDS 1.4, 2.2.3.16): samples that are too old make room.
void WriterImplementation::expire() {
  if (expiry_.is_empty()) return;
  const std::int64_t now_ns = participant_.clock.realtime().count();
  if (expiry_.next_ns() > now_ns) return;
  expired_ = expiry_.expired_through(now_ns);
  store_->expired(expired_);
}

/// When the next samples expire, on the monotonic clock. Nobody waits for the room of an idle writer, so
/// that may be later.
std::int64_t WriterImplementation::next_expiry(std::int64_t now_ns) {
  if (expiry_.is_empty()) return never_ns;
  const std::int64_t left_ns = expiry_.next_ns() - participant_.clock.realtime().count();
  const auto& waits = participant_.directory.entry(entry_).waits;
  const bool is_waiting = (waits.load(std::memory_order_relaxed) & waits_for_room) != 0;
  const std::int64_t at_least_ns = is_waiting ? 0 : idle_ns;
  return left_ns > never_ns - now_ns ? never_ns : now_ns + std::max(left_ns, at_least_ns);
}

/// A thread that sleeps already has to sleep no longer than until samples expire.
void WriterImplementation::look_at_expiry() {
  constexpr std::int64_t tolerance_ns = 1'000'000;  // it asks again and again, and is not to be woken by that
  const std::int64_t due_ns = next_expiry(participant_.now_ns());
  const std::int64_t before_ns = participant_.next_due_ns.load(std::memory_order_relaxed);
  participant_.due_by(due_ns);
  if (due_ns < before_ns - tolerance_ns) participant_.transport.wake(participant_.transport.slot());
}

void WriterImplementation::wait_for(std::uint32_t what) {
  auto& waits = participant_.directory.entry(entry_).waits;
  waits.store(waits.load(std::memory_order_relaxed) | what, std::memory_order_relaxed);
  // Pairs with the fence in Stream::notify_writer().
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

Status WriterImplementation::loan(std::size_t size_bytes, Loan& into) {
  return attempt(nullptr, [&] { return store_->loan(size_bytes, into); });
}

Result<std::uint64_t> WriterImplementation::publish(Loan&& loan, const SampleHeader& header) {
  const std::size_t size_bytes = loan.data().size();
  auto done = attempt(&header, [&] { return store_->publish(loan, header); });
  if (!done) return propagate(done);
  loan.drop();
  return published_one(header, size_bytes);
}

Result<std::uint64_t> WriterImplementation::publish(std::span<const std::byte> data,
                                                    const SampleHeader& header) {
  auto done = attempt(&header, [&] { return store_->publish(data, header); });
  if (!done) return propagate(done);
  return published_one(header, data.size());
}

Result<std::uint64_t> WriterImplementation::publish(std::span<const std::byte> data,
                                                    const SampleHeader& header, const Origin& origin) {
  auto done = attempt(&header, [&] { return store_->publish(data, header, origin); });
  if (!done) return propagate(done);
  return published_one(header, data.size());
}

Result<std::uint64_t> WriterImplementation::published_one(const SampleHeader& header,
                                                          std::size_t size_bytes) {
  const std::uint64_t sequence_number = store_->published();
  limits_.add(header, sequence_number);
  expiry_.add(sequence_number, header.source_timestamp_ns);
  auto& waits = participant_.directory.entry(entry_).waits;
  if (const auto waited = waits.load(std::memory_order_relaxed); (waited & waits_for_room) != 0)
    waits.store(waited & ~waits_for_room, std::memory_order_relaxed);
  log::ArenaWriter& arena = participant_.transport.arena();
  arena.count(log::Counter::samples_written);
  arena.count(log::Counter::sample_bytes_written, size_bytes);
  if (spec_.qos.datawriter.liveliness.kind != qos::LivelinessKind::automatic &&
      spec_.qos.datawriter.liveliness.lease_duration != qos::duration_infinite)
    assert_liveliness();
  wake_readers();
  if (gives_back_ && store_->has_resized()) give_back();
  return sequence_number;
}

/// LATENCY_BUDGET (DDS 1.4, 2.2.3.8): readers that sleep may be woken later, once for several samples.
void WriterImplementation::wake_readers() {
  const std::int64_t budget_ns = spec_.qos.datawriter.latency_budget.duration.count();
  if (budget_ns <= 0) return wake_now();
  const std::int64_t now_ns = participant_.now_ns();
  if (wake_due_ns_ != 0) {
    if (now_ns >= wake_due_ns_) wake_now();
    return;
  }
  wake_due_ns_ = now_ns + std::min(budget_ns, latency_budget_max_ns);
  participant_.due_by(wake_due_ns_);
  participant_.transport.wake(participant_.transport.slot());  // to sleep no longer than that
}

void WriterImplementation::wake_now() {
  for (const WriterMatch& match : matches_) participant_.transport.wake(match.slot);
  wake_due_ns_ = 0;
}

/// At least published() when no RELIABLE reader is matched.
std::uint64_t WriterImplementation::acknowledged_by_all() const {
  std::uint64_t least = store_->published();
  for (const WriterMatch& match : matches_) {
    if (!match.reliable) continue;
    // Pairs with the release store in Stream::absorb().
    const std::uint64_t acknowledged = match.entry->acknowledged.load(std::memory_order_acquire);
    least = std::min(least, std::max(acknowledged, match.start_sequence));
  }
  return least;
}

bool WriterImplementation::has_keeper() const {
  return std::any_of(matches_.begin(), matches_.end(), [](const WriterMatch& match) { return match.keeps; });
}

/// Up to which sample a service has kept them, also one that has gone since.
std::uint64_t WriterImplementation::kept() {
  for (const WriterMatch& match : matches_) {
    if (!match.keeps) continue;
    // Pairs with the release stores in Stream::acknowledge() and EndpointDirectory::remove_match(): while the
    // number stands, the word is of this match.
    const std::uint64_t acknowledged = match.entry->acknowledged.load(std::memory_order_acquire);
    if (match.entry->number.load(std::memory_order_acquire) == match.match_number)
      kept_ = std::max(kept_, acknowledged);
  }
  return kept_;
}

/// Up to which sample all services that read this writer have kept them; 0: none reads.
std::uint64_t WriterImplementation::kept_by_services() const {
  std::uint64_t least = UINT64_MAX;
  for (const WriterMatch& match : matches_) {
    if (!match.keeps) continue;
    const std::uint64_t acknowledged =
        match.entry->acknowledged.load(std::memory_order_acquire);  // as kept()
    if (match.entry->number.load(std::memory_order_acquire) != match.match_number) return 0;
    least = std::min(least, acknowledged);
  }
  return least == UINT64_MAX ? 0 : std::min(least, store_->published());
}

/// A late reader gets from a service what is no longer here. It may have been given its past before the last
/// samples were kept. So nothing goes while such a reader is there and not matched. A reader that announces
/// itself after the look at the services' words gets all that they say from a service.
void WriterImplementation::give_back() {
  if (!gives_back() || judge_all) return;
  if (limits_.any()) (void)released(acknowledged_by_all());
  const std::uint64_t kept = kept_by_services();
  if (kept == 0) return;
  std::erase_if(awaited_, [this](const EndpointId& reader) { return !participant_.knows(reader); });
  if (awaited_.empty() && participant_.has_seen_all()) store_->expired(kept);
}

/// A service reads what this writer keeps, or is about to, perhaps in the place of one that has died.
bool WriterImplementation::will_give_back() const {
  return gives_back() && (has_keeper() || participant_.has_service());
}

/// The arena is full, and a service reads what fills it.
bool WriterImplementation::may_give_back(const Error& error) const {
  return error.code() == Errc::out_of_resources && will_give_back();
}

/// Whether more can be given back later.
bool WriterImplementation::is_behind() const {
  const std::uint64_t published = store_->published();
  return kept_by_services() < published || acknowledged_by_all() < published || !awaited_.empty() ||
         !participant_.has_seen_all();
}

bool WriterImplementation::is_settled() {
  return acknowledged_by_all() >= store_->published() && (!must_be_kept_ || kept() >= store_->published());
}

bool WriterImplementation::all_acknowledged() {
  auto& waits = participant_.directory.entry(entry_).waits;
  if (!is_settled()) {
    wait_for(waits_for_acknowledgment);
    if (!is_settled()) return false;
  }
  waits.store(waits.load(std::memory_order_relaxed) & ~waits_for_acknowledgment, std::memory_order_relaxed);
  return true;
}

Status WriterImplementation::set_qos(const qos::EndpointQos& qos) {
  EndpointSpec changed = spec_;
  changed.qos = qos;
  if (auto possible = check_writer(changed); !possible) return possible;
  if (auto announced = participant_.announce_change(entry_, std::move(changed), spec_); !announced)
    return announced;
  expiry_.set_lifespan(spec_.qos.datawriter.lifespan.duration);
  judge_all = true;
  return {};
}

void WriterImplementation::assert_liveliness() {
  participant_.directory.entry(entry_).asserted_ns.store(participant_.now_ns(), std::memory_order_release);
  if (spec_.qos.datawriter.liveliness.kind == qos::LivelinessKind::manual_by_participant)
    participant_.assert_manually();
}

void WriterImplementation::consider(const EndpointInfo& reader) {
  if (!is_meant_for(spec_, reader.id) || !is_meant_for(reader, id_)) return;
  const Fit fit = judge(spec_, reader);
  if (!fit.is_same_topic()) return;
  std::erase(awaited_, reader.id);
  if (gives_back_ && fit.fits() && !is_matched(reader.id) &&
      reader.qos.datareader.durability.kind != qos::DurabilityKind::volatile_)
    awaited_.push_back(reader.id);
  if (fit.shares_partition && !fit.incompatibilities.empty())
    return events_.on_incompatible(reader, fit.incompatibilities);
  for (WriterMatch& match : matches_) {
    if (match.reader != reader.id || match.reader_qos == reader.qos) continue;
    match.reader_qos = reader.qos;
    events_.on_qos_changed(reader);
  }
}

bool WriterImplementation::is_matched(std::uint32_t arena_id, std::uint64_t match_number) const {
  return std::any_of(matches_.begin(), matches_.end(), [&](const WriterMatch& match) {
    return match.arena_id == arena_id && match.match_number == match_number;
  });
}

bool WriterImplementation::is_matched(const EndpointId& reader) const {
  return std::any_of(matches_.begin(), matches_.end(),
                     [&](const WriterMatch& match) { return match.reader == reader; });
}

Status WriterImplementation::match(WriterMatch match, const EndpointInfo& reader, bool wants_history) {
  EndpointDirectory::Grant grant{match.match_number, match.arena_id, match.match_index, 0, {}};
  // From here on nothing that the reader has not consumed is reused; then it is told where it begins.
  if (!wants_history) {
    auto position = store_->position();
    if (!position) return propagate(position);
    grant.position = *position;
    grant.sequence = store_->published();
  }
  match.start_sequence = grant.sequence;
  auto granted = participant_.directory.add_grant(grant);
  if (!granted) return propagate(granted);
  match.grant = *granted;
  store_->add_reader(*match.entry, match.reliable);
  match.reader_qos = reader.qos;
  match.keeps = reader.keeps;
  matches_.push_back(match);
  std::erase(awaited_, match.reader);
  participant_.transport.wake(match.slot);
  events_.on_matched(reader);
  return {};
}

void WriterImplementation::unmatch_at(std::size_t index, bool died) {
  const WriterMatch match = matches_[index];
  matches_.erase(matches_.begin() + static_cast<std::ptrdiff_t>(index));
  store_->remove_reader(*match.entry);
  participant_.directory.remove_grant(match.grant);
  events_.on_unmatched(match.reader, died);
}

std::int64_t WriterImplementation::keep_time(std::int64_t now_ns) {
  keep_acknowledged();
  expire();
  if (wake_due_ns_ != 0 && now_ns >= wake_due_ns_) wake_now();
  std::int64_t due_ns = std::min(check_lease(now_ns), next_expiry(now_ns));
  if (gives_back() && has_keeper() && kept_by_services() < store_->published())
    due_ns = std::min(due_ns, now_ns + idle_ns);
  return wake_due_ns_ == 0 ? due_ns : std::min(due_ns, wake_due_ns_);
}

/// When the lease ends, or has to be renewed.
std::int64_t WriterImplementation::check_lease(std::int64_t now_ns) {
  const qos::Liveliness& liveliness = spec_.qos.datawriter.liveliness;
  const std::int64_t lease_ns = liveliness.lease_duration.count();
  if (liveliness.lease_duration == qos::duration_infinite) return never_ns;
  if (liveliness.kind == qos::LivelinessKind::automatic) return now_ns + lease_ns / 3;
  const auto& stamp = liveliness.kind == qos::LivelinessKind::manual_by_topic
                          ? participant_.directory.entry(entry_).asserted_ns
                          : participant_.own_entry().asserted_manually_ns;
  const std::int64_t end = stamp.load(std::memory_order_relaxed) + lease_ns;
  const bool lost = now_ns > end;
  if (lost && !lease_lost_) events_.on_liveliness_lost();
  lease_lost_ = lost;
  return lost ? never_ns : end + 1;
}

}  // namespace llamada::topics::detail
