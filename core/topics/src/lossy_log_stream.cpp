#include <algorithm>
#include <cstring>
#include <utility>

#include "log_record.hpp"
#include "stream.hpp"

// The writer reuses chunks under this reader's hands: every byte is copied, and then the chunk's generation,
// which the writer changes before anything else in it, says whether the copy is whole.

namespace llamada::topics::detail {

void LossyLogStream::begin(const EndpointDirectory::Grant* grant) {
  begins_anywhere_ = grant == nullptr || grant->position.chunk == 0;
  if (begins_anywhere_) return;
  auto chunk = log::read_chunk_racing(origin_.arena, grant->position.chunk);
  if (!chunk || chunk->generation != grant->position.generation || grant->position.cell >= chunk->cell_count)
    return;  // overtaken already: it begins with what is there
  chunk_ = *chunk;
  cell_ = grant->position.cell;
}

bool LossyLogStream::deliver_all() {
  constexpr int overtaken_max = 1000;  // per call: a writer that fast leaves nothing to read
  for (int overtaken = 0; overtaken < overtaken_max;) {
    if (!chunk_ && !enter_first()) return true;
    switch (step()) {
      case Step::delivered:
        break;
      case Step::nothing:
        return true;
      case Step::refused:
        return false;
      case Step::overtaken:
        ++overtaken;
        chunk_.reset();
        break;
    }
  }
  return true;
}

bool LossyLogStream::is_still(const log::Chunk& chunk) const {
  std::atomic_thread_fence(std::memory_order_acquire);  // pairs with the fence in begin_again()
  const auto& header = *reinterpret_cast<const log::ChunkHeader*>(origin_.arena.base + chunk.offset);
  return header.generation.load(std::memory_order_relaxed) == chunk.generation;
}

/// Goes to the oldest chunk that there is.
bool LossyLogStream::enter_first() {
  if (origin_.entry.log >= origin_.arena.log_count()) return false;
  const log::LogEntry& entry = origin_.arena.log(origin_.entry.log);
  const log::Offset first =
      entry.first_chunk.load(std::memory_order_acquire);  // pairs with LogWriter::link_to()
  if (first == 0) return false;
  auto chunk = log::read_chunk_racing(origin_.arena, first);
  if (!chunk || chunk->cell_count == 0 || entry.first_chunk.load(std::memory_order_acquire) != first ||
      !is_still(*chunk))
    return false;  // it moved on: in the next poll
  chunk_ = *chunk;
  cell_ = 0;
  if (std::exchange(begins_anywhere_, false)) taken_ = std::max(taken_, chunk->records_before);
  return true;
}

LossyLogStream::Step LossyLogStream::step() {
  if (cell_ >= chunk_->cell_count) return Step::overtaken;
  const auto& place = reinterpret_cast<const log::Cell*>(origin_.arena.base + chunk_->cells())[cell_];
  // Pairs with the release store in LogWriter::commit_cell().
  if (place.commit.load(std::memory_order_acquire) != chunk_->generation)
    return is_still(*chunk_) ? Step::nothing : Step::overtaken;
  alignas(log::Cell) std::byte bytes[sizeof(log::Cell)];
  log::copy_racing(bytes, reinterpret_cast<const std::byte*>(&place), sizeof(bytes));
  if (!is_still(*chunk_)) return Step::overtaken;
  const log::Cell& cell = *reinterpret_cast<const log::Cell*>(bytes);
  if (cell.kind == log::kind_link) return follow_link(cell) ? Step::delivered : Step::overtaken;
  const std::uint64_t sequence = chunk_->records_before + cell_ + 1;
  if (sequence <= taken_) {  // seen before the writer overtook us
    ++cell_;
    return Step::delivered;
  }
  const Step copied = copy_record(cell, sequence);
  if (copied == Step::delivered) ++cell_;
  return copied;
}

LossyLogStream::Step LossyLogStream::copy_record(const log::Cell& cell, std::uint64_t sequence) {
  log::Record record{cell.kind, cell.flags, cell.label, {cell.payload, cell.inline_size}, 0, {}};
  std::vector<std::byte> copy;
  if (cell.inline_size > log::inline_payload_max) {
    log::ApartPayload apart;
    std::memcpy(&apart, cell.payload, sizeof(apart));
    if (!chunk_->has_payload(apart.offset, apart.size_bytes) ||
        !origin_.arena.covers(apart.offset, apart.size_bytes))
      return Step::overtaken;
    copy.resize(apart.size_bytes);
    log::copy_racing(copy.data(), origin_.arena.base + apart.offset, copy.size());
    if (!is_still(*chunk_)) return Step::overtaken;
    record.payload = copy;
    record.extra = {cell.payload + offsetof(log::ApartPayload, extra), log::extra_bytes_max};
  }
  SampleHeader header;
  std::optional<Origin> origin;
  if (!take_origin(record, origin) || !take_header(record, sequence, header)) return Step::overtaken;
  skip_to(sequence);
  if (record.extra.empty()) {
    if (!deliver(Sample(header, record.payload), origin)) return Step::refused;
    return Step::delivered;
  }
  const std::size_t size_bytes = copy.size();
  copy.resize(record.payload.size());
  if (!deliver(Sample::owning(header, std::move(copy)), origin)) return Step::refused;
  count_copied(size_bytes);
  return Step::delivered;
}

void LossyLogStream::skip_to(std::uint64_t sequence) {
  if (sequence <= taken_ + 1) return;
  report_lost(sequence - taken_ - 1);
  taken_ = sequence - 1;
}

bool LossyLogStream::follow_link(const log::Cell& cell) {
  log::LinkPayload link{};
  std::memcpy(&link.chunk, cell.payload, sizeof(link.chunk));
  std::memcpy(&link.generation, cell.payload + sizeof(link.chunk), sizeof(link.generation));
  auto chunk = log::read_chunk_racing(origin_.arena, link.chunk);
  if (!chunk || chunk->generation != link.generation || chunk->cell_count == 0 ||
      chunk->ordinal != chunk_->ordinal + 1 || !is_still(*chunk))
    return false;
  chunk_ = *chunk;
  cell_ = 0;
  return true;
}

}  // namespace llamada::topics::detail
