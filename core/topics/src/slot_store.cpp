#include "slot_store.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "llamada/base/check.hpp"
#include "llamada/base/crash_point.hpp"
#include "llamada/base/page.hpp"
#include "llamada/base/rounding.hpp"

namespace llamada::topics::detail {
namespace {

/// Samples that a BEST_EFFORT KEEP_ALL writer keeps when RESOURCE_LIMITS does not say.
constexpr std::size_t kept_samples_default = 256;
/// Retired slots that are left readable for readers which are a little behind.
constexpr std::size_t spare_count_max = 64;
constexpr std::size_t spare_bytes = 256 << 10;
constexpr std::size_t spare_count_min = 2;

std::size_t spare_count(std::size_t size_bytes) {
  return std::clamp(spare_bytes / std::max<std::size_t>(size_bytes, 1), spare_count_min, spare_count_max);
}

std::uint64_t payload_room(std::size_t size_bytes) {
  if (size_bytes <= page_bytes) return std::bit_ceil(std::max<std::uint64_t>(size_bytes, 64));
  return rounded_up(size_bytes, page_bytes);
}

bool ends_instance(ChangeKind kind) {
  return kind == ChangeKind::unregistered || kind == ChangeKind::disposed_unregistered;
}

}  // namespace

SlotStore::SlotStore(log::ArenaWriter& arena, const qos::DataWriterQos& qos)
    : arena_(arena),
      keeps_for_good_(qos.durability.kind != qos::DurabilityKind::volatile_),
      keeps_all_(qos.history.kind == qos::HistoryKind::keep_all),
      depth_(static_cast<std::size_t>(qos.history.depth)),
      samples_max_(qos.resource_limits.max_samples) {
  if (!keeps_all_) return;
  const bool limited = samples_max_ != qos::length_unlimited;
  depth_ = limited ? static_cast<std::size_t>(samples_max_) : kept_samples_default;
  samples_max_ = qos::length_unlimited;  // the oldest makes room
}

Result<std::unique_ptr<WriterStore>> SlotStore::create(log::ArenaWriter& arena, const qos::DataWriterQos& qos,
                                                       StorePlace& place) {
  std::unique_ptr<SlotStore> store(new SlotStore(arena, qos));
  if (auto opened = store->open(place); !opened) return propagate(opened);
  return std::unique_ptr<WriterStore>(std::move(store));
}

Status SlotStore::open(StorePlace& place) {
  auto chunk = arena_.allocate({0, rounded_up(sizeof(log::SlotTable), 64)}, 0);
  if (!chunk) return propagate(chunk);
  table_chunk_ = *chunk;
  std::memset(arena_.base() + chunk->payload(), 0, chunk->payload_bytes);
  table_ = reinterpret_cast<log::SlotTable*>(arena_.base() + chunk->payload());
  place.slots = chunk->payload();
  return {};
}

void SlotStore::discard() {
  for (const Own& own : own_)
    if (own.payload) arena_.release(*own.payload);
  for (const log::Chunk& block : blocks_) arena_.release(block);
  arena_.release(table_chunk_);
}

log::Slot& SlotStore::slot(std::uint32_t index) const {
  const auto place = log::SlotTable::place_of(index);
  auto* slots = reinterpret_cast<log::Slot*>(arena_.base() + blocks_[place.block].payload());
  return slots[place.index];
}

// Taking a slot.

Result<std::uint32_t> SlotStore::take_slot(std::size_t size_bytes) {
  std::optional<std::uint32_t> index = take_let_go();
  if (!index && retired_.size() > spare_count(size_bytes)) index = take_retired();
  if (!index) {
    auto fresh = take_new();
    if (fresh)
      index = *fresh;
    else if (index = take_retired(); !index)  // better than nothing
      return fresh;
  }
  LLAMADA_CRASH_POINT("slot:taken");
  auto room = make_room(*index, size_bytes);
  if (room) return *index;
  free_.push_back(*index);
  return propagate(room);
}

/// One that was given back, or that a reader had in place and has let go.
std::optional<std::uint32_t> SlotStore::take_let_go() {
  if (!free_.empty()) {
    const std::uint32_t index = free_.back();
    free_.pop_back();
    return index;
  }
  for (std::uint32_t& candidate : held_) {
    if (is_held(candidate)) continue;
    const std::uint32_t index = candidate;
    candidate = held_.back();
    held_.pop_back();
    return index;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> SlotStore::take_retired() {
  while (!retired_.empty()) {
    const std::uint32_t index = retired_.front();
    retired_.pop_front();
    slot(index).sequence_number.store(0, std::memory_order_relaxed);
    // Pairs with the fence in SlotStream::hold(): either the reader sees the 0 or we see its hold.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (!is_held(index)) return index;
    held_.push_back(index);
  }
  return std::nullopt;
}

Result<std::uint32_t> SlotStore::take_new() {
  if (own_.size() == capacity_)
    if (auto grown = grow(); !grown) return propagate(grown);
  own_.emplace_back();
  return static_cast<std::uint32_t>(own_.size() - 1);
}

Status SlotStore::grow() {
  const auto block = static_cast<std::uint32_t>(blocks_.size());
  if (block == log::slot_block_count_max)
    return failure(Errc::out_of_resources, "a writer has {} slots and all are in use", capacity_);
  const std::uint64_t count = log::SlotTable::block_size(block);
  auto chunk = arena_.allocate({0, count * sizeof(log::Slot)}, 0);
  if (!chunk) return propagate(chunk);
  std::memset(arena_.base() + chunk->payload(), 0, chunk->payload_bytes);
  blocks_.push_back(*chunk);
  table_->blocks[block].store(chunk->payload(), std::memory_order_relaxed);
  LLAMADA_CRASH_POINT("slot:block-written");
  table_->block_count.store(block + 1, std::memory_order_release);  // pairs with SlotStream::slot_at()
  LLAMADA_CRASH_POINT("slot:block-committed");
  capacity_ += static_cast<std::uint32_t>(count);
  return {};
}

bool SlotStore::is_held(std::uint32_t index) const {
  for (const log::MatchEntry* reader : readers_)
    for (const auto& hold : reader->holds)
      // Pairs with the release store in SlotStream::let_go(): its reads are over.
      if (hold.load(std::memory_order_acquire) == std::uint64_t{index} + 1) return true;
  return false;
}

/// Sees to it that the slot has a place for so many bytes.
Status SlotStore::make_room(std::uint32_t index, std::size_t size_bytes) {
  if (size_bytes <= log::inline_payload_max) return {};
  const std::uint64_t room = payload_room(size_bytes);
  std::optional<log::Chunk>& payload = own_[index].payload;
  if (payload && payload->payload_bytes >= room && payload->payload_bytes / 4 <= room) return {};
  if (payload) {
    arena_.release(*payload);
    payload.reset();
  }
  auto chunk = arena_.allocate({0, room}, 0);
  if (!chunk) return propagate(chunk);
  payload = *chunk;
  return {};
}

std::span<std::byte> SlotStore::payload(std::uint32_t index, std::size_t size_bytes) const {
  if (size_bytes <= log::inline_payload_max) return {slot(index).small, size_bytes};
  return {arena_.base() + own_[index].payload->payload(), size_bytes};
}

// Publishing.

Status SlotStore::loan(std::size_t size_bytes, Loan& into) {
  auto index = take_slot(size_bytes);
  if (!index) return propagate(index);
  into.slots_ = this;
  into.slot_ = *index;
  into.data_ = payload(*index, size_bytes);
  return {};
}

Status SlotStore::publish(Loan& loan, const SampleHeader& header) {
  LLAMADA_CHECK(loan.slots_ == this);
  if (auto fits = check_limit(header); !fits) return fits;
  commit(loan.slot_, loan.data_.size(), header);
  loan.slots_ = nullptr;
  return {};
}

Status SlotStore::publish(std::span<const std::byte> data, const SampleHeader& header) {
  if (auto fits = check_limit(header); !fits) return fits;
  auto index = take_slot(data.size());
  if (!index) return propagate(index);
  const auto to = payload(*index, data.size());
  std::copy(data.begin(), data.end(), to.begin());
  commit(*index, data.size(), header);
  return {};
}

Status SlotStore::publish(std::span<const std::byte>, const SampleHeader&, const Origin&) {
  return failure(Errc::unsupported, "a slot has no room for the origin of a sample");
}

Status SlotStore::check_limit(const SampleHeader& header) const {
  if (samples_max_ == qos::length_unlimited || live_count_ < static_cast<std::size_t>(samples_max_))
    return {};
  if (header.kind == ChangeKind::coherent_end) return {};
  const auto history = histories_.find(header.instance);
  if (history != histories_.end() && history->second.size() >= depth_) return {};  // it replaces one
  return failure(Errc::out_of_resources, "the writer keeps {} samples: RESOURCE_LIMITS max_samples",
                 samples_max_);
}

void SlotStore::commit(std::uint32_t index, std::size_t size_bytes, const SampleHeader& header) {
  log::Slot& to = slot(index);
  const std::uint64_t sequence_number = published_ + 1;
  to.payload = size_bytes <= log::inline_payload_max ? 0 : own_[index].payload->payload();
  to.size_bytes = size_bytes;
  to.instance = header.instance;
  to.source_timestamp_ns = header.source_timestamp_ns;
  to.group_sequence = header.group_sequence;
  to.coherent_set = header.coherent_set;
  to.kind = static_cast<std::uint8_t>(header.kind);
  to.live.store(1, std::memory_order_relaxed);
  LLAMADA_CRASH_POINT("slot:filled");
  to.sequence_number.store(sequence_number, std::memory_order_release);  // pairs with SlotStream::take()
  LLAMADA_CRASH_POINT("slot:numbered");
  table_->ring[sequence_number % log::slot_ring_count].store(
      log::SlotTable::ring_word(sequence_number, index), std::memory_order_release);
  LLAMADA_CRASH_POINT("slot:ring-stored");
  table_->latest.store(sequence_number, std::memory_order_release);  // pairs with SlotStream::deliver_all()
  LLAMADA_CRASH_POINT("slot:committed");
  published_ = sequence_number;
  remember(index, header);
}

std::deque<std::uint32_t>& SlotStore::history_of(std::uint64_t instance) {
  return histories_[keeps_all_ ? 0 : instance];
}

/// HISTORY: the newest samples stay live, of each instance or, with KEEP_ALL, of all.
void SlotStore::remember(std::uint32_t index, const SampleHeader& header) {
  own_[index].sequence_number = published_;
  own_[index].instance = header.instance;
  own_[index].coherent_set = header.coherent_set;
  own_[index].ends_set = header.kind == ChangeKind::coherent_end;
  own_[index].live = true;
  order_.push_back({published_, index});
  if (own_[index].ends_set) {
    remember_end(index, header.coherent_set);
  } else {
    ++live_count_;
    if (header.coherent_set != 0) ++sets_[header.coherent_set].sample_count;
    auto& history = history_of(header.instance);
    history.push_back(index);
    if (history.size() > depth_) {
      retire(history.front());
      history.pop_front();
    }
  }
  if (!keeps_all_ && ends_instance(header.kind)) endings_.push_back({published_, index});
  drop_stale(order_);
  drop_stale(endings_);
}

bool SlotStore::is_live(const Numbered& numbered) const {
  const Own& own = own_[numbered.index];
  return own.live && own.sequence_number == numbered.sequence_number;
}

/// Entries of slots that are live no more, when they are most of the row.
void SlotStore::drop_stale(std::deque<Numbered>& row) const {
  constexpr std::size_t stale_count_max = 64;
  while (!row.empty() && !is_live(row.front())) row.pop_front();
  if (row.size() <= 2 * (live_count_ + sets_.size()) + stale_count_max) return;
  std::erase_if(row, [this](const Numbered& each) { return !is_live(each); });
}

/// The end of a coherent set is of no instance: it stays live as long as a sample of the set does, so that
/// the set is whole for who comes late, and the newest in any case, so that all know how far the writer is.
void SlotStore::remember_end(std::uint32_t index, std::uint32_t set) {
  sets_[set].end = index;
  const std::uint32_t before = std::exchange(newest_ended_set_, set);
  if (before == 0) return;
  const auto found = sets_.find(before);
  if (found != sets_.end() && found->second.sample_count == 0) retire_end(before);
}

void SlotStore::retire(std::uint32_t index) {
  own_[index].live = false;
  slot(index).live.store(0, std::memory_order_relaxed);
  retired_.push_back(index);
  if (!own_[index].ends_set) retire_data(index);
}

void SlotStore::retire_data(std::uint32_t index) {
  --live_count_;
  const std::uint32_t set = own_[index].coherent_set;
  if (set == 0 || --sets_[set].sample_count > 0) return;
  if (set != newest_ended_set_) retire_end(set);
}

/// The set may have no end yet.
void SlotStore::retire_end(std::uint32_t set) {
  const auto found = sets_.find(set);
  if (found == sets_.end()) return;
  if (const auto end = found->second.end) retire(*end);
  sets_.erase(found);
  if (set == newest_ended_set_) newest_ended_set_ = 0;
}

void SlotStore::forget_instance(std::uint64_t instance) {
  const auto history = histories_.find(instance);
  if (history == histories_.end()) return;
  for (const std::uint32_t index : history->second) retire(index);
  histories_.erase(history);
}

/// What all RELIABLE readers have is needed by nobody if it is VOLATILE, or its instance has ended.
void SlotStore::acknowledged(std::uint64_t sequence_number) {
  while (!endings_.empty() && endings_.front().sequence_number <= sequence_number) {
    const Numbered ending = endings_.front();
    endings_.pop_front();
    if (!is_live(ending)) continue;
    const Own& own = own_[ending.index];
    const auto history = histories_.find(own.instance);
    if (history != histories_.end() && history->second.back() == ending.index) forget_instance(own.instance);
  }
  if (!keeps_for_good_) retire_through(sequence_number);
}

void SlotStore::retire_through(std::uint64_t sequence_number) {
  while (!order_.empty() && order_.front().sequence_number <= sequence_number) {
    const Numbered oldest = order_.front();
    order_.pop_front();
    if (!is_live(oldest)) continue;
    const Own& own = own_[oldest.index];
    if (own.ends_set) {
      retire_end(own.coherent_set);
      continue;
    }
    auto& history = history_of(own.instance);
    std::erase(history, oldest.index);
    if (history.empty()) histories_.erase(keeps_all_ ? 0 : own.instance);
    retire(oldest.index);
  }
}

void SlotStore::add_reader(const log::MatchEntry& match, bool) { readers_.push_back(&match); }

void SlotStore::remove_reader(const log::MatchEntry& match) { std::erase(readers_, &match); }

}  // namespace llamada::topics::detail
