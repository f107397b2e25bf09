// How the owner of an arena finds that its own wild pointer has written there.

#include <algorithm>
#include <cstring>

#include "llamada/log/arena_writer.hpp"

namespace llamada::log {
namespace {

/// Looked at in one call of find_damage().
constexpr int chunks_max = 4096, records_max = 4096;

}  // namespace

bool ArenaWriter::is_laid_out(const ArenaHeader& header, std::uint64_t size_bytes) {
  const Notes notes = notes_of(header);
  return header.version == arena_version && header.header_size == sizeof(ArenaHeader) &&
         header.size_bytes == size_bytes && notes == laid_out(notes) && notes.pool < size_bytes &&
         notes.log_count <= notes.log_count_max && notes.cursor_count <= notes.cursor_count_max &&
         notes.endpoint_count <= notes.endpoint_count_max && notes.match_count <= notes.match_count_max &&
         notes.grant_count <= notes.grant_count_max;
}

ArenaWriter::EntryNote ArenaWriter::note_of(const LogEntry& entry) {
  return {entry.key_high, entry.key_low, 0, entry.endpoint};
}

ArenaWriter::EntryNote ArenaWriter::note_of(const CursorEntry& entry) {
  return {entry.key_high, entry.key_low, entry.writer, entry.endpoint};
}

void ArenaWriter::note_log(std::uint32_t index) {
  if (index >= log_notes_.size()) log_notes_.resize(index + 1);
  log_notes_[index] = note_of(log(index));
  if (index == log_look_.log) log_look_ = {index, {}, 0, 0};
}

void ArenaWriter::note_cursor(std::uint32_t index) {
  if (index >= cursor_notes_.size()) cursor_notes_.resize(index + 1);
  cursor_notes_[index] = note_of(own_cursor(index));
}

std::string ArenaWriter::find_damage() {
  if (!own().ready() || !is_laid_out(header(), memory_.size()) || header_notes() != notes_)
    return "its header has changed";
  if (std::string found = find_damage_of_directories(); !found.empty()) return found;
  if (!options_.looks_through_pool) return {};
  if (std::string found = find_damage_of_pool(); !found.empty()) return found;
  return find_damage_of_logs();
}

std::string ArenaWriter::find_damage_of_directories() {
  for (std::uint32_t index = 0; index < notes_.log_count; ++index)
    if (note_of(log(index)) != log_notes_[index])
      return fmt::format("entry {} of its directory of logs has changed", index);
  for (std::uint32_t index = 0; index < notes_.cursor_count; ++index)
    if (note_of(own_cursor(index)) != cursor_notes_[index])
      return fmt::format("entry {} of its directory of cursors has changed", index);
  return {};
}

std::string ArenaWriter::find_damage_of_pool() {
  const Offset end = pool() + pool_used();
  Offset next = looked_at_ == 0 ? pool() : looked_at_;
  for (int count = 0; next < end && count < chunks_max; ++count) {
    auto chunk = read_chunk(own(), next);
    if (!chunk) return chunk.error().text();
    if (chunk->end() > end) return fmt::format("the chunk at offset {} leads out of the pool", next);
    next = chunk->end();
  }
  looked_at_ = next < end ? next : 0;
  return {};
}

/// Goes through the records of one log after the other, some at a call.
std::string ArenaWriter::find_damage_of_logs() {
  int left = records_max;
  for (std::uint32_t logs = 0; logs < notes_.log_count && left > 0; ++logs) {
    if (log_look_.log >= notes_.log_count) log_look_ = {};
    if (std::string found = find_damage_of_log(left); !found.empty())
      return fmt::format("its log {}: {}", log_look_.log, found);
    if (left > 0) log_look_ = {log_look_.log + 1, {}, 0, 0};
  }
  return {};
}

/// From where the last look ended. `left`: so many records more may be looked at.
std::string ArenaWriter::find_damage_of_log(int& left) {
  LogLook& look = log_look_;
  const LogEntry& entry = log(look.log);
  const Offset first = entry.first_chunk.load(std::memory_order_relaxed);
  const std::uint32_t flags = entry.flags.load(std::memory_order_relaxed);
  if ((flags & log_is_journal) != 0) return {};
  const std::uint64_t published = entry.published.load(std::memory_order_relaxed);
  if (first == 0)
    return published > 0 && entry.key_high != 0 && (flags & (log_is_endpoints | log_is_discarded)) == 0
               ? "its first chunk cannot be found"
               : "";
  const auto is_known = [&](const Result<Chunk>& chunk) {
    return chunk && chunk->generation == look.chunk.generation && chunk->ordinal == look.chunk.ordinal;
  };
  auto begin = read_chunk(own(), first);
  if (!begin) return begin.error().text();
  // A chunk that the log has given back since is looked at no longer.
  if (look.chunk.offset == 0 || look.chunk.ordinal < begin->ordinal ||
      !is_known(read_chunk(own(), look.chunk.offset)))
    look = {look.log, *begin, 0, begin->records_before};
  for (; left > 0; --left) {
    if (look.cell >= look.chunk.cell_count) return "a chunk has no link at its end";
    const Cell& cell = reinterpret_cast<const Cell*>(base() + look.chunk.cells())[look.cell];
    // A record is counted after its commit, and a predecessor may have died in between.
    if (cell.commit.load(std::memory_order_relaxed) != look.chunk.generation)
      return published == look.records || published + 1 == look.records
                 ? ""
                 : fmt::format("it has {} records, and {} have been published", look.records, published);
    if (cell.kind == kind_link) {
      if (std::string found = follow_link(cell); !found.empty()) return found;
      continue;
    }
    ++look.cell;
    if (cell.kind == kind_withdrawn) continue;
    ++look.records;
    if (!has_payload(cell)) return fmt::format("its record {} leads out of its chunk", look.records);
  }
  return {};
}

bool ArenaWriter::has_payload(const Cell& cell) const {
  if (cell.inline_size <= inline_payload_max || cell.inline_size == payload_absent) return true;
  ApartPayload apart;
  std::memcpy(&apart, cell.payload, sizeof(apart));
  return can_have_payload(own(), log_look_.chunk, cell.inline_size, apart.offset, apart.size_bytes);
}

std::string ArenaWriter::follow_link(const Cell& cell) {
  LinkPayload link{};
  std::memcpy(&link.chunk, cell.payload, sizeof(link.chunk));
  std::memcpy(&link.generation, cell.payload + sizeof(link.chunk), sizeof(link.generation));
  auto next = read_chunk(own(), link.chunk);
  if (!next || next->generation != link.generation || next->ordinal != log_look_.chunk.ordinal + 1 ||
      next->records_before != log_look_.records)
    return "a link leads nowhere";
  log_look_ = {log_look_.log, *next, 0, log_look_.records};
  return {};
}

}  // namespace llamada::log
