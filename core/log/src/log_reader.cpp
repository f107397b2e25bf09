#include "llamada/log/log_reader.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace llamada::log {
namespace {
/// Chunks without a record that peek() goes through in one call; a writer leaves at most a few behind it.
constexpr int links_max = 8;

/// Chunks up to this size are as a rule made as a whole, and exist before a link leads to them.
constexpr std::uint64_t made_at_once_bytes_max = 512 << 10;
}  // namespace

LogReader LogReader::open(const PeerArena& arena, std::uint32_t index, CursorEntry* cursor) {
  LogReader reader;
  reader.arena_ = arena;
  reader.index_ = index;
  reader.entry_ = &arena.log(index);
  reader.cursor_ = cursor;
  if (cursor != nullptr) reader.released_ = cursor->consumed.load(std::memory_order_relaxed);  // own word
  return reader;
}

LogReader LogReader::open_at(const PeerArena& arena, std::uint32_t index, const LogPosition& position,
                             CursorEntry* cursor) {
  LogReader reader = open(arena, index, cursor);
  auto chunk = read_chunk(arena, position.chunk);
  if (!chunk || chunk->generation != position.generation || chunk->ordinal != position.ordinal ||
      !reader.enter(*chunk, position.cell))
    reader.fail("it has no such place");
  return reader;
}

LogPosition LogReader::position() const {
  if (cell_ == nullptr) return {};
  const auto* cells = reinterpret_cast<const Cell*>(arena_.base + chunk_.cells());
  return {chunk_.offset, chunk_.generation, static_cast<std::uint32_t>(cell_ - cells), chunk_.ordinal};
}

std::optional<Record> LogReader::peek_slowly() {
  if (cell_ == nullptr && !enter_first()) return std::nullopt;
  for (int links = 0; links < links_max;) {
    const Cell& cell = *cell_;
    // Pairs with the release store in LogWriter::commit_cell() and link_to().
    if (cell.commit.load(std::memory_order_acquire) != generation_) return std::nullopt;
    if (cell.kind == kind_link) {
      if (!follow_link(cell)) return std::nullopt;
      LLAMADA_CRASH_POINT("consume:link-followed");
      ++links;
    } else if (cell.kind == kind_withdrawn) {
      ++passed_withdrawn_;
      advance();
      if (failed_) return std::nullopt;
    } else {
      return read_apart(cell);
    }
  }
  return std::nullopt;
}

bool LogReader::enter_first() {
  if (failed_ || entry_ == nullptr) return false;
  // Pairs with the release store in LogWriter::link_to().
  const Offset first = entry_->first_chunk.load(std::memory_order_acquire);
  if (first == 0) return false;
  auto chunk = read_chunk(arena_, first);
  if (!chunk || !enter(*chunk, 0)) fail("its first chunk is damaged");
  return !failed_;
}

bool LogReader::follow_link(const Cell& cell) {
  LinkPayload link{};
  std::memcpy(&link.chunk, cell.payload, sizeof(link.chunk));
  std::memcpy(&link.generation, cell.payload + sizeof(link.chunk), sizeof(link.generation));
  const std::uint64_t ordinal = chunk_.ordinal + 1;
  auto chunk = read_chunk(arena_, link.chunk);
  if (!chunk || chunk->generation != link.generation || chunk->ordinal != ordinal || !enter(*chunk, 0))
    fail("a link leads nowhere");
  return !failed_;
}

bool LogReader::enter(const Chunk& chunk, std::uint32_t cell) {
  if (cell >= chunk.cell_count) return false;
  const auto* cells = reinterpret_cast<const Cell*>(arena_.base + chunk.cells());
  chunk_ = chunk;
  generation_ = chunk.generation;
  cells_end_ = cells + chunk.cell_count;
  cell_ = cells + cell;
  expected_lines_ = 0;  // lay in the chunk before
  passed_withdrawn_ = 0;
  // Once for all its payloads, if they are there. Else each asks for itself.
  if (chunk.size_bytes() <= made_at_once_bytes_max) (void)arena_.covers(chunk.offset, chunk.size_bytes());
  return true;
}

Record LogReader::record_apart(const Cell& cell, std::uint8_t kind, const Place& apart) const {
  return {kind,
          cell.flags,
          cell.label,
          {arena_.base + apart.offset, apart.size_bytes},
          chunk_.ordinal,
          {cell.payload + offsetof(ApartPayload, extra), extra_bytes_max},
          0,
          0};
}

