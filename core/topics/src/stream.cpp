#include "stream.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

namespace llamada::topics::detail {

void Stream::start(const EndpointDirectory::Grant* grant) {
  if (grant != nullptr) taken_ = grant->sequence;
  begin(grant);
  started_ = true;
}

bool Stream::absorb() {
  if (!started_ || finished()) return true;
  if (held) return false;
  const std::uint64_t before = taken_;
  const bool all = deliver_all();
  drained = drained || all;
  has_progress_ = has_progress_ || taken_ != before || !all;
  if (taken_ == before && first_ == nullptr) return all;  // there is nothing to let go of
  update_holds();
  if (taken_ != before) acknowledge();
  return all;
}

void Stream::acknowledge_kept(std::uint64_t number) {
  kept_ = std::max(kept_, number);
  acknowledge();
}

/// Samples that the reader never got, because newer ones had replaced them, need not be kept.
void Stream::acknowledge() {
  const std::uint64_t through = !acknowledges_later || kept_ >= delivered_ ? taken_ : kept_;
  if (through == std::exchange(acknowledged_, through)) return;
  // Release: pairs with the acquire load in WriterImplementation::acknowledged_by_all().
  match().acknowledged.store(through, std::memory_order_release);
  notify_writer();
}

void Stream::finish() {
  events_ = nullptr;
  update_holds();
  if (!acknowledges_later) match().acknowledged.store(UINT64_MAX, std::memory_order_release);
  notify_writer();
}

bool Stream::writer_is_there() const { return !gone && writer_was_alive(); }

bool Stream::writer_was_alive() const {
  const log::EndpointEntry& entry = writer_entry();
  // Pairs with the release store in EndpointDirectory::bury(): what came before can be seen.
  return entry.alive.load(std::memory_order_acquire) != 0 &&
         entry.number.load(std::memory_order_acquire) == origin_.entry.number;
}

std::int64_t Stream::asserted_ns() const {
  return writer_entry().asserted_ns.load(std::memory_order_acquire);
}

bool Stream::wants_history() { return (match().flags & log::match_wants_history) != 0; }

void Stream::evacuate(Out which) {
  for (Sample* sample = first_; sample != nullptr;) {
    Sample* next = sample->next();
    if (which == Out::all || sample->may_evacuate()) sample->evacuate();
    sample = next;
  }
}

bool Stream::deliver(Sample&& sample, const std::optional<Origin>& origin) {
  const std::uint64_t sequence = sample.header().sequence_number;
  if (origin && sample.header().kind == ChangeKind::coherent_end) {
    hear_of_past(*origin, sample.header());
    taken_ = sequence;
    return true;
  }
  const Origin first = origin ? *origin : Origin{writer.guid, sequence};
  if (past != nullptr && (past->has(first) || (origin && past->follows(origin->writer)))) {
    if (!origin) events_->on_known_sample(writer.id, sample.header());
    taken_ = sequence;
    return true;
  }
  if (!events_->on_sample(writer.id, std::move(sample))) return false;
  if (past != nullptr) past->add(first);
  delivered_ = sequence;
  taken_ = sequence;
  context_.directory.arena().count(log::Counter::samples_read);
  return true;
}

void Stream::hear_of_past(const Origin& origin, const SampleHeader& header) {
  if (origin == Origin::end_of_past())
    has_all_of_past = true;
  else if (past != nullptr && header.coherent_set == origin_known)
    past->add_judged(origin);
  else if (past != nullptr && header.coherent_set == origin_claims)
    past->add_claim(origin.writer, header.instance);
}

void Stream::show_claims() {
  if (past == nullptr) return;
  for (const std::uint64_t instance : past->take_claims(writer.guid)) {
    SampleHeader header;
    header.instance = instance;
    events_->on_known_sample(writer.id, header);
  }
}

/// With LIFESPAN the writer drops only what has expired.
std::uint64_t Stream::given_back() {
  const qos::DataWriterQos& offer = writer.qos.datawriter;
  const bool gives_back = offer.durability.kind >= qos::DurabilityKind::transient && !writer.only_with &&
                          offer.lifespan.duration == qos::duration_infinite;
  return gives_back && wants_history() ? skipped() : 0;
}

void Stream::report_lost(std::uint64_t count) {
  if (count > 0) events_->on_samples_lost(writer.id, count);
}

void Stream::count_copied(std::size_t size_bytes) {
  context_.directory.arena().count(log::Counter::sample_bytes_copied, size_bytes);
}

void Stream::notify_writer() {
  if (gone) return;
  // Our words before our look: pairs with the fence in WriterImplementation::wait_for(). One of the two sees
  // what the other has stored.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (writer_entry().waits.load(std::memory_order_relaxed) != 0) context_.transport.wake(origin_.slot);
}

}  // namespace llamada::topics::detail
