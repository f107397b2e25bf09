// How a log takes chunks, goes from one to the next, and gives them back.
#include <algorithm>

#include "chunk_shapes.hpp"
#include "llamada/base/rounding.hpp"
#include "llamada/log/log_writer.hpp"

namespace llamada::log {
namespace {

/// What takes chunks that hold a few such records, or one, is written there rather than copied: their memory
/// is new.
constexpr std::uint64_t filled_bytes_min = 32 << 10;

/// Larger chunks have one record.
constexpr std::uint64_t shared_bytes_max = 512 << 10;

/// A chunk is for so much of a run, and the rest if that is none by itself: of payloads that turn out to be
/// repeated nothing lies in it.
constexpr std::uint64_t run_bytes_max = 16 << 20;

}  // namespace

Status LogWriter::next_chunk(std::size_t payload_bytes, Filling filling, std::size_t run_bytes) {
  const std::uint64_t ordinal = chunks_.empty() ? 0 : chunks_.back().ordinal + 1;
  const bool has_run = filling == Filling::by_fill && retention_ == Retention::keep_all &&
                       payload_bytes == stored_whole_bytes && run_bytes >= run_bytes_min;
  const std::uint64_t of_run = run_bytes < run_bytes_max + run_bytes_min ? run_bytes : run_bytes_max;
  const ChunkShape shape = next_shape(ordinal, has_run ? of_run + stored_whole_bytes : payload_bytes);
  if (!has_room(bytes_of(shape))) {
    arena_->count(Counter::would_blocks);
    return failure(Errc::would_block, "a reader of log {} holds {} bytes, and no more than {} may be held",
                   index_, live_bytes_, live_bytes_max_);
  }
  const bool whole =
      filling == Filling::in_place || retention_ == Retention::recycle || payload_bytes < filled_bytes_min;
  auto chunk =
      arena_->allocate(shape, ordinal, published_,
                       whole ? ArenaWriter::Prepared::whole : ArenaWriter::Prepared::header_and_cells);
  // What other logs have given back may lie there in other shapes.
  if (!chunk && chunk.error().code() == Errc::out_of_resources && !has_run) {
    auto other = arena_->allocate_other(needed_bytes(payload_bytes), ordinal, published_);
    if (other || other.error().code() != Errc::out_of_resources) chunk = std::move(other);
  }
  if (!chunk) return propagate(chunk);
  prepared_ = whole;
  LLAMADA_CRASH_POINT("publish:chunk-allocated");
  link_to(*chunk);
  chunks_.push_back(*chunk);
  live_bytes_ += chunk->size_bytes();
  if (retention_ == Retention::keep_all) arena_->count(Counter::bytes_logged, chunk->size_bytes());
  enter(*chunk, 0, has_run ? rounded_up(chunk->payload(), stored_whole_bytes) : chunk->payload());
  return {};
}

ChunkShape LogWriter::next_shape(std::uint64_t ordinal, std::uint64_t payload_bytes) const {
  const ChunkShape shape = chunk_shape_for(ordinal, payload_bytes, retention_);
  constexpr std::uint64_t first_shared_out = 3;
  if (retention_ == Retention::recycle || ordinal < first_shared_out || bytes_of(shape) > shared_bytes_max)
    return shape;
  const Chunk& last = chunks_.back();
  const auto* cells = reinterpret_cast<const Cell*>(arena_->base() + last.cells());
  const std::uint64_t used_cells = static_cast<std::uint64_t>(next_ - cells);
  if (used_cells == 0) return shape;
  constexpr std::uint32_t endpoint_cell_grain = 256;
  return shared_out(shape, used_cells, payload_next_ - last.payload(), needed_bytes(payload_bytes),
                    is_endpoints_ ? endpoint_cell_grain : 1);
}

/// Recycles, and says whether one more chunk is allowed; behind records that repeat payloads always, for only
/// a reader that is there holds none of theirs any more.
bool LogWriter::has_room(std::uint64_t chunk_bytes) {
  if (retention_ == Retention::keep_all) return true;
  recycle();
  return chunks_.size() < chunk_count_min_ || live_bytes_ + chunk_bytes <= live_bytes_max_ ||
         chunks_.back().ordinal < repeats_end_;
}

bool LogWriter::may_reserve(std::size_t payload_bytes) {
  if (fits(payload_bytes) || retention_ == Retention::keep_all) return true;
  const std::uint64_t ordinal = chunks_.empty() ? 0 : chunks_.back().ordinal + 1;
  return has_room(bytes_of(chunk_shape_for(ordinal, payload_bytes, retention_)));
}

void LogWriter::link_to(const Chunk& chunk) {
  if (chunks_.empty()) {
    LLAMADA_CRASH_POINT("publish:chunk-initialised");
    entry_->first_chunk.store(chunk.offset,
                              std::memory_order_release);  // pairs with LogReader::enter_first()
    LLAMADA_CRASH_POINT("publish:first-chunk-committed");
    return;
  }
  next_->kind = kind_link;
  next_->inline_size = sizeof(chunk.offset) + sizeof(chunk.generation);
  next_->flags = 0;
  next_->label = 0;
  std::memcpy(next_->payload, &chunk.offset, sizeof(chunk.offset));
  std::memcpy(next_->payload + sizeof(chunk.offset), &chunk.generation, sizeof(chunk.generation));
  LLAMADA_CRASH_POINT("publish:link-written");
  next_->commit.store(generation_, std::memory_order_release);  // pairs with LogReader::peek()
  LLAMADA_CRASH_POINT("publish:link-committed");
}

void LogWriter::enter(const Chunk& chunk, std::uint32_t cell, Offset payload_next) {
  auto* cells = reinterpret_cast<Cell*>(arena_->base() + chunk.cells());
  next_ = cells + cell;
  link_ = cells + chunk.cell_count - 1;
  generation_ = chunk.generation;
  payload_next_ = payload_next;
  payload_end_ = chunk.end();
  room_taken_ = room_wanted_ = 0;
}

/// Chunks with an ordinal below it are needed by nobody.
std::uint64_t LogWriter::consumed_by_all() const {
  if (readers_.size() < readers_expected_) return 0;
  std::uint64_t least = UINT64_MAX;
  for (const CursorEntry* reader : readers_)
    // Pairs with the release store in LogReader::store_cursor(): its reads of the chunk are over.
    least = std::min(least, reader->consumed.load(std::memory_order_acquire));
  return least;
}

void LogWriter::recycle() {
  if (retention_ == Retention::keep_all || chunks_.size() < 2) return;
  const std::uint64_t consumed = consumed_by_all();
  // A record that repeats a payload may have that of any chunk before.
  if (consumed < repeats_end_) return;
  while (chunks_.size() > 1 && chunks_.front().ordinal < consumed) give_back_first();
}

void LogWriter::give_back_first() {
  const Chunk chunk = chunks_.front();
  chunks_.pop_front();
  LLAMADA_CRASH_POINT("recycle:consumed");
  // Before the chunk can become another's: who comes later, a successor too, begins behind it.
  entry_->first_chunk.store(chunks_.front().offset, std::memory_order_release);  // pairs with enter_first()
  LLAMADA_CRASH_POINT("recycle:unlinked");
  live_bytes_ -= chunk.size_bytes();
  arena_->free(chunk);
  arena_->count(Counter::recycled_chunks);
  LLAMADA_CRASH_POINT("recycle:freed");
}

void LogWriter::expire(std::uint64_t record_count) {
  const auto is_over = [&] { return chunks_.size() > 1 && chunks_[1].records_before <= record_count; };
  if (retention_ == Retention::recycle || !is_over()) return;
  const std::uint64_t consumed = consumed_by_all();
  if (consumed < repeats_end_) return;
  while (is_over() && chunks_.front().ordinal < consumed) give_back_first();
}

}  // namespace llamada::log
