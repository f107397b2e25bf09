// How a successor takes over the arena of a process that died at any instruction. The pool is a row of chunks
// from header to header, so that each is found whether a log leads to it or not; a log is walked from its
// first chunk to its first cell (a journal: entry) that is not committed.

#include <algorithm>
#include <cstring>

#include "llamada/base/rounding.hpp"
#include "llamada/log/arena_writer.hpp"

namespace llamada::log {
namespace {

/// Walks one log or journal of an arena and notes where it ends.
class TailWalk {
 public:
  TailWalk(const PeerArena& arena, LogTail& tail) : arena_(arena), tail_(tail) {}

  Status run(Offset first_chunk, bool journal) {
    Offset next = first_chunk;
    std::uint32_t generation = 0;
    while (next != 0) {
      auto chunk = read_chunk(arena_, next);
      if (!chunk) return propagate(chunk);
      if (auto fits = check_chunk(*chunk, generation, journal); !fits) return fits;
      tail_.chunks.push_back(*chunk);
      auto link = journal ? walk_journal_chunk(*chunk) : walk_log_chunk(*chunk);
      if (!link) return propagate(link);
      next = link->chunk;
      generation = link->generation;
    }
    return {};
  }

 private:
  Status check_chunk(const Chunk& chunk, std::uint32_t generation, bool journal) const {
    if (generation != 0 && chunk.generation != generation)
      return failure(Errc::parse_error, "a log leads to a chunk at offset {} that is another's",
                     chunk.offset);
    // A link of a journal without a generation leads over chunks that were given back.
    const bool is_next = tail_.chunks.empty() || chunk.ordinal == tail_.chunks.back().ordinal + 1 ||
                         (journal && generation == 0 && chunk.ordinal > tail_.chunks.back().ordinal);
    if (!is_next)
      return failure(Errc::parse_error, "the chunks of a log are out of order at offset {}", chunk.offset);
    if (!journal && !tail_.chunks.empty() && chunk.records_before != tail_.records)
      return failure(Errc::parse_error, "the chunk at offset {} has another place in its log", chunk.offset);
    if ((chunk.cell_count == 0) != journal)
      return failure(Errc::parse_error, "the chunk at offset {} is of the wrong kind for its log",
                     chunk.offset);
    return {};
  }

  /// The link that the chunk ends with; chunk 0 when it is the last.
  Result<LinkPayload> walk_log_chunk(const Chunk& chunk) {
    const auto* cells = reinterpret_cast<const Cell*>(arena_.base + chunk.cells());
    tail_.payload_next = chunk.payload();
    tail_.records = chunk.records_before;
    for (tail_.cell = 0; tail_.cell < chunk.cell_count; ++tail_.cell) {
      const Cell& cell = cells[tail_.cell];
      // Pairs with the release store of the process before; nobody else writes now.
      if (cell.commit.load(std::memory_order_acquire) != chunk.generation) return LinkPayload{};
      if (cell.kind == kind_link) return read_link(cell);
      if (cell.kind == kind_withdrawn) continue;
      if (auto noted = note_record(chunk, cell); !noted) return propagate(noted);
    }
    return failure(Errc::parse_error, "the chunk at offset {} has no link at its end", chunk.offset);
  }

  static LinkPayload read_link(const Cell& cell) {
    LinkPayload link{};
    std::memcpy(&link.chunk, cell.payload, sizeof(link.chunk));
    std::memcpy(&link.generation, cell.payload + sizeof(link.chunk), sizeof(link.generation));
    return link;
  }

  Status note_record(const Chunk& chunk, const Cell& cell) {
    ++tail_.records;
    if (cell.inline_size <= inline_payload_max) {
      tail_.record_bytes += cell.inline_size;
      return {};
    }
    ApartPayload apart;
    std::memcpy(&apart, cell.payload, sizeof(apart));
    if (cell.inline_size == payload_absent && apart.offset > 0 && apart.size_bytes > 0) return {};
    if (!can_have_payload(arena_, chunk, cell.inline_size, apart.offset, apart.size_bytes))
      return failure(Errc::parse_error, "a record in the chunk at offset {} is damaged", chunk.offset);
    tail_.record_bytes += apart.size_bytes;
    if (cell.inline_size == payload_repeated)
      tail_.repeats_end = chunk.ordinal + 1;
    else
      tail_.payload_next = std::max(tail_.payload_next, rounded_up(apart.offset + apart.size_bytes, 64));
    return {};
  }

  Result<LinkPayload> walk_journal_chunk(const Chunk& chunk) {
    if (!arena_.covers(chunk.payload(), chunk.payload_bytes))
      return failure(Errc::parse_error, "the journal's chunk at offset {} is not whole", chunk.offset);
    const auto* cells = reinterpret_cast<const JournalCell*>(arena_.base + chunk.payload());
    const std::uint32_t count = static_cast<std::uint32_t>(chunk.payload_bytes / sizeof(JournalCell));
    for (tail_.cell = 0; tail_.cell < count; ++tail_.cell) {
      const JournalCell& cell = cells[tail_.cell];
      const std::uint32_t head = cell.head.load(std::memory_order_acquire);  // as in walk_log_chunk()
      if (head == 0) return LinkPayload{};
      if (head == journal_link)
        return LinkPayload{cell.value.load(std::memory_order_relaxed),
                           cell.count.load(std::memory_order_relaxed)};
      ++tail_.records;
    }
    return failure(Errc::parse_error, "the journal's chunk at offset {} has no link at its end",
                   chunk.offset);
  }

