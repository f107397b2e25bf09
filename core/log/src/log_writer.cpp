#include "llamada/log/log_writer.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "chunk_shapes.hpp"
#include "llamada/base/copy.hpp"
#include "llamada/base/rounding.hpp"

namespace llamada::log {

void Reservation::shrink(std::size_t payload_bytes) {
  LLAMADA_CHECK(payload_bytes <= payload_.size() && !announced_);
  payload_ = payload_.first(payload_bytes);
}

void Reservation::give_back() {
  if (announced_) log_->withdraw();
  log_->reserved_ = false;
  log_ = nullptr;
  announced_ = false;
  payload_ = {};
}

LogWriter::LogWriter(LogWriter&& other) noexcept { *this = std::move(other); }

LogWriter& LogWriter::operator=(LogWriter&& other) noexcept {
  LLAMADA_CHECK(!other.reserved_ && !reserved_);
  arena_ = std::exchange(other.arena_, nullptr);
  entry_ = std::exchange(other.entry_, nullptr);
  next_ = std::exchange(other.next_, nullptr);
  link_ = std::exchange(other.link_, nullptr);
  generation_ = other.generation_;
  index_ = other.index_;
  retention_ = other.retention_;
  readers_expected_ = other.readers_expected_;
  chunk_count_min_ = other.chunk_count_min_;
  is_endpoints_ = other.is_endpoints_;
  prepared_ = other.prepared_;
  payload_next_ = std::exchange(other.payload_next_, 0);
  payload_end_ = std::exchange(other.payload_end_, 0);
  room_taken_ = std::exchange(other.room_taken_, 0);
  room_wanted_ = std::exchange(other.room_wanted_, 0);
  published_ = other.published_;
  published_bytes_ = other.published_bytes_;
  live_bytes_ = std::exchange(other.live_bytes_, 0);
  live_bytes_max_ = other.live_bytes_max_;
  repeats_end_ = other.repeats_end_;
  chunks_ = std::move(other.chunks_);
  readers_ = std::move(other.readers_);
  return *this;
}

Result<LogWriter> LogWriter::create(ArenaWriter& arena, LogKey key, const LogOptions& options) {
  const std::uint32_t flags = (options.retention == Retention::keep_all ? log_keeps_all : 0) |
                              (options.is_endpoints ? log_is_endpoints : 0) |
                              (options.begins_behind > 0 ? log_is_discarded : 0);
  auto index = arena.add_log(key, flags, options.endpoint);
  if (!index) return propagate(index);
  auto log = attach(arena, *index, options);
  if (!log || options.begins_behind == 0) return log;
  if (auto begun = log->begin_behind(options.begins_behind); !begun) return propagate(begun);
  return log;
}

/// The entry is that of a discarded log so far: a successor that finds no chunk knows that none is missing.
Status LogWriter::begin_behind(std::uint64_t record_count) {
  published_ = record_count;
  entry_->published.store(published_, std::memory_order_relaxed);
  LLAMADA_CRASH_POINT("standby:copy-numbered");
  if (auto entered = next_chunk(0, Filling::in_place); !entered) return entered;
  LLAMADA_CRASH_POINT("standby:copy-begun");
  entry_->flags.store(entry_->flags.load(std::memory_order_relaxed) & ~log_is_discarded,
                      std::memory_order_relaxed);
  return {};
}

Result<LogWriter> LogWriter::attach(ArenaWriter& arena, std::uint32_t index, const LogOptions& options) {
  LogWriter log;
  log.arena_ = &arena;
  log.index_ = index;
  log.entry_ = &arena.log(index);
  log.retention_ = options.retention;
  log.readers_expected_ = options.readers_expected;
  log.chunk_count_min_ = std::max<std::uint32_t>(options.chunk_count_min, 2);
  log.is_endpoints_ = options.is_endpoints;
  log.live_bytes_max_ = options.live_bytes_max;
  return log;
}

Result<LogWriter> LogWriter::adopt(ArenaWriter& arena, std::uint32_t index, const LogOptions& options) {
  if (index >= arena.own().log_count() ||
      (arena.log(index).flags.load(std::memory_order_relaxed) & log_is_journal) != 0)
    return failure(Errc::invalid_argument, "the arena has no log {}", index);
  auto tail = arena.take_tail(index);
  if (!tail) return failure(Errc::invalid_argument, "log {} was not adopted, or is in use already", index);
  auto log = attach(arena, index, options);
  if (!log) return log;
  // The entry's count may lag by the record that the predecessor committed last; of the bytes, those of
  // recycled records are only there.
  const std::uint64_t bytes = log->entry_->published_bytes.load(std::memory_order_relaxed);
  log->published_ = tail->chunks.empty() ? 0 : tail->records;
  log->published_bytes_ = std::max(bytes, tail->record_bytes);
  log->repeats_end_ = tail->repeats_end;
  log->entry_->published.store(log->published_, std::memory_order_relaxed);
  log->entry_->published_bytes.store(log->published_bytes_, std::memory_order_relaxed);
  for (const Chunk& chunk : tail->chunks) {
    log->chunks_.push_back(chunk);
    log->live_bytes_ += chunk.size_bytes();
  }
  if (!log->chunks_.empty()) {
    log->enter(log->chunks_.back(), tail->cell, tail->payload_next);
    log->prepared_ = false;  // the predecessor may not have been given all of its payload room
    // What the predecessor announced and did not commit.
    if (log->next_->commit.load(std::memory_order_relaxed) == announced(log->generation_)) log->withdraw();
  }
  log->set_retention(options.retention);
  return log;
}

Result<LogWriter> LogWriter::open(ArenaWriter& arena, LogKey key, const LogOptions& options) {
  const auto index = arena.find_log(key);
  return index ? adopt(arena, *index, options) : create(arena, key, options);
}

bool LogWriter::fits(std::size_t payload_bytes) const {
  return next_ != link_ &&
         (payload_bytes <= inline_payload_max || payload_bytes <= payload_end_ - payload_next_);
}

/// Of the payload room that has been used.
bool LogWriter::lies_in_last_chunk(std::span<const std::byte> payload) const {
  const auto begin = static_cast<Offset>(payload.data() - arena_->base());
  return !chunks_.empty() && begin >= chunks_.back().payload() && begin + payload.size() <= payload_next_;
}

bool LogWriter::may_rewind(std::size_t payload_bytes) const {
  return next_ != link_ && payload_bytes > inline_payload_max &&
         payload_bytes > payload_end_ - payload_next_ && payload_bytes <= chunks_.back().payload_bytes &&
         retention_ == Retention::recycle;
}

void LogWriter::rewind() {
  recycle();
  payload_next_ = chunks_.back().payload();
  LLAMADA_CRASH_POINT("endpoint:log-rewound");
}

Status LogWriter::reserve(std::size_t payload_bytes, Reservation& into, Filling filling,
                          std::size_t run_bytes) {
  LLAMADA_CHECK(arena_ != nullptr && !reserved_ && !into);
  LLAMADA_CRASH_POINT("publish:reserve");
  if (!fits(payload_bytes)) {
    if (auto entered = next_chunk(payload_bytes, filling, run_bytes); !entered) return entered;
  }
  into.lies_apart_ = payload_bytes > inline_payload_max;
  if (into.lies_apart_) {
    std::byte* payload = arena_->base() + payload_next_;
    if (!prepared_ && filling == Filling::in_place) {
      if (auto made = arena_->prepare({payload, payload_bytes}); !made) return made;
    }
    // Readers look at the ends first: these lines are with them, if any are, and come while the rest is
    // copied.
    take_ahead(payload);
    take_ahead(payload + payload_bytes - 1);
    into.payload_ = {payload, payload_bytes};
  } else {
    into.payload_ = {next_->payload, payload_bytes};
  }
  into.log_ = this;
  into.repeats_ = false;
  into.has_extra_ = false;
  reserved_ = true;
  return {};
}

Status LogWriter::reserve_again(std::span<const std::byte> kept, Reservation& into) {
  LLAMADA_CHECK(can_repeat(kept) && kept.size() > inline_payload_max);
  // A cell is all it takes.
  if (auto reserved = reserve(0, into, Filling::by_fill); !reserved) return reserved;
  into.payload_ = {const_cast<std::byte*>(kept.data()), kept.size()};
  into.lies_apart_ = true;
  into.repeats_ = true;
  return {};
}

void LogWriter::fill(const Reservation& reservation, std::span<const std::byte> from) {
  LLAMADA_CHECK(reservation.log_ == this && from.size() == reservation.payload_.size());
  if (!reservation.announced_ && (prepared_ || !reservation.lies_apart_))
    return copy_bytes_out(reservation.payload_.data(), from.data(), from.size());
  std::size_t filled = 0;
  while (filled < from.size()) {
    filled += arena_->store(reservation.payload_.subspan(filled), from.subspan(filled));
    if (reservation.announced_) {
      say_filled(filled);
      LLAMADA_CRASH_POINT("publish:some-filled");
    }
  }
}

void LogWriter::announce(Reservation& reservation, std::uint8_t kind, std::uint16_t flags,
                         std::uint64_t label) {
  LLAMADA_CHECK(reservation.log_ == this && is_of_record(kind) && reservation.lies_apart_);
  describe(reservation, kind, flags, label);
  say_filled(0);
  // Pairs with the acquire loads in LogReader::peek_announced().
  next_->commit.store(announced(generation_), std::memory_order_release);
  reservation.announced_ = true;
  LLAMADA_CRASH_POINT("publish:announced");
}

/// Who has seen the announcement may still be reading its cell, which is therefore not used for anything
/// else.
void LogWriter::withdraw() {
  // Pairs with the load in LogReader::peek_announced().
  std::atomic_ref(next_->kind).store(kind_withdrawn, std::memory_order_relaxed);
  LLAMADA_CRASH_POINT("publish:withdrawal-written");
  next_->commit.store(generation_, std::memory_order_release);  // pairs with LogReader::peek()
  LLAMADA_CRASH_POINT("publish:withdrawn");
  ++next_;
}

/// Writes the cell of a record whose payload lies apart, but for its commit.
void LogWriter::describe(Reservation& reservation, std::uint8_t kind, std::uint16_t flags,
                         std::uint64_t label) {
  reservation.extra();  // zeroed now if nobody has asked for it
  write_place(reservation.payload_);
  const bool lies_elsewhere = reservation.repeats_ && !lies_in_last_chunk(reservation.payload_);
  write_cell(kind, flags, label, lies_elsewhere ? payload_repeated : payload_apart);
}

/// Of what is announced. Pairs with the acquire load in LogReader::announced_bytes().
void LogWriter::say_filled(std::uint64_t payload_bytes) {
  auto& header = *reinterpret_cast<ChunkHeader*>(arena_->base() + chunks_.back().offset);
  header.filled.store(payload_bytes, std::memory_order_release);
}

void LogWriter::say_equal(std::uint64_t payload_bytes) {
  say_filled(payload_bytes);
  LLAMADA_CRASH_POINT("publish:some-equal");
}

void LogWriter::commit(Reservation&& reservation, std::uint8_t kind, std::uint16_t flags,
                       std::uint64_t label) {
  LLAMADA_CHECK(reservation.log_ == this && is_of_record(kind));
  const std::uint64_t size_bytes = reservation.payload_.size();
  if (!reservation.lies_apart_) {
    commit_cell(kind, flags, label, static_cast<std::uint8_t>(size_bytes), size_bytes);
  } else if (reservation.repeats_) {
    if (!lies_in_last_chunk(reservation.payload_)) repeats_end_ = chunks_.back().ordinal + 1;
    arena_->count(Counter::bytes_repeated, size_bytes);
    if (!std::exchange(reservation.announced_, false)) describe(reservation, kind, flags, label);
    commit_written(size_bytes);
  } else if (std::exchange(reservation.announced_, false)) {
    // Somebody may be reading the cell.
    pass_payload(size_bytes);
    commit_written(size_bytes);
  } else {
    reservation.extra();  // zeroed now if nobody has asked for it
    place_apart(size_bytes);
    commit_cell(kind, flags, label, payload_apart, size_bytes);
    take_payload_ahead(size_bytes);
  }
  reservation.drop();
}

/// Says in the next cell where the payload lies.
void LogWriter::write_place(std::span<const std::byte> payload) {
  const auto offset = static_cast<Offset>(payload.data() - arena_->base());
  const std::uint64_t payload_bytes = payload.size();
  std::memcpy(next_->payload, &offset, sizeof(offset));
  std::memcpy(next_->payload + offsetof(ApartPayload, size_bytes), &payload_bytes, sizeof(payload_bytes));
}

void LogWriter::pass_payload(std::uint64_t payload_bytes) {
  payload_next_ += aligned_payload(payload_bytes);
  room_taken_ = payload_next_;
  room_wanted_ = std::min(payload_next_ + room_wanted_for(payload_bytes), payload_end_);
}

/// How much of the room of a next record as long as the last one is to be taken ahead.
std::uint64_t LogWriter::room_wanted_for(std::uint64_t payload_bytes) const {
  // What is kept goes into memory that no cache has: to fetch that ahead is always of use.
  if (retention_ == Retention::recycle && !copy_bytes_out_fetches(payload_bytes)) return 0;
  const bool all = prepared_ && payload_bytes <= room_wanted_bytes_max;
  return all ? aligned_payload(payload_bytes)
             : std::min(aligned_payload(payload_bytes), room_wanted_of_others_bytes);
}

/// Of one that begins behind the payload room used so far.
void LogWriter::place_apart(std::uint64_t payload_bytes) {
  write_place({arena_->base() + payload_next_, payload_bytes});
  pass_payload(payload_bytes);
}

/// After the commit, which is not to wait for it.
void LogWriter::take_payload_ahead(std::uint64_t payload_bytes) const {
  const bool is_new = retention_ == Retention::keep_all && payload_bytes >= payload_taken_ahead_bytes;
  const std::uint64_t distance = is_new ? payload_taken_ahead_of_new_bytes : payload_taken_ahead_bytes;
  const std::byte* ahead = arena_->base() + payload_next_ + distance;
  const std::uint64_t taken = std::min(payload_bytes, distance);
  for (std::uint64_t at = 0; at < taken; at += cell_size_bytes) take_ahead(ahead + at);
}

void LogWriter::publish_apart(std::uint8_t kind, std::uint16_t flags, std::uint64_t label,
                              std::span<const std::byte> payload) {
  LLAMADA_CRASH_POINT("publish:reserve");
  std::byte* to = arena_->base() + payload_next_;
  if (retention_ == Retention::recycle)
    copy_bytes_out(to, payload.data(), payload.size());
  else
    std::memcpy(to, payload.data(), payload.size());
  std::memset(next_->payload + offsetof(ApartPayload, extra), 0, extra_bytes_max);
  place_apart(payload.size());
  commit_cell(kind, flags, label, payload_apart, payload.size());
  take_payload_ahead(payload.size());
}

Status LogWriter::publish_absent(std::uint8_t kind, std::uint16_t flags, std::uint64_t label,
                                 const AbsentPayload& absent) {
  LLAMADA_CHECK(absent.record > 0 && absent.size_bytes > 0 && !reserved_);
  if (!has_cell()) {
    if (auto entered = next_chunk(0, Filling::in_place, 0); !entered) return entered;
  }
  std::memcpy(next_->payload, &absent, sizeof(absent));
  commit_cell(kind, flags, label, payload_absent, 0);
  return {};
}

Status LogWriter::publish(std::uint8_t kind, std::uint16_t flags, std::uint64_t label,
                          std::span<const std::byte> payload) {
  auto reservation = reserve(payload.size(), Filling::by_fill);
  if (!reservation) return propagate(reservation);
  fill(*reservation, payload);
  commit(std::move(*reservation), kind, flags, label);
  return {};
}

void LogWriter::add_reader(const CursorEntry* cursor) {
  if (std::find(readers_.begin(), readers_.end(), cursor) == readers_.end()) readers_.push_back(cursor);
}

void LogWriter::remove_reader(const CursorEntry* cursor) {
  const auto found = std::find(readers_.begin(), readers_.end(), cursor);
  if (found == readers_.end()) return;
  readers_.erase(found);
  // A reader that came and went is not to be waited for again.
  if (readers_expected_ > 0) --readers_expected_;
}

void LogWriter::set_retention(Retention retention) {
  retention_ = retention;
  entry_->flags.store(retention == Retention::keep_all ? log_keeps_all : 0, std::memory_order_relaxed);
  const bool may_end_repeats = retention == Retention::recycle && !chunks_.empty() && !reserved_;
  // Where this fails, the next record tries again.
  if (may_end_repeats && chunks_.back().ordinal < repeats_end_) (void)next_chunk(0, Filling::in_place);
  recycle();
}

void LogWriter::discard() {
  LLAMADA_CHECK(arena_ != nullptr && !reserved_);
  // A successor that finds no chunk is to know that none is missing.
  entry_->flags.store(entry_->flags.load(std::memory_order_relaxed) | log_is_discarded,
                      std::memory_order_relaxed);
  LLAMADA_CRASH_POINT("discard:flagged");
  entry_->first_chunk.store(0, std::memory_order_release);  // pairs with LogReader::enter_first()
  LLAMADA_CRASH_POINT("discard:unlinked");
  // A WriterEndpoint is discarded once its readers have let go.
  for (const Chunk& chunk : chunks_) is_endpoints_ ? arena_->release(chunk) : arena_->free(chunk);
  arena_->remove_log(index_);
  chunks_.clear();
  readers_.clear();
  live_bytes_ = 0;
  next_ = link_ = nullptr;
  arena_ = nullptr;
}

Result<LogPosition> LogWriter::position() {
  if (chunks_.empty()) {
    if (auto entered = next_chunk(0, Filling::in_place); !entered) return propagate(entered);
  }
  const Chunk& chunk = chunks_.back();
  const auto* cells = reinterpret_cast<const Cell*>(arena_->base() + chunk.cells());
  return LogPosition{chunk.offset, chunk.generation, static_cast<std::uint32_t>(next_ - cells),
                     chunk.ordinal};
}

}  // namespace llamada::log
