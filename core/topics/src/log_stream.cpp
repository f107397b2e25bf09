#include "log_record.hpp"
#include "stream.hpp"

namespace llamada::topics::detail {
namespace {
/// A sample that waits in a cache is copied out when the reader is so many chunks ahead of it; a log has room
/// for more (log_chunk_count_min in log_store.cpp), so that a cache stops its writer for no longer than
/// late_patience_ns.
constexpr std::uint64_t chunks_behind_max = 4;
/// But not before the application has had this time to take it: who takes large samples as fast as it can
/// finds several at once, and would have a copy of each but the last few.
constexpr std::int64_t late_patience_ns = 1'000'000;
}  // namespace

void LogStream::begin(const EndpointDirectory::Grant* grant) {
  match().released.store(taken_, std::memory_order_release);
  if (grant != nullptr && grant->position.chunk != 0)
    log_ = log::LogReader::open_at(origin_.arena, origin_.entry.log, grant->position, &match().cursor);
  else
    log_ = log::LogReader::open(origin_.arena, origin_.entry.log, &match().cursor);
}

std::uint64_t LogStream::skipped() {
  (void)log_.peek();  // enters the first chunk
  return log_.at_start() ? 0 : log_.records_before();
}

bool LogStream::is_damaged() const { return log_.failed() || malformed_; }

bool LogStream::deliver_all() {
  if (malformed_) return true;
  for (auto record = log_.peek(); record; record = log_.peek()) {
    SampleHeader header;
    std::optional<Origin> origin;
    if (!take_origin(*record, origin) || !take_header(*record, log_.records_before() + 1, header)) {
      malformed_ = true;
      return true;
    }
    if (!deliver(record->payload.size() <= log::inline_payload_max
                     ? Sample(header, record->payload)
                     : Sample(header, record->payload, *this, record->chunk_ordinal),
                 origin))
      return false;
    log_.advance();
  }
  return true;
}

/// Tells the writer what it may reuse: all before the oldest chunk in use.
void LogStream::update_holds() {
  if (!finished()) evacuate_late();
  let_go(0);
}

/// Copies out what lies far behind and did so at least late_patience_ns ago.
void LogStream::evacuate_late() {
  const auto is_late = [this](const Sample& sample) {
    return sample.hold() + chunks_behind_max < log_.position_chunk();
  };
  if (first_ == nullptr || !is_late(*first_)) {
    due_ns_ = INT64_MAX;
    return;
  }
  const std::int64_t now_ns = context_.clock.monotonic().count();
  if (now_ns < due_ns_ && due_ns_ != INT64_MAX) return;
  bool stays = false;
  for (Sample* sample = first_; sample != nullptr && is_late(*sample);) {
    Sample* next = sample->next();
    const bool is_due = due_ns_ != INT64_MAX && sample->header().sequence_number <= late_through_;
    if (is_due && sample->may_evacuate())
      sample->evacuate();
    else
      stays = stays || sample->may_evacuate();
    sample = next;
  }
  late_through_ = taken_;
  due_ns_ = stays ? now_ns + late_patience_ns : INT64_MAX;
}

void LogStream::let_go(std::uint64_t) {
  // Release: the last look at the samples comes before. Pairs with the acquire load in
  // LogStore::is_released_by_all(). Nobody waits for this word.
  const std::uint64_t none_left = finished() ? UINT64_MAX : taken_;
  match().released.store(first_ != nullptr ? first_->header().sequence_number - 1 : none_left,
                         std::memory_order_release);
  LLAMADA_CRASH_POINT("match:released");
  std::uint64_t needed = finished() ? UINT64_MAX : log_.position_chunk();
  if (first_ != nullptr) needed = std::min(needed, first_->hold());
  if (needed <= match().cursor.consumed.load(std::memory_order_relaxed)) return;  // own word
  // A new chunk's worth, not a sample's: the writer is not to be bothered more often.
  log_.release(needed);
  notify_writer();
}

}  // namespace llamada::topics::detail
