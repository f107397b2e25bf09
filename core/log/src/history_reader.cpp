#include "llamada/log/history_reader.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <span>

namespace llamada::log {
namespace {

/// Cells without a record that one call passes over: links, and what was withdrawn.
constexpr int passed_max = 1000;

}  // namespace

HistoryReader::HistoryReader(const PeerArena& arena, std::uint32_t index, const Options& options)
    : arena_(arena), index_(index), options_(options), key_(key_of(arena.log(index))) {}

HistoryReader::HistoryReader(const PeerArena& arena, std::uint32_t index, const LogPosition& place,
                             const Options& options)
    : HistoryReader(arena, index, options) {
  const auto chunk = read_chunk_racing(arena, place.chunk);
  const bool is_there = chunk && chunk->generation == place.generation && chunk->ordinal == place.ordinal &&
                        is_still(*chunk) && enter(*chunk, place.cell);
  is_overtaken_ = !is_there;
}

bool HistoryReader::is_still(const Chunk& chunk) const {
  std::atomic_thread_fence(std::memory_order_acquire);  // pairs with the fence in ArenaWriter::begin_again()
  const auto& header = *reinterpret_cast<const ChunkHeader*>(arena_.base + chunk.offset);
  return header.generation.load(std::memory_order_relaxed) == chunk.generation;
}

std::optional<Record> HistoryReader::fall_behind() {
  is_overtaken_ = true;
  return std::nullopt;
}

std::optional<std::uint64_t> HistoryReader::first_number() {
  if (!chunk_ && !enter_first()) {
    begins_with_one_ = true;
    return std::nullopt;
  }
  return chunk_->records_before + 1;
}

bool HistoryReader::enter_first() {
  if (is_overtaken_ || index_ >= arena_.log_count()) return false;
  const LogEntry& entry = arena_.log(index_);
  const Offset first = entry.first_chunk.load(std::memory_order_acquire);  // pairs with LogWriter::link_to()
  if (first == 0) return false;
  const auto chunk = read_chunk_racing(arena_, first);
  // While the writer moves on: at the next look.
  if (!chunk || entry.first_chunk.load(std::memory_order_acquire) != first || !is_still(*chunk)) return false;
  // An entry gets its key before its log's first chunk.
  is_overtaken_ = key_of(entry) != key_ || (begins_with_one_ && chunk->records_before != 0);
  return !is_overtaken_ && enter(*chunk, 0);
}

bool HistoryReader::enter(const Chunk& chunk, std::uint32_t cell) {
  if (cell >= chunk.cell_count) return false;
  chunk_ = chunk;
  cell_ = cell;
  return true;
}

LogPosition HistoryReader::position() const {
  if (!chunk_) return {};
  return {chunk_->offset, chunk_->generation, cell_, chunk_->ordinal};
}

std::optional<Record> HistoryReader::peek() {
  if (is_overtaken_ || (!chunk_ && !enter_first())) return std::nullopt;
  for (int passed = 0; passed < passed_max; ++passed) {
    if (cell_ >= chunk_->cell_count) return fall_behind();
    const auto& place = reinterpret_cast<const Cell*>(arena_.base + chunk_->cells())[cell_];
    // Pairs with the release store in LogWriter::commit_cell().
    if (place.commit.load(std::memory_order_acquire) != chunk_->generation)
      return is_still(*chunk_) ? std::nullopt : fall_behind();
    copy_racing(copied_cell_.data(), reinterpret_cast<const std::byte*>(&place), sizeof(Cell));
    if (!is_still(*chunk_)) return fall_behind();
    const Cell& cell = *reinterpret_cast<const Cell*>(copied_cell_.data());
    if (cell.kind == kind_link) {
      if (!follow_link(cell)) return fall_behind();
    } else if (cell.kind == kind_withdrawn) {
      ++cell_;
    } else {
      return read(cell);
    }
  }
  return std::nullopt;
}

bool HistoryReader::follow_link(const Cell& cell) {
  const auto chunk = linked_by(cell);
  return chunk && enter(*chunk, 0);
}

std::optional<Chunk> HistoryReader::linked_by(const Cell& cell) const {
  LinkPayload link{};
  std::memcpy(&link.chunk, cell.payload, sizeof(link.chunk));
  std::memcpy(&link.generation, cell.payload + sizeof(link.chunk), sizeof(link.generation));
  const auto chunk = read_chunk_racing(arena_, link.chunk);
  if (!chunk || chunk->generation != link.generation || chunk->ordinal != chunk_->ordinal + 1 ||
      !is_still(*chunk))
    return std::nullopt;
  return *chunk;
}

/// Nothing where this is the last chunk, or cannot be read: peek() finds that out.
std::optional<Chunk> HistoryReader::chunk_behind() {
  const std::span cells(reinterpret_cast<const Cell*>(arena_.base + chunk_->cells()), chunk_->cell_count);
  // In order, and a link comes last.
  const auto unused = std::ranges::partition_point(cells, [this](const Cell& cell) {
    return cell.commit.load(std::memory_order_acquire) == chunk_->generation;
  });
  if (unused == cells.begin()) return std::nullopt;
  copy_racing(copied_cell_.data(), reinterpret_cast<const std::byte*>(&*std::prev(unused)), sizeof(Cell));
  const Cell& last = *reinterpret_cast<const Cell*>(copied_cell_.data());
  return last.kind == kind_link && is_still(*chunk_) ? linked_by(last) : std::nullopt;
}

std::optional<std::uint64_t> HistoryReader::pass_chunks(std::uint64_t number) {
  if (is_overtaken_ || !chunk_ || cell_ != 0) return std::nullopt;
  for (int passed = 0; passed < chunks_passed_max; ++passed) {
    const auto next = chunk_behind();
    if (!next || next->records_before >= number || !enter(*next, 0)) break;
  }
  return chunk_->records_before + 1;
}

std::optional<Record> HistoryReader::read(const Cell& cell) {
  Record record{.kind = cell.kind,
                .flags = cell.flags,
                .label = cell.label,
                .payload = {},
                .chunk_ordinal = chunk_->ordinal,
                .extra = {}};
  if (cell.inline_size <= inline_payload_max) {
    record.payload = {cell.payload, cell.inline_size};
    return record;
  }
  if (cell.inline_size != payload_absent) return read_apart(cell, record);
  AbsentPayload absent;
  std::memcpy(&absent, cell.payload, sizeof(absent));
  if (absent.record == 0 || absent.size_bytes == 0) return fall_behind();
  record.absent_bytes = absent.size_bytes;
  record.absent_record = absent.record;
  return record;
}

std::optional<Record> HistoryReader::read_apart(const Cell& cell, Record record) {
  ApartPayload apart;
  std::memcpy(&apart, cell.payload, sizeof(apart));
  const bool is_possible =
      apart.offset % 8 == 0 &&
      can_have_payload(arena_, *chunk_, cell.inline_size, apart.offset, apart.size_bytes) &&
      arena_.covers(apart.offset, apart.size_bytes);
  if (!is_possible) return fall_behind();
  is_repeated_ = cell.inline_size == payload_repeated;
  record.payload = {arena_.base + apart.offset, apart.size_bytes};
  record.extra = {cell.payload + offsetof(ApartPayload, extra), extra_bytes_max};
  if (apart.size_bytes > options_.copied_bytes_max) return record;
  copied_.resize(apart.size_bytes);
  if (!copy(record, 0, copied_)) return std::nullopt;
  record.payload = copied_;
  return record;
}

bool HistoryReader::copy(const Record& record, std::uint64_t offset, std::span<std::byte> to) {
  copy_racing(to.data(), record.payload.data() + offset, to.size());
  const bool is_whole = is_still(*chunk_) && (!is_repeated_ || is_payload_kept());
  is_overtaken_ |= !is_whole;
  return is_whole;
}

/// Whether the payload of an earlier record, in a chunk whose generation is not known, is still there. The
/// writer gives no chunk back that such a record may need before all readers have passed that record
/// (LogWriter::recycle()), and the first chunk first.
bool HistoryReader::is_payload_kept() const {
  std::atomic_thread_fence(std::memory_order_acquire);  // pairs with the fence in ArenaWriter::begin_again()
  if (options_.keeper != nullptr &&
      options_.keeper->consumed.load(std::memory_order_relaxed) <= chunk_->ordinal)
    return true;
  const LogEntry& entry = arena_.log(index_);
  const auto first = read_chunk_racing(arena_, entry.first_chunk.load(std::memory_order_acquire));
  return first && first->ordinal == 0 && key_of(entry) == key_;
}

}  // namespace llamada::log
