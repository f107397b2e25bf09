#include "writer_endpoint.hpp"

#include <algorithm>

#include "llamada/topics/matching.hpp"
#include "participant_state.hpp"

namespace llamada::topics::detail {
namespace {

// EndpointEntry::waits.
constexpr std::uint32_t waits_for_room = 1;
constexpr std::uint32_t waits_for_acknowledgment = 2;

/// However large LATENCY_BUDGET is, nobody sleeps longer over what has been published.
constexpr std::int64_t latency_budget_max_ns = 100'000'000;

Status check_possible(const EndpointSpec& spec) {
  if (spec.topic.empty() || spec.type.empty())
    return failure(Errc::invalid_argument, "a writer needs the names of its topic and type");
  if (!spec.qos.writer)
    return failure(Errc::invalid_argument, "the QoS of the writer of '{}' is a reader's", spec.topic);
  if (auto consistent = qos::check_consistent(spec.qos); !consistent) return consistent;
  return qos::check_enforced(spec.qos.datawriter.durability);
}

}  // namespace

WriterLimits::WriterLimits(const qos::DataWriterQos& qos)
    : keeps_for_good_(qos.durability.kind != qos::DurabilityKind::volatile_),
      keeps_all_(qos.history.kind == qos::HistoryKind::keep_all &&
                 qos.reliability.kind == qos::ReliabilityKind::reliable),
      limits_(qos.resource_limits),
      window_(qos.reliability.kind == qos::ReliabilityKind::reliable ? qos.send_window.max
                                                                     : qos::length_unlimited) {
  if (!keeps_all_) {  // what a table of slots holds is bounded by itself
    limits_.max_samples = qos::length_unlimited;
    limits_.max_samples_per_instance = qos::length_unlimited;
  }
  has_limits_ = window_ != qos::length_unlimited || limits_.max_samples != qos::length_unlimited ||
                limits_.max_instances != qos::length_unlimited ||
                limits_.max_samples_per_instance != qos::length_unlimited;
  counts_under_way_ = window_ != qos::length_unlimited ||
                      (!keeps_for_good_ && (limits_.max_samples != qos::length_unlimited ||
                                            limits_.max_samples_per_instance != qos::length_unlimited));
}

Status WriterLimits::check_limits(const SampleHeader* header, std::uint64_t under_way,
                                  std::uint64_t published) const {
  const auto exceeds = [](std::uint64_t count, std::int32_t max) {
    return max != qos::length_unlimited && count >= static_cast<std::uint64_t>(max);
  };
  if (exceeds(under_way, window_))
    return failure(Errc::would_block, "{} samples are not acknowledged: SEND_WINDOW max", under_way);
  const Errc full = keeps_for_good_ ? Errc::out_of_resources : Errc::would_block;
  if (exceeds(keeps_for_good_ ? published : under_way, limits_.max_samples))
    return failure(full, "the writer keeps {} samples: RESOURCE_LIMITS max_samples", limits_.max_samples);
  // Of what is not known yet, and of the end of a coherent set, there is no instance.
  if (header == nullptr || header->kind == ChangeKind::coherent_end) return {};
  const auto found = instances_.find(header->instance);
  if (found == instances_.end()) {
    if (exceeds(instances_.size(), limits_.max_instances))
      return failure(Errc::out_of_resources, "the writer has {} instances: RESOURCE_LIMITS max_instances",
                     limits_.max_instances);
    return {};
  }
  if (exceeds(static_cast<std::uint64_t>(found->second), limits_.max_samples_per_instance))
    return failure(full,
                   "the writer keeps {} samples of an instance: RESOURCE_LIMITS max_samples_per_instance",
                   limits_.max_samples_per_instance);
  return {};
}

void WriterLimits::add_limited(const SampleHeader& header, std::uint64_t sequence_number) {
  const bool counts_samples = limits_.max_samples_per_instance != qos::length_unlimited;
  if (!counts_samples && limits_.max_instances == qos::length_unlimited) return;
  if (header.kind == ChangeKind::coherent_end) return;
  const bool ends =
      header.kind == ChangeKind::unregistered || header.kind == ChangeKind::disposed_unregistered;
  if (ends && !counts_samples) {
    instances_.erase(header.instance);
    return;
  }
  ++instances_[header.instance];
  if (counts_samples && !keeps_for_good_) pending_.push_back({sequence_number, header.instance});
}

void WriterLimits::acknowledged(std::uint64_t sequence_number) {
  while (!pending_.empty() && pending_.front().sequence_number <= sequence_number) {
    const auto found = instances_.find(pending_.front().instance);
    if (--found->second == 0 && limits_.max_instances == qos::length_unlimited) instances_.erase(found);
    pending_.pop_front();
  }
}

WriterImplementation::WriterImplementation(ParticipantState& participant, const EndpointSpec& spec,
                                           WriterEvents& events)
    : participant_(participant),
      spec_(spec),
      events_(events),
      limits_(spec.qos.datawriter),
      keeps_acknowledged_(limits_.counts_under_way() ||
                          spec.qos.datawriter.history.kind == qos::HistoryKind::keep_last) {}

Result<std::unique_ptr<WriterImplementation>> WriterImplementation::create(ParticipantState& participant,
                                                                           const EndpointSpec& spec,
                                                                           WriterEvents& events) {
  if (auto possible = check_possible(spec); !possible) return propagate(possible);
  std::unique_ptr<WriterImplementation> writer(new WriterImplementation(participant, spec, events));
  ArenaWriter& arena = participant.transport.arena();
  StorePlace place;
  auto store = make_store(arena, spec.qos.datawriter, place);
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
      if (done || done.error().code() != Errc::would_block || again) return done;
    } else if (again || room.error().code() != Errc::would_block) {
      return propagate(room);
    }
    wait_for(waits_for_room);
  }
}

