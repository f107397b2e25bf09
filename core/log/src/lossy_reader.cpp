#include "llamada/log/lossy_reader.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace llamada::log {
namespace {

/// Chunks that one call goes through without finding a record, and times that the writer overtakes it: a
/// writer that fast leaves nothing to read.
constexpr int fruitless_steps_max = 1000;

}  // namespace

LossyReader::LossyReader(const PeerArena& arena, std::uint32_t index, std::size_t bytes_max)
    : arena_(arena), index_(index), bytes_max_(bytes_max), key_(key_of(arena.log(index))) {}

const CopiedRecord* LossyReader::next() {
  for (int fruitless = 0; fruitless < fruitless_steps_max; ++fruitless) {
    if (!chunk_ && !enter_first()) return nullptr;
    switch (step()) {
      case Step::copied:
        return &record_;
      case Step::passed:
        break;
      case Step::nothing:
        return nullptr;
      case Step::overtaken:
        chunk_.reset();
        break;
    }
  }
  return nullptr;
}

bool LossyReader::is_still(const Chunk& chunk) const {
  std::atomic_thread_fence(std::memory_order_acquire);  // pairs with the fence in ArenaWriter::begin_again()
  const auto& header = *reinterpret_cast<const ChunkHeader*>(arena_.base + chunk.offset);
  return header.generation.load(std::memory_order_relaxed) == chunk.generation;
}

/// Goes to the oldest chunk that there is.
bool LossyReader::enter_first() {
  if (index_ >= arena_.log_count()) return false;
  const LogEntry& entry = arena_.log(index_);
  const Offset first = entry.first_chunk.load(std::memory_order_acquire);  // pairs with LogWriter::link_to()
  if (first == 0) return false;
  auto chunk = read_chunk_racing(arena_, first);
  if (!chunk || entry.first_chunk.load(std::memory_order_acquire) != first || !is_still(*chunk))
    return false;  // it has moved on: at the next look
  // An entry gets its key before its log's first chunk.
  if (key_of(entry) != key_) return false;
  if (has_begun_ && is_another_log(*chunk)) begin_anew();
  if (!enter(*chunk)) return false;
  if (chunk->ordinal == 0) start_ = *chunk;
  if (!has_begun_) {
    is_whole_ = chunk->records_before == 0;
    last_ = chunk->records_before;
  } else if (chunk->records_before > last_) {
    missed_ += chunk->records_before - last_;
    last_ = chunk->records_before;
    is_whole_ = false;
  }
  has_begun_ = true;
  return true;
}

/// Whether this first chunk is of another log than what was read so far. A log goes on in chunks of higher
/// ordinals, and its very first one is the only one with the ordinal 0.
bool LossyReader::is_another_log(const Chunk& first) const {
  if (first.ordinal > 0) return first.ordinal < ordinal_;
  return !start_ || start_->offset != first.offset || start_->generation != first.generation;
}

void LossyReader::look_at_entry_again() {
  const Offset first = arena_.log(index_).first_chunk.load(std::memory_order_acquire);
  const auto chunk = read_chunk_racing(arena_, first);  // fails for 0
  if (has_begun_ && (first == 0 || (chunk && is_another_log(*chunk)))) begin_anew();
}

/// The entry is another log's by now.
void LossyReader::begin_anew() {
  const LogKey key = key_;
  const std::uint64_t missed = missed_, restarts = restarts_ + 1;
  *this = LossyReader(arena_, index_, bytes_max_);
  key_ = key;
  missed_ = missed;
  restarts_ = restarts;
}

bool LossyReader::enter(const Chunk& chunk) {
  if (chunk.cell_count == 0) return false;
  chunk_ = chunk;
  ordinal_ = chunk.ordinal;
  cell_ = 0;
  withdrawn_ = 0;
  return true;
}

LossyReader::Step LossyReader::step() {
  if (cell_ >= chunk_->cell_count) return Step::overtaken;
  const auto& place = reinterpret_cast<const Cell*>(arena_.base + chunk_->cells())[cell_];
  // Pairs with the release store in LogWriter::commit_cell().
  if (place.commit.load(std::memory_order_acquire) != chunk_->generation)
    return is_still(*chunk_) ? Step::nothing : Step::overtaken;
  alignas(Cell) std::byte bytes[sizeof(Cell)];
  copy_racing(bytes, reinterpret_cast<const std::byte*>(&place), sizeof(bytes));
  if (!is_still(*chunk_)) return Step::overtaken;
  const Cell& cell = *reinterpret_cast<const Cell*>(bytes);
  if (cell.kind == kind_link) return follow_link(cell) ? Step::passed : Step::overtaken;
  if (cell.kind != kind_withdrawn) return copy_record(cell);
  ++withdrawn_;
  ++cell_;
  return Step::passed;
}

LossyReader::Step LossyReader::copy_record(const Cell& cell) {
  const std::uint64_t number = chunk_->records_before + cell_ - withdrawn_ + 1;
  if (number > last_) {  // else it was given before the writer overtook this reader
    record_.kind = cell.kind;
    record_.flags = cell.flags;
    record_.label = cell.label;
    record_.number = number;
    copy_payload(cell);
    if (!is_still(*chunk_)) return Step::overtaken;
  }
  ++cell_;
  if (number <= last_) return Step::passed;
  last_ = number;
  return Step::copied;
}

void LossyReader::copy_payload(const Cell& cell) {
  record_.has_bytes = true;
  if (cell.inline_size <= inline_payload_max) {
    record_.size_bytes = cell.inline_size;
    record_.bytes.assign(cell.payload, cell.payload + std::min<std::size_t>(bytes_max_, cell.inline_size));
    return;
  }
  record_.bytes.clear();
  if (cell.inline_size == payload_absent) {
    AbsentPayload absent;
    std::memcpy(&absent, cell.payload, sizeof(absent));
    record_.size_bytes = absent.size_bytes;
    record_.has_bytes = false;
    return;
  }
  ApartPayload apart;
  std::memcpy(&apart, cell.payload, sizeof(apart));
  record_.size_bytes = apart.size_bytes;
  const std::size_t count = std::min<std::uint64_t>(bytes_max_, apart.size_bytes);
  record_.has_bytes = apart.offset % 8 == 0 &&
                      can_have_payload(arena_, *chunk_, cell.inline_size, apart.offset, apart.size_bytes) &&
                      arena_.covers(apart.offset, count);
  if (!record_.has_bytes) return;
  record_.bytes.resize(count);
  copy_racing(record_.bytes.data(), arena_.base + apart.offset, count);
  // An earlier record's payload lies in another chunk, whose generation is not known.
  if (cell.inline_size == payload_repeated && !is_kept_since_start()) {
    record_.has_bytes = false;
    record_.bytes.clear();
  }
}

/// Whether the log has not given back any chunk: it gives the first one back first.
bool LossyReader::is_kept_since_start() const {
  if (!start_ || !is_still(*start_)) return false;
  return arena_.log(index_).first_chunk.load(std::memory_order_acquire) == start_->offset;
}

bool LossyReader::follow_link(const Cell& cell) {
  LinkPayload link{};
  std::memcpy(&link.chunk, cell.payload, sizeof(link.chunk));
  std::memcpy(&link.generation, cell.payload + sizeof(link.chunk), sizeof(link.generation));
  auto chunk = read_chunk_racing(arena_, link.chunk);
  return chunk && chunk->generation == link.generation && chunk->ordinal == chunk_->ordinal + 1 &&
         is_still(*chunk) && enter(*chunk);
}

}  // namespace llamada::log
