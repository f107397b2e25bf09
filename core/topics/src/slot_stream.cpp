#include <algorithm>
#include <bit>
#include <cstring>

#include "llamada/base/crash_point.hpp"
#include "stream.hpp"

// The writer writes slots again under this reader's hands, unless it finds one in a hold word. The sequence
// number of a slot, 0 while it is written, says whether what was read belongs together.

namespace llamada::topics::detail {

void SlotStream::begin(const EndpointDirectory::Grant*) {
  scans_ = wants_history();
  is_history_ = scans_;
  const log::PeerArena& arena = origin_.arena;
  const bool fits = origin_.entry.slots % 64 == 0 && origin_.entry.slots >= sizeof(log::ArenaHeader) &&
                    arena.covers(origin_.entry.slots, sizeof(log::SlotTable));
  if (fits) table_ = reinterpret_cast<const log::SlotTable*>(arena.base + origin_.entry.slots);
}

bool SlotStream::is_damaged() const { return started() && (table_ == nullptr || damaged_); }

bool SlotStream::deliver_all() {
  if (is_damaged()) return true;
  // Pairs with the release store in SlotStore::commit().
  const std::uint64_t latest = table_->latest.load(std::memory_order_acquire);
  damaged_ = latest < taken_;  // it never goes back
  if (damaged_) return true;
  for (;;) {
    if (scans_) scan(latest);
    if (!deliver_scanned()) return false;
    if (taken_ >= latest) return true;
    if (!follow_ring(latest)) return false;
  }
}

/// The live samples that are newer than what was taken, by number. All others up to there are skipped.
void SlotStream::scan(std::uint64_t latest) {
  scans_ = false;
  scanned_.clear();
  scan_end_ = latest;
  const std::uint32_t block_count = std::min(table_->block_count.load(std::memory_order_acquire),
                                             static_cast<std::uint32_t>(log::slot_block_count_max));
  for (std::uint32_t block = 0, index = 0; block < block_count; ++block)
    for (std::uint32_t i = 0; i < log::SlotTable::block_size(block); ++i, ++index) {
      const log::Slot* slot = slot_at(index);
      if (slot == nullptr) break;
      const std::uint64_t number = slot->sequence_number.load(std::memory_order_acquire);
      if (number > taken_ && number <= latest && slot->live.load(std::memory_order_relaxed) != 0)
        scanned_.push_back({number, index});
    }
  std::sort(scanned_.begin(), scanned_.end(), std::greater<>());
}

bool SlotStream::deliver_scanned() {
  while (!scanned_.empty()) {
    const auto [number, index] = scanned_.back();
    skip_to(number);
    const Step step = take(index, number);
    if (step == Step::refused) return false;
    if (step == Step::gone) skip_to(number + 1);
    scanned_.pop_back();
  }
  skip_to(std::exchange(scan_end_, 0) + 1);
  is_history_ = false;
  return true;
}

/// Sample by sample; false when one was refused. When the ring has been overtaken, a scan is due.
bool SlotStream::follow_ring(std::uint64_t latest) {
  while (taken_ < latest && !scans_) {
    const std::uint64_t number = taken_ + 1;
    // Pairs with the release store in SlotStore::commit().
    const std::uint64_t word = table_->ring[number % log::slot_ring_count].load(std::memory_order_acquire);
    if (word >> 32 != (number & 0xffffffff)) {
      scans_ = true;
      return true;
    }
    const Step step = take(static_cast<std::uint32_t>(word), number);
    if (step == Step::refused) return false;
    if (step == Step::gone) skip_to(number + 1);
  }
  return true;
}

/// All before `number` that have not been taken will not be.
void SlotStream::skip_to(std::uint64_t number) {
  if (number <= taken_ + 1) return;
  const bool reliable = (match().flags & log::match_is_reliable) != 0;
  // Of a RELIABLE writer's KEEP_LAST, what was replaced is no loss (DDS 1.4, 2.2.3.18).
  if (!reliable && !is_history_) report_lost(number - taken_ - 1);
  taken_ = number - 1;
}

const log::Slot* SlotStream::slot_at(std::uint32_t index) const {
  const auto place = log::SlotTable::place_of(index);
  // Pairs with the release store in SlotStore::grow().
  if (place.block >= log::slot_block_count_max ||
      place.block >= table_->block_count.load(std::memory_order_acquire))
    return nullptr;
  const log::Offset block = table_->blocks[place.block].load(std::memory_order_relaxed);
  const std::uint64_t size_bytes = log::SlotTable::block_size(place.block) * sizeof(log::Slot);
  if (block % 64 != 0 || !origin_.arena.covers(block, size_bytes)) return nullptr;
  return reinterpret_cast<const log::Slot*>(origin_.arena.base + block) + place.index;
}

SlotStream::Step SlotStream::take(std::uint32_t index, std::uint64_t number) {
  const log::Slot* slot = slot_at(index);
  if (slot == nullptr) {
    damaged_ = true;
    return Step::gone;
  }
  // Pairs with the release store in SlotStore::commit().
  if (slot->sequence_number.load(std::memory_order_acquire) != number) return Step::gone;
  alignas(log::Slot) std::byte bytes[sizeof(log::Slot)];
  log::copy_racing(bytes, reinterpret_cast<const std::byte*>(slot), sizeof(bytes));
  if (!is_still(*slot, number)) return Step::gone;
  const log::Slot& copy = *reinterpret_cast<const log::Slot*>(bytes);
  if (copy.kind > static_cast<std::uint8_t>(ChangeKind::coherent_end)) {
    damaged_ = true;
    return Step::gone;
  }
  const SampleHeader header{number,
                            copy.source_timestamp_ns,
                            copy.instance,
                            static_cast<ChangeKind>(copy.kind),
                            copy.coherent_set,
                            copy.group_sequence};
  if (copy.size_bytes <= log::inline_payload_max)
    return deliver(Sample(header, {copy.small, copy.size_bytes})) ? Step::taken : Step::refused;
  return take_large(*slot, index, header, copy.payload, copy.size_bytes);
}

SlotStream::Step SlotStream::take_large(const log::Slot& slot, std::uint32_t index,
                                        const SampleHeader& header, log::Offset payload,
                                        std::uint64_t size_bytes) {
  const log::PeerArena& arena = origin_.arena;
  // It is all of a chunk without cells: a size that is none is not to be allocated here.
  const auto chunk = payload < sizeof(log::ChunkHeader)
                         ? failure(Errc::parse_error, "no place")
                         : log::read_chunk_racing(arena, payload - sizeof(log::ChunkHeader));
  if (!chunk || !chunk->has_payload(payload, size_bytes) || !arena.covers(payload, size_bytes)) {
    damaged_ = is_still(slot, header.sequence_number);  // else it is another's by now
    return Step::gone;
  }
  const std::span<const std::byte> place(arena.base + payload, size_bytes);
  if (const auto hold = take_hold(slot, index, header.sequence_number))
    return deliver(Sample(header, place, *this, *hold)) ? Step::taken : Step::refused;
  std::vector<std::byte> bytes(size_bytes);
  log::copy_racing(bytes.data(), place.data(), size_bytes);
  if (!is_still(slot, header.sequence_number)) return Step::gone;
  if (!deliver(Sample::owning(header, std::move(bytes)))) return Step::refused;
  count_copied(size_bytes);
  return Step::taken;
}

bool SlotStream::is_still(const log::Slot& slot, std::uint64_t number) const {
  std::atomic_thread_fence(std::memory_order_acquire);
  return slot.sequence_number.load(std::memory_order_relaxed) == number;
}

/// Holds the slot in place; nothing when all hold words are in use, or the sample is gone.
std::optional<std::uint64_t> SlotStream::take_hold(const log::Slot& slot, std::uint32_t index,
                                                   std::uint64_t number) {
  const auto free = static_cast<std::size_t>(std::countr_one(holds_));
  if (free >= log::hold_count) return std::nullopt;
  auto& hold = match().holds[free];
  hold.store(std::uint64_t{index} + 1, std::memory_order_relaxed);
  LLAMADA_CRASH_POINT("holds:set");
  // Pairs with the fence in SlotStore::take_retired(): either we see its 0 or it sees our hold.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (slot.sequence_number.load(std::memory_order_acquire) != number) {
    hold.store(0, std::memory_order_release);
    return std::nullopt;
  }
  holds_ |= 1u << free;
  return free;
}

void SlotStream::let_go(std::uint64_t hold) {
  holds_ &= ~(1u << hold);
  // Release: our reads come before. Pairs with the acquire load in SlotStore::is_held().
  match().holds[hold].store(0, std::memory_order_release);
  LLAMADA_CRASH_POINT("holds:released");
}

}  // namespace llamada::topics::detail