Status WriterImplementation::check_room(const SampleHeader* header) {
  if (!limits_.any()) return {};
  const std::uint64_t published = store_->published();
  std::uint64_t under_way = 0;
  if (limits_.counts_under_way()) {
    const std::uint64_t acknowledged = acknowledged_by_all();
    limits_.acknowledged(acknowledged);
    under_way = published - acknowledged;
  }
  return limits_.check(header, under_way, published);
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

Result<std::uint64_t> WriterImplementation::published_one(const SampleHeader& header,
                                                          std::size_t size_bytes) {
  const std::uint64_t sequence_number = store_->published();
  limits_.add(header, sequence_number);
  auto& waits = participant_.directory.entry(entry_).waits;
  if (const auto waited = waits.load(std::memory_order_relaxed); (waited & waits_for_room) != 0)
    waits.store(waited & ~waits_for_room, std::memory_order_relaxed);
  ArenaWriter& arena = participant_.transport.arena();
  arena.count(Counter::samples_written);
  arena.count(Counter::sample_bytes_written, size_bytes);
  if (spec_.qos.datawriter.liveliness.kind != qos::LivelinessKind::automatic &&
      spec_.qos.datawriter.liveliness.lease_duration != qos::duration_infinite)
    assert_liveliness();
  wake_readers();
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

bool WriterImplementation::all_acknowledged() {
  auto& waits = participant_.directory.entry(entry_).waits;
  if (acknowledged_by_all() < store_->published()) {
    wait_for(waits_for_acknowledgment);
    if (acknowledged_by_all() < store_->published()) return false;
  }
  waits.store(waits.load(std::memory_order_relaxed) & ~waits_for_acknowledgment, std::memory_order_relaxed);
  return true;
}

Status WriterImplementation::set_qos(const qos::EndpointQos& qos) {
  EndpointSpec changed = spec_;
  changed.qos = qos;
  if (auto possible = check_possible(changed); !possible) return possible;
  if (auto changeable = qos::check_changeable(spec_.qos, qos); !changeable) return changeable;
  if (auto described = participant_.directory.describe(entry_, encode_endpoint(changed)); !described)
    return described;
  spec_ = std::move(changed);
  judge_all = true;
  participant_.unsettle();
  participant_.transport.wake_all();
  return {};
}

void WriterImplementation::assert_liveliness() {
  participant_.directory.entry(entry_).asserted_ns.store(participant_.now_ns(), std::memory_order_release);
  if (spec_.qos.datawriter.liveliness.kind == qos::LivelinessKind::manual_by_participant)
    participant_.assert_manually();
}

void WriterImplementation::consider(const EndpointInfo& reader) {
  const Fit fit = judge(spec_, reader);
  if (!fit.is_same_topic()) return;
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
  matches_.push_back(match);
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
  if (wake_due_ns_ != 0 && now_ns >= wake_due_ns_) wake_now();
  const std::int64_t lease_end = check_lease(now_ns);
  return wake_due_ns_ == 0 ? lease_end : std::min(lease_end, wake_due_ns_);
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
