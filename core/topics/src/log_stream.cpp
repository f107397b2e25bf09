#include "log_record.hpp"
#include "stream.hpp"

namespace llamada::topics::detail {
namespace {
/// A sample that waits in a cache is copied out when the reader is so many chunks ahead of it; a log has room
/// for more (log_chunk_count_min in log_store.cpp), so that a cache never stops its writer.
constexpr std::uint64_t chunks_behind_max = 4;
}  // namespace

void LogStream::begin(const EndpointDirectory::Grant* grant) {
  match().released.store(taken_, std::memory_order_release);
  if (grant != nullptr && grant->position.chunk != 0)
    log_ = LogReader::open_at(origin_.arena, origin_.entry.log, grant->position, &match().cursor);
  else
    log_ = LogReader::open(origin_.arena, origin_.entry.log, &match().cursor);
}

std::optional<Error> LogStream::damage() const {
  if (log_.failed()) return log_.error();
  if (malformed_) return Error(Errc::closed, "a record in the log of a peer is no sample");
  return std::nullopt;
}

bool LogStream::deliver_all() {
  if (malformed_) return true;
  for (auto record = log_.peek(); record; record = log_.peek()) {
    auto sample = sample_of(*record);
    if (!sample) {
      malformed_ = true;
      return true;
    }
    if (!deliver(std::move(*sample))) return false;
    log_.advance();
  }
  return true;
}

std::optional<Sample> LogStream::sample_of(const Record& record) {
  Record rest = record;
  const auto header = take_header(rest, log_.records_before() + 1);
  if (!header) return std::nullopt;
  if (rest.payload.size() <= inline_payload_max) return Sample(*header, rest.payload);
  return Sample(*header, rest.payload, *this, rest.chunk_ordinal);
}

/// Tells the writer what it may reuse: all before the oldest chunk in use.
void LogStream::update_holds() {
  if (!finished() && log_.position_chunk() > chunks_behind_max) {
    const std::uint64_t oldest = log_.position_chunk() - chunks_behind_max;
    for (Sample* sample = first_; sample != nullptr && sample->hold() < oldest;) {
      Sample* next = sample->next();
      if (sample->may_evacuate()) sample->evacuate();
      sample = next;
    }
  }
  let_go(0);
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