  PeerArena arena_;
  LogTail& tail_;
};

}  // namespace

Status ArenaWriter::adopt_again(std::uint32_t incarnation, std::uint32_t pid) {
  options_.incarnation = incarnation;
  options_.pid = pid;
  adopted_ = true;
  looked_at_ = 0;
  log_look_ = {};
  log_notes_.clear();
  cursor_notes_.clear();
  free_lists_.clear();
  extents_ = {};
  tails_.clear();
  free_logs_.clear();
  free_cursors_.clear();
  return adopt_content();
}

Status ArenaWriter::adopt_content() {
  const ArenaHeader& from = header();
  const Notes notes = header_notes();
  const PeerArena arena = reading();
  const bool fits = arena.ready() && from.version == arena_version &&
                    from.header_size == sizeof(ArenaHeader) && from.size_bytes == memory_.size() &&
                    notes == laid_out(notes) && notes.pool < memory_.size() &&
                    arena.log_count() == notes.log_count && arena.cursor_count() == notes.cursor_count &&
                    arena.endpoint_count() == notes.endpoint_count &&
                    arena.match_count() == notes.match_count && arena.grant_count() == notes.grant_count;
  if (!fits) return failure(Errc::parse_error, "its header is damaged, or of another version");
  notes_ = notes;
  for (std::uint32_t index = 0; index < notes.log_count; ++index) note_log(index);
  for (std::uint32_t index = 0; index < notes.cursor_count; ++index) note_cursor(index);
  header().incarnation.store(options_.incarnation, std::memory_order_relaxed);
  header().pid.store(options_.pid, std::memory_order_relaxed);

  drop_endpoints();
  std::vector<Offset> reached;
  for (std::uint32_t index = 0; index < notes.log_count; ++index) {
    if (auto adopted = adopt_log(index, reached); !adopted)
      return tl::unexpected<Error>(adopted.error().within(fmt::format("adopting log {}", index)));
  }
  return adopt_pool(reached);
}

/// WriterEndpoints and ReaderEndpoints end with their process: what they had of the pool is free.
void ArenaWriter::drop_endpoints() {
  for (std::uint32_t index = 0; index < own().endpoint_count(); ++index) {
    EndpointEntry& entry = endpoint(index);
    if (entry.number.exchange(0, std::memory_order_acq_rel) == 0 &&
        entry.description.load(std::memory_order_relaxed) == 0)
      continue;
    entry.alive.store(0, std::memory_order_release);
    entry.description.store(0, std::memory_order_relaxed);
  }
  for (std::uint32_t index = 0; index < own().match_count(); ++index)
    const_cast<MatchEntry&>(own().match(index)).number.store(0, std::memory_order_release);
  for (std::uint32_t index = 0; index < own().grant_count(); ++index)
    const_cast<GrantEntry&>(own().grant(index)).number.store(0, std::memory_order_release);
  for (std::uint32_t index = 0; index < own().log_count(); ++index)
    if ((log(index).flags.load(std::memory_order_relaxed) & log_is_endpoints) != 0) {
      log(index).first_chunk.store(0, std::memory_order_release);
      free_logs_.push_back(index);
    }
  header().changes.fetch_add(1, std::memory_order_release);
}

Status ArenaWriter::adopt_log(std::uint32_t index, std::vector<Offset>& reached) {
  const LogEntry& entry = log(index);
  LogTail tail;
  const bool journal = entry.flags.load(std::memory_order_relaxed) & log_is_journal;
  auto walked = TailWalk(reading(), tail).run(entry.first_chunk.load(std::memory_order_acquire), journal);
  if (!walked) return walked;
  // A record is counted after its commit.
  const std::uint64_t published = entry.published.load(std::memory_order_relaxed);
  const std::uint32_t flags = entry.flags.load(std::memory_order_relaxed);
  const bool is_emptied = entry.first_chunk.load(std::memory_order_relaxed) == 0 &&
                          (entry.key_high == 0 || (flags & (log_is_endpoints | log_is_discarded)) != 0);
  if (!journal && !is_emptied && published != tail.records && published + 1 != tail.records)
    return failure(Errc::parse_error, "it has {} records, and {} have been published", tail.records,
                   published);
  for (const Chunk& chunk : tail.chunks) reached.push_back(chunk.offset);
  tails_.emplace(index, std::move(tail));
  return {};
}

Status ArenaWriter::adopt_pool(std::vector<Offset>& reached) {
  std::sort(reached.begin(), reached.end());
  const std::uint64_t said = header().pool_used.load(std::memory_order_relaxed);
  std::uint64_t live = 0;
  Offset next = header().pool;
  const PeerArena arena = reading();
  // The file may end with the last chunk, or within its payload room.
  while (arena.covers(next, sizeof(ChunkHeader)) &&
         reinterpret_cast<const ChunkHeader*>(base() + next)->generation.load(std::memory_order_acquire) !=
             0) {
    auto chunk = read_chunk(arena, next);
    if (!chunk) return propagate(chunk);
    if (std::binary_search(reached.begin(), reached.end(), next))
      live += chunk->size_bytes();
    else
      free_list({chunk->cell_count, chunk->payload_bytes}).chunks.push_back(next);
    next = chunk->end();
  }
  const std::uint64_t used = next - header().pool;
  if (used < said) return failure(Errc::parse_error, "the arena's pool is damaged at offset {}", next);
  header().pool_used.store(used, std::memory_order_relaxed);
  header().pool_live.store(live, std::memory_order_relaxed);
  notes_ = header_notes();
  granted_ = std::min(rounded_to_extent(used), memory_.size() - header().pool);
  return {};
}

}  // namespace llamada::log