std::optional<Record> LogReader::record_absent(const Cell& cell) {
  AbsentPayload absent;
  std::memcpy(&absent, cell.payload, sizeof(absent));
  if (absent.record == 0 || absent.size_bytes == 0) {
    fail("a record whose payload is in another log does not say where");
    return std::nullopt;
  }
  LLAMADA_CRASH_POINT("consume:peeked");
  return Record{.kind = cell.kind,
                .flags = cell.flags,
                .label = cell.label,
                .payload = {},
                .chunk_ordinal = chunk_.ordinal,
                .extra = {},
                .absent_bytes = absent.size_bytes,
                .absent_record = absent.record};
}

/// A committed record, wherever its payload lies.
std::optional<Record> LogReader::read_apart(const Cell& cell) {
  // Each word is read once: a writer gone wild may change it between the check and the use.
  const std::uint8_t inline_size = cell.inline_size;
  if (inline_size <= inline_payload_max) {
    LLAMADA_CRASH_POINT("consume:peeked");
    return Record{cell.kind, cell.flags, cell.label, {cell.payload, inline_size}, chunk_.ordinal, {}, 0, 0};
  }
  if (inline_size == payload_absent) return record_absent(cell);
  const Place apart = place_of(cell);
  if (!can_have_payload(arena_, chunk_, inline_size, apart.offset, apart.size_bytes)) {
    fail("a record lies outside of its chunk");
    return std::nullopt;
  }
  if (!arena_.covers(apart.offset, apart.size_bytes)) {
    fail("a record leads behind the end of the arena's file");
    return std::nullopt;
  }
  if (inline_size == payload_apart) expect_behind(apart);
  LLAMADA_CRASH_POINT("consume:peeked");
  return record_apart(cell, cell.kind, apart);
}

std::optional<Record> LogReader::peek_announced() const {
  if (!is_announced()) return std::nullopt;
  // All but the kind stays as it is, now that it has been announced (LogWriter::withdraw()).
  const auto kind = std::atomic_ref(const_cast<std::uint8_t&>(cell_->kind)).load(std::memory_order_relaxed);
  const Place apart = place_of(*cell_);
  if (kind == kind_withdrawn ||
      !can_have_payload(arena_, chunk_, cell_->inline_size, apart.offset, apart.size_bytes))
    return std::nullopt;
  return record_apart(*cell_, kind, apart);
}

const char* LogReader::find_damage() {
  const char* now = suspicion();
  const bool again = now != nullptr && now == suspicion_ && cell_ == suspected_at_;
  suspicion_ = now;
  suspected_at_ = cell_;
  return again ? now : nullptr;
}

const char* LogReader::suspicion() const {
  if (failed_) return reason_;
  if (entry_ == nullptr || cursor_ == nullptr) return nullptr;
  if (!arena_.ready() || arena_.is_damaged()) return "the arena's header is damaged";
  const std::uint64_t published = entry_->published.load(std::memory_order_relaxed);
  if (cell_ == nullptr) {
    const bool has_chunk = entry_->first_chunk.load(std::memory_order_acquire) != 0;
    return published > 0 && !has_chunk ? "its first chunk cannot be found" : nullptr;
  }
  // The chunk is this reader's until it is released.
  auto header = read_chunk(arena_, chunk_.offset);
  const bool same = header && header->generation == chunk_.generation && header->ordinal == chunk_.ordinal &&
                    header->cell_count == chunk_.cell_count;
  if (!same) return "the header of a chunk that is being read has changed";
  const std::uint32_t commit = cell_->commit.load(std::memory_order_acquire);
  if (commit == generation_ || commit == announced(generation_)) return nullptr;
  const std::uint64_t read = records_before() - passed_withdrawn_;
  if (published > read) return "a record that has been published is not there";
  // A writer counts a record after its commit, and may have died in between.
  if (published + 1 < read) return "it has fewer records than were read";
  return nullptr;
}

void LogReader::store_cursor(std::uint64_t chunk_ordinal) {
  released_ = chunk_ordinal;
  if (cursor_ == nullptr) return;
  // Release: the reads of the chunks come before. Pairs with the acquire load in
  // LogWriter::consumed_by_all().
  cursor_->consumed.store(chunk_ordinal, std::memory_order_release);
  LLAMADA_CRASH_POINT("consume:cursor-stored");
}

void LogReader::fail_at_end() { fail("a chunk has no link at its end"); }

void LogReader::fail(const char* reason) {
  failed_ = true;
  reason_ = reason;
  cell_ = nullptr;
  cells_end_ = nullptr;
}

Error LogReader::error() const {
  return {Errc::closed,
          fmt::format("log {} of a peer is damaged: {}", index_, reason_ ? reason_ : "no reason")};
}

}  // namespace llamada::log
