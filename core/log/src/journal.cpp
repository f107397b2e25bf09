#include "llamada/log/journal.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "llamada/base/check.hpp"
#include "llamada/base/crash_point.hpp"
#include "llamada/base/page.hpp"

namespace llamada::log {
namespace {

/// 4, 16, then 64 KiB, all of it entries.
ChunkShape journal_shape(std::uint64_t ordinal) {
  const std::uint64_t size_bytes = std::uint64_t{page_bytes} << (2 * std::min<std::uint64_t>(ordinal, 2));
  return {0, size_bytes - sizeof(ChunkHeader)};
}

}  // namespace

Result<Journal> Journal::open(ArenaWriter& arena, LogKey key) {
  Journal journal;
  journal.arena_ = &arena;
  const auto found = arena.find_log(key);
  if (!found) {
    auto index = arena.add_log(key, log_is_journal, 0);
    if (!index) return propagate(index);
    journal.index_ = *index;
    journal.entry_ = &arena.log(*index);
    return journal;
  }
  journal.index_ = *found;
  journal.entry_ = &arena.log(*found);
  if ((journal.entry_->flags.load(std::memory_order_relaxed) & log_is_journal) == 0)
    return failure(Errc::invalid_argument, "log {} is no journal", *found);
  auto tail = arena.take_tail(*found);
  if (!tail) return failure(Errc::invalid_argument, "journal {} is in use already", *found);
  journal.chunks_ = std::move(tail->chunks);
  journal.size_ = journal.adopted_size_ = tail->records;
  if (journal.chunks_.empty()) return journal;
  JournalCell* first = journal.cells(journal.chunks_.back());
  journal.next_ = first + tail->cell;
  journal.link_ = first + capacity(journal.chunks_.back()) - 1;
  if (tail->cell > 0) {
    journal.last_ = journal.next_ - 1;
  } else if (journal.chunks_.size() > 1) {
    const Chunk& before = journal.chunks_[journal.chunks_.size() - 2];
    journal.last_ = journal.cells(before) + capacity(before) - 2;
  }
  return journal;
}

JournalCell* Journal::cells(const Chunk& chunk) const {
  return reinterpret_cast<JournalCell*>(arena_->base() + chunk.payload());
}

std::uint32_t Journal::capacity(const Chunk& chunk) {
  return static_cast<std::uint32_t>(chunk.payload_bytes / sizeof(JournalCell));
}

Status Journal::append(const JournalEntry& entry) {
  LLAMADA_CHECK(arena_ != nullptr);
  if (entry.head == 0 || entry.head == journal_link)
    return failure(Errc::invalid_argument, "a journal's entry cannot have the head {:#x}", entry.head);
  if (next_ == link_) {
    if (auto entered = next_chunk(); !entered) return entered;
  }
  add(entry);
  return {};
}

Status Journal::next_chunk() {
  const std::uint64_t ordinal = chunks_.empty() ? 0 : chunks_.back().ordinal + 1;
  auto chunk = arena_->allocate(journal_shape(ordinal), ordinal);
  if (!chunk) return propagate(chunk);
  // Fresh memory is zero already; writing to it would take its pages before they are needed.
  JournalCell* first = cells(*chunk);
  if (chunk->generation > 1) std::memset(static_cast<void*>(first), 0, chunk->payload_bytes);
  LLAMADA_CRASH_POINT("journal:chunk-initialised");
  if (chunks_.empty()) {
    entry_->first_chunk.store(chunk->offset,
                              std::memory_order_release);  // pairs with the successor's adoption
  } else {
    link_->count.store(chunk->generation, std::memory_order_relaxed);
    link_->value.store(chunk->offset, std::memory_order_relaxed);
    LLAMADA_CRASH_POINT("journal:link-written");
    link_->head.store(journal_link, std::memory_order_release);  // pairs with the successor's TailWalk
  }
  LLAMADA_CRASH_POINT("journal:link-committed");
  chunks_.push_back(*chunk);
  next_ = first;
  link_ = first + capacity(*chunk) - 1;
  return {};
}

std::uint64_t Journal::last_chunk() const {
  if (chunks_.empty()) return 0;
  // A predecessor may have died between the link to a chunk and its first entry.
  const bool is_empty = next_ == cells(chunks_.back()) && chunks_.size() > 1;
  return is_empty ? chunks_[chunks_.size() - 2].ordinal : chunks_.back().ordinal;
}

/// The link behind `first` leads over what is given back. It has two words, and each of these stores leaves a
/// link that can be followed: without a generation it is believed as it is.
void Journal::give_back(std::uint64_t first, std::uint64_t last) {
  LLAMADA_CHECK(arena_ != nullptr && last <= last_chunk());
  const auto begin = std::ranges::upper_bound(chunks_, first, {}, &Chunk::ordinal);
  const auto end = std::ranges::lower_bound(chunks_, last, {}, &Chunk::ordinal);
  if (begin >= end) return;
  LLAMADA_CHECK(begin != chunks_.begin());
  const Chunk& before = *std::prev(begin);
  JournalCell& link = cells(before)[capacity(before) - 1];
  link.count.store(0, std::memory_order_relaxed);
  LLAMADA_CRASH_POINT("shorten:link-opened");
  // Release: a reader that sees it finds the chunk there. Pairs with JournalReader::follow_link().
  link.value.store(end->offset, std::memory_order_release);
  LLAMADA_CRASH_POINT("shorten:linked-over");
  for (auto chunk = begin; chunk != end; ++chunk) {
    arena_->free(*chunk);
    size_ -= capacity(*chunk) - 1;
    LLAMADA_CRASH_POINT("shorten:chunk-freed");
  }
  entry_->published.store(size_, std::memory_order_relaxed);
  chunks_.erase(begin, end);
  read_count_ = UINT64_MAX;
}

void Journal::set_last_value(std::uint64_t value) {
  LLAMADA_CHECK(last_ != nullptr);
  last_->value.store(value, std::memory_order_relaxed);
  LLAMADA_CRASH_POINT("journal:value-stored");
}

std::optional<JournalEntry> Journal::peek() const {
  if (read_count_ >= size_) return std::nullopt;
  const bool at_link = read_place_ + 1 == capacity(chunks_[read_chunk_]);
  return entry_in(at_link ? cells(chunks_[read_chunk_ + 1])[0] : cells(chunks_[read_chunk_])[read_place_]);
}

void Journal::advance() {
  LLAMADA_CHECK(read_count_ < size_);
  if (read_place_ + 1 == capacity(chunks_[read_chunk_])) {
    ++read_chunk_;
    read_place_ = 0;
  }
  ++read_place_;
  ++read_count_;
}

std::optional<JournalEntry> Journal::read_next() {
  auto entry = peek();
  if (entry) advance();
  return entry;
}

}  // namespace llamada::log
