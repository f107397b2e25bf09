#include "llamada/log/journal_reader.hpp"

namespace llamada::log {
namespace {

JournalEntry entry_in(const JournalCell& cell, std::uint32_t head) {
  return {head, cell.count.load(std::memory_order_relaxed), cell.value.load(std::memory_order_relaxed)};
}

}  // namespace

bool JournalReader::is_next() {
  if (is_damaged_ || (cells_ == nullptr && !find_first_chunk())) return false;
  // Pairs with the release store in Journal::add().
  std::uint32_t head = cell(place_).head.load(std::memory_order_acquire);
  if (head == 0) return false;
  if (place_ + 1 < cell_count_) return head != journal_link || damaged();
  // The last place of a chunk is the link's.
  if (head != journal_link) return damaged();
  if (!follow_link(cell(place_))) return false;
  head = cell(place_).head.load(std::memory_order_acquire);  // as above
  return head != 0 && (head != journal_link || damaged());
}

std::optional<JournalEntry> JournalReader::read_next() {
  if (!is_next()) return std::nullopt;
  const JournalCell& next = cell(place_);
  const std::uint32_t head = next.head.load(std::memory_order_acquire);  // as in is_next()
  ++place_;
  ++read_count_;
  last_ = &next;
  return entry_in(next, head);
}

std::optional<JournalEntry> JournalReader::last() const {
  if (last_ == nullptr) return std::nullopt;
  return entry_in(*last_, last_->head.load(std::memory_order_acquire));
}

bool JournalReader::find_first_chunk() {
  const auto index = find_log(arena_, key_, scan_);
  if (!index) return false;
  // It is looked for again as long as it has no chunk.
  scan_.scanned = *index;
  const LogEntry& entry = arena_.log(*index);
  if ((entry.flags.load(std::memory_order_relaxed) & log_is_journal) == 0) return damaged();
  // Pairs with the release store in Journal::next_chunk().
  const Offset first = entry.first_chunk.load(std::memory_order_acquire);
  if (first == 0) return false;
  const auto chunk = read_chunk(arena_, first);
  return chunk && chunk->ordinal == 0 ? enter(*chunk) : damaged();
}

bool JournalReader::follow_link(const JournalCell& link) {
  // Pairs with the release store in Journal::give_back().
  const Offset offset = link.value.load(std::memory_order_acquire);
  const std::uint32_t generation = link.count.load(std::memory_order_relaxed);
  const auto chunk = read_chunk(arena_, offset);
  if (!chunk) return damaged();
  // Without a generation the link leads over chunks that were given back.
  const bool is_next = generation == 0 ? chunk->ordinal > ordinal_
                                       : chunk->ordinal == ordinal_ + 1 && chunk->generation == generation;
  return is_next ? enter(*chunk) : damaged();
}

bool JournalReader::enter(const Chunk& chunk) {
  const bool is_of_journal = chunk.cell_count == 0 && chunk.payload_bytes >= 2 * sizeof(JournalCell) &&
                             arena_.covers(chunk.payload(), chunk.payload_bytes);
  if (!is_of_journal) return damaged();
  cells_ = reinterpret_cast<const JournalCell*>(arena_.base + chunk.payload());
  cell_count_ = static_cast<std::uint32_t>(chunk.payload_bytes / sizeof(JournalCell));
  ordinal_ = chunk.ordinal;
  place_ = 0;
  return true;
}

}  // namespace llamada::log
