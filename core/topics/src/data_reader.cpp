#include "llamada/topics/data_reader.hpp"

#include <algorithm>
#include <utility>

#include "endpoint.hpp"

namespace llamada::topics {
namespace {
/// Samples that are moved to the cache ahead of take(), with KEEP_ALL.
constexpr std::size_t ahead_max = 256;

Status check_possible(const qos::DataReaderQos& qos) {
  const auto& limits = qos.resource_limits;
  if (limits.max_instances != qos::length_unlimited ||
      limits.max_samples_per_instance != qos::length_unlimited)
    return failure(Errc::unsupported,
                   "RESOURCE_LIMITS max_instances and max_samples_per_instance of a DataReader are "
                   "not built: choose LENGTH_UNLIMITED");
  return {};
}
}  // namespace

Sample::Sample(detail::Stream* stream, const Record& record)
    : stream_(stream), record_(record), slot_(stream->slot) {
  DataReader::hold(*stream_, record_);
  ++stream_->reader->loan_count_;
}

Sample::Sample(Sample&& other) noexcept
    : stream_(std::exchange(other.stream_, nullptr)), record_(other.record_), slot_(other.slot_) {}

Sample& Sample::operator=(Sample&& other) noexcept {
  std::swap(stream_, other.stream_);
  std::swap(record_, other.record_);
  std::swap(slot_, other.slot_);
  return *this;
}

Sample::~Sample() {
  if (stream_ == nullptr) return;
  --stream_->reader->loan_count_;
  DataReader::let_go(*stream_, record_);
}

DataReader::DataReader(DomainParticipant& participant, std::string topic, std::string type,
                       const qos::DataReaderQos& qos)
    : participant_(participant), topic_(std::move(topic)), type_(std::move(type)), qos_(qos) {}

DataReader::~DataReader() {
  LLAMADA_CHECK(loan_count_ == 0);
  std::erase(participant_.readers_, this);
  if (!opened_) return;
  for (detail::Stream& stream : streams_) stream.log_reader.release(UINT64_MAX);
  // Release, after the cursors: pairs with detail::is_alive().
  participant_.transport().arena().endpoint(endpoint_).alive.store(0, std::memory_order_release);
  participant_.transport().wake_all();
}

Status DataReader::open() {
  if (auto consistent = qos::check_consistent(qos_); !consistent) return consistent;
  if (auto enforced = qos::check_enforced(qos_); !enforced) return enforced;
  if (auto possible = check_possible(qos_); !possible) return possible;
  auto announced =
      detail::announce(participant_.transport().arena(), EndpointKind::reader, 0, topic_, type_, qos_);
  if (!announced) return propagate(announced);
  endpoint_ = *announced;
  opened_ = true;
  return {};
}

/// Matches with a writer of the topic that offers enough: its cursor is how the writer learns of it.
Status DataReader::consider(std::uint32_t slot, std::uint32_t id, const PeerArena& arena,
                            const EndpointEntry& writer) {
  if (writer.kind != static_cast<std::uint32_t>(EndpointKind::writer) || !detail::is_alive(writer)) return {};
  if (!detail::is_same_topic(writer, topic_, type_) || writer.log >= arena.log_count()) return {};
  if (!detail::check_pair(detail::offered_by(writer), qos_, incompatible_)) return {};
  ArenaWriter& own = participant_.transport().arena();
  const LogEntry& log = arena.log(writer.log);
  const std::uint32_t cursor_index = own.reading().cursor_count();
  auto cursor = own.add_cursor({log.key_high, log.key_low}, slot, endpoint_);
  if (!cursor) return propagate(cursor);
  detail::Stream& stream = streams_.emplace_back();
  stream.reader = this;
  stream.slot = slot;
  stream.id = id;
  stream.log = writer.log;
  stream.arena = arena;
  stream.writer = &writer;
  stream.cursor = *cursor;
  stream.cursor_index = cursor_index;
  // Who wants the history begins at the log's start; it is kept for good, so there is nobody to ask.
  stream.started = qos_.durability.kind != qos::DurabilityKind::volatile_;
  if (stream.started) stream.log_reader = LogReader::open(arena, writer.log, *cursor);
  participant_.transport().wake(slot);
  return {};
}

void DataReader::start(std::uint32_t slot, std::uint32_t cursor_index, const LogPosition& position) {
  for (detail::Stream& stream : streams_) {
    if (stream.started || stream.gone || stream.slot != slot || stream.cursor_index != cursor_index) continue;
    stream.log_reader = LogReader::open_at(stream.arena, stream.log, position, stream.cursor);
    stream.started = true;
  }
}

void DataReader::mark_gone(std::uint32_t slot, std::uint32_t id) {
  for (detail::Stream& stream : streams_)
    if (stream.slot == slot && stream.id == id) stream.gone = true;
}

bool DataReader::holds_old_arenas() const {
  return std::any_of(streams_.begin(), streams_.end(), [](const auto& stream) { return stream.gone; });
}

std::size_t DataReader::matched_count() const {
  return static_cast<std::size_t>(
      std::count_if(streams_.begin(), streams_.end(), [](const auto& stream) { return stream.started; }));
}

bool DataReader::has_room() const {
  const auto max_samples = qos_.resource_limits.max_samples;
  if (max_samples != qos::length_unlimited &&
      cache_.size() + loan_count_ >= static_cast<std::size_t>(max_samples))
    return false;
  return qos_.history.kind == qos::HistoryKind::keep_last || cache_.size() - read_count_ < ahead_max;
}

/// Moves what has arrived to the cache, a sample of each writer at a time.
void DataReader::absorb() {
  for (bool moved = true; moved;) {
    moved = false;
    for (detail::Stream& stream : streams_)
      if (stream.started && has_room()) moved |= absorb_one(stream);
  }
}

bool DataReader::absorb_one(detail::Stream& stream) {
  auto record = stream.log_reader.peek();
  if (!record) {
    store_cursor(stream);  // a link may have been followed
    return false;
  }
  stream.log_reader.advance();
  hold(stream, *record);
  cache_.push_back({&stream, *record});
  if (qos_.history.kind == qos::HistoryKind::keep_last) keep_last(*record);
  return true;
}

/// Drops the oldest sample of the newest one's instance if there are more than HISTORY's depth.
void DataReader::keep_last(const Record& newest) {
  const auto is_of_instance = [&](const Cached& cached) { return cached.record.label == newest.label; };
  const auto count = std::count_if(cache_.begin(), cache_.end(), is_of_instance);
  if (count <= qos_.history.depth) return;
  const auto oldest = std::find_if(cache_.begin(), cache_.end(), is_of_instance);
  const Cached dropped = *oldest;
  if (static_cast<std::size_t>(oldest - cache_.begin()) < read_count_) --read_count_;
  cache_.erase(oldest);
  let_go(*dropped.stream, dropped.record);
}

void DataReader::hold(detail::Stream& stream, const Record& record) { ++stream.held[record.chunk_ordinal]; }

void DataReader::let_go(detail::Stream& stream, const Record& record) {
  const auto found = stream.held.find(record.chunk_ordinal);
  if (--found->second == 0) stream.held.erase(found);
  stream.reader->store_cursor(stream);
}

/// Tells the writer what it may reuse: all before the oldest chunk in use.
void DataReader::store_cursor(detail::Stream& stream) {
  const std::uint64_t needed =
      stream.held.empty() ? stream.log_reader.position_chunk() : stream.held.begin()->first;
  if (needed <= stream.cursor->consumed.load(std::memory_order_relaxed)) return;  // own word
  stream.log_reader.release(needed);
  participant_.transport().wake(stream.slot);
}

/// Forgets writers that are gone and of which nothing is left, and those whose log is damaged.
void DataReader::drop_finished() {
  streams_.remove_if([&](detail::Stream& stream) {
    const bool damaged = stream.log_reader.failed();
    if (damaged && !stream.reported) {
      lost_.push_back(stream.log_reader.error());
      stream.reported = true;
    }
    // In this order: what was committed before the writer went is seen by peek().
    const bool ended = stream.gone || damaged || !detail::is_alive(*stream.writer);
    if (!ended || !stream.held.empty() || (stream.started && stream.log_reader.peek())) return false;
    stream.log_reader.release(UINT64_MAX);
    return true;
  });
}

std::optional<Sample> DataReader::take() {
  absorb();
  if (cache_.empty()) {
    if (!participant_.poll()) return std::nullopt;
    absorb();
  }
  if (cache_.empty()) return std::nullopt;
  const Cached oldest = cache_.front();
  cache_.pop_front();
  if (read_count_ > 0) --read_count_;
  Sample sample(oldest.stream, oldest.record);
  let_go(*oldest.stream, oldest.record);
  return sample;
}

std::optional<Sample> DataReader::read() {
  absorb();
  if (read_count_ == cache_.size()) {
    if (!participant_.poll()) return std::nullopt;
    absorb();
  }
  if (read_count_ == cache_.size()) return std::nullopt;
  const Cached& next = cache_[read_count_++];
  return Sample(next.stream, next.record);
}

Status DataReader::wait_for_data(std::chrono::nanoseconds at_most) {
  return participant_.wait(
      [&] {
        absorb();
        return !cache_.empty();
      },
      at_most);
}

}  // namespace llamada::topics
