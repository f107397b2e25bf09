#include "driver_roster.hpp"

#include <sys/random.h>

#include <algorithm>

#include "llamada/base/check.hpp"
#include "llamada/base/clock.hpp"
#include "llamada/base/page.hpp"
#include "llamada/base/rounding.hpp"
#include "process.hpp"

namespace llamada::llamanet {
namespace {

constexpr std::uint64_t arena_size_bytes_min = std::uint64_t{8} << 30;

// Room for all that may be kept, and as much again for what is not history.
std::uint64_t default_arena_size(std::uint64_t log_bytes_max) {
  return std::max(arena_size_bytes_min, rounded_up(2 * log_bytes_max, page_bytes));
}

}  // namespace

Result<DriverRoster> DriverRoster::create(const DriverOptions& options) {
  DriverRoster slots;
  slots.memory_ = MemorySource::open();
  if (!options.log_directory.empty()) {
    auto directory = MemorySource::open_in(options.log_directory);
    if (!directory) return propagate(directory);
    slots.on_disk_ = std::move(*directory);
  }
  auto size = page_size_bytes(options.slot_count_max);
  auto memory = create_memory("llamada-page", size);
  if (!memory) return propagate(memory);
  auto page = Mapping::map(memory->get(), size, Mapping::Access::read_write);
  if (!page) return propagate(page);
  auto read_only = reopen_read_only(memory->get());
  if (!read_only) return propagate(read_only);
  slots.page_ = std::move(*page);
  slots.page_read_only_ = std::move(*read_only);
  slots.slots_.resize(options.slot_count_max);
  slots.arena_size_bytes_ =
      options.arena_size_bytes != 0 ? options.arena_size_bytes : default_arena_size(options.log_bytes_max);
  auto& header = slots.page_ref();
  header.magic = page_magic;
  header.slot_count_max = options.slot_count_max;
  header.is_protected.store(1, std::memory_order_relaxed);
  header.log_bytes_max.store(options.log_bytes_max, std::memory_order_relaxed);
  header.arena_size_bytes = slots.arena_size_bytes_;
  header.start_ns = static_cast<std::uint64_t>(SystemClock().monotonic().count());
  header.cut.store(options.makes_cuts ? 1 : 0, std::memory_order_relaxed);
  header.node = options.nodes ? options.nodes->own : 0;
  header.arenas_on_disk = slots.on_disk_ ? 1 : 0;
  slots.on_demand_ = options.on_demand;
  // Arenas of a predecessor may come, and no two have one number.
  if (options.on_demand && ::getrandom(&slots.arena_serial_, sizeof slots.arena_serial_, 0) < 0)
    return system_failure("getrandom");
  header.arena_last.store(slots.arena_serial_, std::memory_order_relaxed);
  return slots;
}

std::uint32_t DriverRoster::count() const { return page_ref().slot_count.load(std::memory_order_relaxed); }

SlotState DriverRoster::state(std::uint32_t index) const {
  return static_cast<SlotState>(entry(index).state.load(std::memory_order_relaxed));
}

ArenaView DriverRoster::view(std::uint32_t index) const { return slots_[index].header.view(); }

std::uint32_t DriverRoster::attached_count() const {
  std::uint32_t attached = 0;
  for (std::uint32_t i = 0; i < count(); ++i) attached += state(i) == SlotState::attached ? 1 : 0;
  return attached;
}

Result<std::uint32_t> DriverRoster::take() {
  std::uint32_t index = 0;
  while (index < count() && (state(index) != SlotState::free || slots_[index].arena)) ++index;
  return make(index);
}

bool DriverRoster::may_be_added(std::uint32_t index) const {
  const DriverSlot& slot = slots_[index];
  return index >= count() ||
         (slot.is_added && state(index) == SlotState::done && !slot.arena && slot.holders.empty());
}

Result<std::uint32_t> DriverRoster::add(std::uint32_t wanted) {
  std::uint32_t first = 0, found = 0;
  while (found < wanted && first + found < count_max()) {
    if (may_be_added(first + found)) {
      ++found;
    } else {
      first += found + 1;
      found = 0;
    }
  }
  if (found < wanted)
    return failure(Errc::out_of_resources,
                   "the job may have {} processes at a time, and {} of them have not ended, or are still "
                   "connected with one that has not (MPI_Comm_disconnect)",
                   count_max(), in_use());
  for (std::uint32_t index = first; index < first + wanted; ++index) {
    set_state(index, SlotState::free);
    if (auto made = make(index); !made) return propagate(made);
    slots_[index].is_added = true;
  }
  return first;
}

std::uint32_t DriverRoster::in_use() const {
  std::uint32_t used = 0;
  for (std::uint32_t index = 0; index < count(); ++index) used += may_be_added(index) ? 0 : 1;
  return used;
}

void DriverRoster::hold(std::uint32_t index, std::uint32_t holder) {
  if (slots_[index].is_added && index != holder) slots_[index].holders.insert(holder);
}

void DriverRoster::let_go(std::uint32_t index, std::uint32_t serial, std::uint32_t holder) {
  if (index < count() && slots_[index].serial == serial) slots_[index].holders.erase(holder);
}

void DriverRoster::end_holder(std::uint32_t holder) {
  for (std::uint32_t index = 0; index < count(); ++index) slots_[index].holders.erase(holder);
}

Result<std::uint32_t> DriverRoster::make(std::uint32_t index) {
  if (index == count_max())
    return failure(Errc::out_of_resources, "the driver has {} applications already, which is its limit",
                   index);
  if (auto furnished = furnish(index); !furnished) return propagate(furnished);
  if (index == count()) page_ref().slot_count.store(index + 1, std::memory_order_release);
  publish();
  return index;
}

Status DriverRoster::furnish(std::uint32_t index) {
  auto arena = arena_memory().create_growing("llamada-arena", arena_size_bytes_, arena_bytes_at_first);
  if (!arena) return propagate(arena);
  auto header = MappedArena::map(arena->get(), sizeof(log::ArenaHeader));
  if (!header) return propagate(header);
  auto event = create_eventfd();
  if (!event) return propagate(event);
  auto& slot = slots_[index];
  slot = DriverSlot{};
  slot.arena = std::move(*arena);
  slot.header = std::move(*header);
  slot.event = std::move(*event);
  own_entry(index).incarnation.store(1, std::memory_order_relaxed);
  own_entry(index).pid.store(0, std::memory_order_relaxed);
  own_entry(index).deaths.store(0, std::memory_order_relaxed);
  own_entry(index).node.store(page_ref().node, std::memory_order_relaxed);
  slot.serial = next_serial();
  own_entry(index).arena.store(slot.serial, std::memory_order_relaxed);
  return {};
}

Status DriverRoster::add_remote(std::uint32_t node) {
  const std::uint32_t index = count();
  if (index == count_max())
    return failure(Errc::out_of_resources, "the job has more than {} processes, which is the driver's limit",
                   index);
  own_entry(index).node.store(node, std::memory_order_relaxed);
  own_entry(index).incarnation.store(1, std::memory_order_relaxed);
  set_state(index, SlotState::expected);
  page_ref().slot_count.store(index + 1, std::memory_order_release);
  publish();
  return {};
}

Status DriverRoster::add_of_nodes(std::span<const std::uint32_t> nodes) {
  const std::uint32_t first = count();
  if (nodes.size() > count_max() - first)
    return failure(Errc::out_of_resources, "the job has {} processes, and the driver has room for {}", first,
                   count_max());
  Status added;
  for (const std::uint32_t node : nodes) {
    const std::uint32_t index = count();
    if (!added || node != page_ref().node) {
      add_free(node);
      continue;
    }
    // Its arena stays when it is done, since the driver serves its logs to other nodes.
    if (auto made = make(index); !made) added = propagate(made);
    if (!added) add_free(node);
  }
  if (!added)
    for (std::uint32_t index = first; index < count(); ++index) free(index);
  return added;
}

void DriverRoster::add_free(std::uint32_t node) {
  const std::uint32_t index = count();
  own_entry(index).node.store(node, std::memory_order_relaxed);
  own_entry(index).incarnation.store(1, std::memory_order_relaxed);
  page_ref().slot_count.store(index + 1, std::memory_order_release);
}

void DriverRoster::expect_remote(std::uint32_t index) {
  if (state(index) != SlotState::free) return;
  set_state(index, SlotState::expected);
  publish();
  wake_all();
}

void DriverRoster::set_remote(std::uint32_t index, SlotState state, std::uint32_t incarnation) {
  LLAMADA_CHECK(index < count() && is_remote(index));
  PageSlot& slot = own_entry(index);
  const SlotState before = this->state(index);
  const bool is_final = before == SlotState::done || is_lost(before);
  const bool is_news = state == SlotState::lost_with_node && before != state;
  if (incarnation < slot.incarnation.load(std::memory_order_relaxed) || (is_final && !is_news)) return;
  if (state == SlotState::dead && this->state(index) != SlotState::dead)
    slot.deaths.store(slot.deaths.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  slot.incarnation.store(incarnation, std::memory_order_relaxed);
  set_state(index, state);
  publish();
  wake_all();
}

std::uint32_t DriverRoster::next_serial() {
  has_arenas_ = true;
  do ++arena_serial_;
  while (arena_serial_ == 0 || (on_demand_ && find_arena(arena_serial_)));
  page_ref().arena_last.store(arena_serial_, std::memory_order_relaxed);
  return arena_serial_;
}

void DriverRoster::expect(std::uint32_t index, std::uint64_t token, std::uint32_t incarnation) {
  LLAMADA_CHECK(index < count() && !is_remote(index) && state(index) != SlotState::attached);
  slots_[index].token = token;
  own_entry(index).incarnation.store(incarnation, std::memory_order_relaxed);
  set_state(index, SlotState::expected);
  publish();
}

std::uint32_t DriverRoster::next_incarnation(std::uint32_t index) {
  LLAMADA_CHECK(index < count() && !is_remote(index) && state(index) != SlotState::attached);
  auto next = entry(index).incarnation.load(std::memory_order_relaxed) + 1;
  own_entry(index).incarnation.store(next, std::memory_order_relaxed);
  publish();
  return next;
}

void DriverRoster::attach(std::uint32_t index, std::uint32_t pid, FileDescriptor process,
                          std::uint64_t connection) {
  auto& slot = slots_[index];
  slot.process = std::move(process);
  slot.connection = connection;
  slot.token = 0;
  own_entry(index).pid.store(pid, std::memory_order_relaxed);
  if (on_demand_) own_entry(index).process_start.store(start_of_process(pid), std::memory_order_relaxed);
  set_state(index, SlotState::attached);
  publish();
}

Status DriverRoster::lengthen(std::uint32_t index) {
  const int file = slots_[index].arena.get();
  auto size = size_of(file);
  if (!size) return propagate(size);
  // Never shorter.
  return *size < arena_size_bytes_ ? set_size(file, arena_size_bytes_) : Status();
}

void DriverRoster::leave(std::uint32_t index, SlotState state) {
  LLAMADA_CHECK(!is_remote(index));
  auto& slot = slots_[index];
  slot.process.reset();
  slot.connection = 0;
  slot.token = 0;
  end_holder(index);
  if (state == SlotState::dead) {
    auto& deaths = own_entry(index).deaths;
    deaths.store(deaths.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  own_entry(index).pid.store(0, std::memory_order_relaxed);
  set_state(index, state);
  publish();
  wake_all();
}

void DriverRoster::free(std::uint32_t index) {
  slots_[index] = DriverSlot{};
  own_entry(index).arena.store(0, std::memory_order_relaxed);
  own_entry(index).pid.store(0, std::memory_order_relaxed);
  set_state(index, SlotState::free);
  publish();
  wake_all();
}

void DriverRoster::let_go_of_done() {
  for (std::uint32_t i = 0; i < count(); ++i) {
    auto& slot = slots_[i];
    if (!slot.is_added || !slot.arena || state(i) != SlotState::done) continue;
    slot.arena.reset();
    slot.event.reset();
    slot.identity.clear();
    // Release, after the state: 0 of a slot that is done means that what is mapped of it stays.
    own_entry(i).arena.store(0, std::memory_order_release);
    publish();
  }
}

void DriverRoster::limit_log(std::uint64_t size_bytes) {
  auto& limit = page_ref().log_bytes_max;
  const auto present = limit.load(std::memory_order_relaxed);
  if (present == 0 || size_bytes < present) limit.store(size_bytes, std::memory_order_relaxed);
}

void DriverRoster::set_unprotected() {
  page_ref().is_protected.store(0, std::memory_order_release);
  publish();
  wake_all();
}

void DriverRoster::set_ending() {
  page_ref().ending.store(1, std::memory_order_release);
  publish();
  wake_all();
}

void DriverRoster::set_has_arena() {
  page_ref().has_arena.store(1, std::memory_order_release);
  publish();
  wake_all();
}

void DriverRoster::announce() {
  publish();
  wake_all();
}

// Release: pairs with the acquire of who sees the question and looks at what has come before it.
std::uint32_t DriverRoster::raise_survey() {
  auto& survey = page_ref().survey;
  const std::uint32_t number = survey.load(std::memory_order_relaxed) + 1;
  survey.store(number, std::memory_order_release);
  wake_all();
  return number;
}

// Release: pairs with the acquire in CutMarks::due(). The fence: whoever records something that the reads of
// journals behind this have missed, and all who hear of it later, see this number.
void DriverRoster::begin_cut(std::uint64_t number) {
  page_ref().cut.store(number, std::memory_order_release);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

// Release, here and in publish(): pairs with Application::refresh(), which reads the generation first.
void DriverRoster::set_state(std::uint32_t index, SlotState state) {
  own_entry(index).state.store(static_cast<std::uint32_t>(state), std::memory_order_release);
}

void DriverRoster::publish() {
  auto& generation = page_ref().generation;
  generation.store(generation.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

void DriverRoster::wake_all() {
  for (std::uint32_t i = 0; i < count(); ++i)
    if (slots_[i].event) ring(slots_[i].event.get());
}

// A full fence, since the membarrier of those who sleep does not include this process.
void DriverRoster::wake(std::uint32_t index) {
  const auto& slot = slots_[index];
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const auto* const header = slot.header.header();
  if (slot.event && header != nullptr && header->sleeping.load(std::memory_order_relaxed) != 0)
    ring(slot.event.get());
}

}  // namespace llamada::llamanet
