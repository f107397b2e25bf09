#include "llamada/log/arena_writer.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "llamada/base/check.hpp"
#include "llamada/base/copy.hpp"
#include "llamada/base/crash_point.hpp"
#include "llamada/base/page.hpp"
#include "llamada/base/rounding.hpp"

namespace llamada::log {
namespace {

bool copy_text(std::span<char> to, std::string_view text) {
  if (text.size() >= to.size()) return false;
  std::fill(to.begin(), to.end(), '\0');
  std::copy(text.begin(), text.end(), to.begin());
  return true;
}

}  // namespace

ArenaWriter::ArenaWriter(std::span<std::byte> memory, ArenaOptions options)
    : memory_(memory), options_(std::move(options)) {}

Result<std::unique_ptr<ArenaWriter>> ArenaWriter::create(std::span<std::byte> memory, ArenaOptions options) {
  const std::uint64_t directories =
      options.log_count_max * sizeof(LogEntry) + options.cursor_count_max * sizeof(CursorEntry) +
      options.endpoint_count_max * sizeof(EndpointEntry) + options.match_count_max * sizeof(MatchEntry) +
      options.grant_count_max * sizeof(GrantEntry);
  if (memory.size() < sizeof(ArenaHeader) + directories + 4 * page_bytes)
    return failure(Errc::invalid_argument, "an arena of {} bytes has no room for its directories ({} bytes)",
                   memory.size(), directories);
  if (reinterpret_cast<std::uintptr_t>(memory.data()) % 64 != 0 || memory.size() % 64 != 0)
    return failure(Errc::invalid_argument, "an arena must be aligned to 64 bytes");
  std::unique_ptr<ArenaWriter> arena(new ArenaWriter(memory, std::move(options)));
  arena->initialise_header();
  return arena;
}

Result<std::unique_ptr<ArenaWriter>> ArenaWriter::adopt(std::span<std::byte> memory, ArenaOptions options) {
  std::unique_ptr<ArenaWriter> arena(new ArenaWriter(memory, std::move(options)));
  arena->adopted_ = true;
  if (auto adopted = arena->adopt_content(); !adopted) return propagate(adopted);
  return arena;
}

Result<std::unique_ptr<ArenaWriter>> ArenaWriter::open(std::span<std::byte> memory, ArenaOptions options) {
  const PeerArena found{memory.data(), memory.size()};
  if (found.ready()) return adopt(memory, std::move(options));
  // A process that dies while it makes an arena leaves the counts at 0.
  const bool was_one = found.covers(0, sizeof(ArenaHeader)) &&
                       (found.is_damaged() || found.header().log_count.load(std::memory_order_relaxed) != 0 ||
                        found.header().pool_used.load(std::memory_order_relaxed) != 0);
  if (was_one) return failure(Errc::parse_error, "its header is damaged");
  return create(memory, std::move(options));
}

void ArenaWriter::initialise_header() {
  ArenaHeader& to = header();
  to.version = arena_version;
  to.header_size = sizeof(ArenaHeader);
  to.size_bytes = memory_.size();
  to.log_count_max = options_.log_count_max;
  to.cursor_count_max = options_.cursor_count_max;
  to.endpoint_count_max = options_.endpoint_count_max;
  to.match_count_max = options_.match_count_max;
  to.grant_count_max = options_.grant_count_max;
  const Notes places = laid_out(header_notes());
  to.log_directory = places.log_directory;
  to.cursor_directory = places.cursor_directory;
  to.endpoint_directory = places.endpoint_directory;
  to.match_directory = places.match_directory;
  to.grant_directory = places.grant_directory;
  to.pool = places.pool;
  to.incarnation.store(options_.incarnation, std::memory_order_relaxed);
  to.pid.store(options_.pid, std::memory_order_relaxed);
  notes_ = header_notes();
  LLAMADA_CRASH_POINT("arena:header-written");
  to.magic.store(arena_magic, std::memory_order_release);  // pairs with PeerArena::ready()
  LLAMADA_CRASH_POINT("arena:header-committed");
}

/// Readers that see the first half of the key see the rest of the entry.
void ArenaWriter::name_entry(std::uint64_t& high, std::uint64_t& low, LogKey key) {
  __atomic_store_n(&low, key.low, __ATOMIC_RELEASE);
  __atomic_store_n(&high, key.high, __ATOMIC_RELEASE);
}

/// Others have looked at the entry before.
void ArenaWriter::entry_reused() { header().reuses.fetch_add(1, std::memory_order_release); }

Result<std::uint32_t> ArenaWriter::add_log(LogKey key, std::uint32_t flags, std::uint32_t endpoint) {
  const bool reused = !free_logs_.empty();
  const std::uint32_t index = reused ? free_logs_.back() : notes_.log_count;
  if (index >= notes_.log_count_max)
    return failure(Errc::out_of_resources, "the arena has room for {} logs and all are in use", index);
  LogEntry& entry = log(index);
  entry.first_chunk.store(0, std::memory_order_relaxed);
  entry.endpoint = endpoint;
  entry.flags.store(flags, std::memory_order_relaxed);
  entry.published.store(0, std::memory_order_relaxed);
  entry.published_bytes.store(0, std::memory_order_relaxed);
  name_entry(entry.key_high, entry.key_low, key);
  note_log(index);
  if (reused) {
    free_logs_.pop_back();
    entry_reused();
    return index;
  }
  LLAMADA_CRASH_POINT("directory:log-written");
  notes_.log_count = index + 1;
  header().log_count.store(index + 1, std::memory_order_release);  // pairs with PeerArena::log_count()
  LLAMADA_CRASH_POINT("directory:log-committed");
  return index;
}

void ArenaWriter::remove_log(std::uint32_t index) {
  LogEntry& entry = log(index);
  LLAMADA_CHECK(entry.first_chunk.load(std::memory_order_relaxed) == 0);
  name_entry(entry.key_high, entry.key_low, {0, 0});
  note_log(index);
  free_logs_.push_back(index);
}

void ArenaWriter::remove_cursor(CursorEntry* cursor) {
  const auto index = static_cast<std::uint32_t>(cursor - &own_cursor(0));
  name_entry(cursor->key_high, cursor->key_low, {0, 0});
  note_cursor(index);
  free_cursors_.push_back(index);
}

std::optional<std::uint32_t> ArenaWriter::find_log(LogKey key) const {
  std::uint32_t scanned = 0;
  return log::find_log(own(), key, scanned);
}

LogEntry& ArenaWriter::log(std::uint32_t index) {
  return reinterpret_cast<LogEntry*>(base() + notes_.log_directory)[index];
}

Result<CursorEntry*> ArenaWriter::cursor(LogKey key, std::uint32_t writer, std::uint32_t endpoint) {
  std::uint32_t scanned = 0;
  if (auto found = find_cursor(own(), key, writer, scanned)) return const_cast<CursorEntry*>(found);
  return add_cursor(key, writer, endpoint);
}

Result<CursorEntry*> ArenaWriter::add_cursor(LogKey key, std::uint32_t writer, std::uint32_t endpoint) {
  const bool reused = !free_cursors_.empty();
  const std::uint32_t index = reused ? free_cursors_.back() : notes_.cursor_count;
  if (index >= notes_.cursor_count_max)
    return failure(Errc::out_of_resources, "the arena has room for {} cursors and all are in use", index);
  CursorEntry& entry = own_cursor(index);
  entry.writer = writer;
  entry.endpoint = endpoint;
  entry.consumed.store(0, std::memory_order_relaxed);
  name_entry(entry.key_high, entry.key_low, key);
  note_cursor(index);
  if (reused) {
    free_cursors_.pop_back();
    entry_reused();
    return &entry;
  }
  LLAMADA_CRASH_POINT("directory:cursor-written");
  notes_.cursor_count = index + 1;
  header().cursor_count.store(index + 1, std::memory_order_release);  // pairs with PeerArena::cursor_count()
  LLAMADA_CRASH_POINT("directory:cursor-committed");
  return &entry;
}

Result<std::uint32_t> ArenaWriter::add_endpoint(const EndpointDescription& description) {
  const std::uint32_t index = notes_.endpoint_count;
  if (index >= notes_.endpoint_count_max)
    return failure(Errc::out_of_resources, "the arena has room for {} endpoints and all are in use", index);
  EndpointEntry& entry = endpoint(index);
  if (!copy_text(entry.topic, description.topic) || !copy_text(entry.type, description.type) ||
      !copy_text(entry.qos, description.qos))
    return failure(Errc::invalid_argument,
                   "the name of topic '{}' or of its type '{}' is longer than {} bytes", description.topic,
                   description.type, sizeof(entry.topic) - 1);
  entry.kind = static_cast<std::uint32_t>(description.kind);
  entry.log = description.log;
  entry.reliability = description.reliability;
  entry.durability = description.durability;
  entry.alive.store(1, std::memory_order_relaxed);
  LLAMADA_CRASH_POINT("directory:endpoint-written");
  set_endpoint_count(index + 1);
  LLAMADA_CRASH_POINT("directory:endpoint-committed");
  return index;
}

void ArenaWriter::set_endpoint_count(std::uint32_t count) {
  notes_.endpoint_count = count;
  header().endpoint_count.store(count, std::memory_order_release);  // pairs with PeerArena::endpoint_count()
}

void ArenaWriter::set_match_count(std::uint32_t count) {
  notes_.match_count = count;
  header().match_count.store(count, std::memory_order_release);  // pairs with PeerArena::match_count()
}

void ArenaWriter::set_grant_count(std::uint32_t count) {
  notes_.grant_count = count;
  header().grant_count.store(count, std::memory_order_release);  // pairs with PeerArena::grant_count()
}

EndpointEntry& ArenaWriter::endpoint(std::uint32_t index) {
  return reinterpret_cast<EndpointEntry*>(base() + notes_.endpoint_directory)[index];
}

ArenaWriter::FreeList& ArenaWriter::free_list(ChunkShape shape) {
  for (FreeList& list : free_lists_)
    if (list.shape.cell_count == shape.cell_count && list.shape.payload_bytes == shape.payload_bytes)
      return list;
  return free_lists_.emplace_back(FreeList{shape, {}});
}

/// Free chunks of this shape, or at most twice as large.
ArenaWriter::FreeList* ArenaWriter::free_list_for(ChunkShape shape) {
  for (FreeList& list : free_lists_)
    if (!list.chunks.empty() && list.shape.cell_count == shape.cell_count &&
        list.shape.payload_bytes >= shape.payload_bytes &&
        list.shape.payload_bytes / 2 <= shape.payload_bytes)
      return &list;
  return nullptr;
}

Result<std::optional<Chunk>> ArenaWriter::allocate_recycled(FreeList* list, std::uint64_t ordinal,
                                                            std::uint64_t records_before) {
  if (list == nullptr) return std::optional<Chunk>();
  auto chunk = read_chunk(own(), list->chunks.back());
  if (!chunk) return propagate(chunk);
  if (chunk->cell_count != list->shape.cell_count || chunk->payload_bytes != list->shape.payload_bytes)
    return failure(Errc::parse_error, "the chunk at offset {} of the arena has changed its shape",
                   chunk->offset);
  // It may have been left before its room was filled.
  if (!prepare(memory_.subspan(chunk->payload(), chunk->payload_bytes))) return std::optional<Chunk>();
  list->chunks.pop_back();
  begin_again(*chunk, ordinal, records_before);
  return std::optional<Chunk>(*chunk);
}

/// Memory that has been a chunk is one again.
void ArenaWriter::begin_again(Chunk& chunk, std::uint64_t ordinal, std::uint64_t records_before) {
  auto& to = *reinterpret_cast<ChunkHeader*>(base() + chunk.offset);
  chunk.ordinal = ordinal;
  chunk.records_before = records_before;
  // Generation 0 means "never used"; a commit word of 2^32 uses ago cannot be met, for each use overwrites
  // some.
  const std::uint32_t generation = to.generation.load(std::memory_order_relaxed) + 1;
  chunk.generation = generation == 0 ? 1 : generation;
  to.ordinal = ordinal;
  to.records_before = records_before;
  LLAMADA_CRASH_POINT("recycle:header-written");
  to.generation.store(chunk.generation, std::memory_order_release);  // pairs with read_chunk()
  // The new content comes after it: a reader that is not waited for sees the generation change in time.
  std::atomic_thread_fence(std::memory_order_release);
  LLAMADA_CRASH_POINT("recycle:reused");
}

Result<Chunk> ArenaWriter::allocate(ChunkShape shape, std::uint64_t ordinal, std::uint64_t records_before,
                                    Prepared prepared) {
  LLAMADA_CHECK(shape.payload_bytes % 64 == 0 && shape.cell_count != 1);
  const std::lock_guard allocating(allocating_);
  auto recycled = allocate_recycled(free_list_for(shape), ordinal, records_before);
  if (!recycled) return propagate(recycled);
  std::optional<Chunk> chunk = *recycled;
  if (!chunk) chunk = allocate_joined(shape, ordinal, records_before);
  if (!chunk) {
    chunk = Chunk{pool() + pool_used(), 1, shape.cell_count, shape.payload_bytes, ordinal, records_before};
    if (auto grown = grow_to(chunk->size_bytes() + pool_used()); !grown) return propagate(grown);
    if (auto made = prepare(*chunk, prepared); !made) return propagate(made);
    auto& to = *reinterpret_cast<ChunkHeader*>(base() + chunk->offset);
    to.cell_count = chunk->cell_count;
    to.payload_bytes = chunk->payload_bytes;
    to.ordinal = ordinal;
    to.records_before = records_before;
    LLAMADA_CRASH_POINT("allocate:header-written");
    // From here on a successor finds the chunk, for the pool is walked from header to header.
    to.generation.store(chunk->generation, std::memory_order_release);  // pairs with read_chunk()
    LLAMADA_CRASH_POINT("allocate:header-committed");
    notes_.pool_used += chunk->size_bytes();
    header().pool_used.store(notes_.pool_used, std::memory_order_relaxed);
  }
  add_live(static_cast<std::int64_t>(chunk->size_bytes()));
  count(Counter::allocated_chunks);
  return *chunk;
}

Result<Chunk> ArenaWriter::allocate_other(std::uint64_t payload_bytes, std::uint64_t ordinal,
                                          std::uint64_t records_before) {
  const std::lock_guard allocating(allocating_);
  FreeList* smallest = nullptr;
  for (FreeList& list : free_lists_) {
    const bool fits =
        !list.chunks.empty() && list.shape.cell_count > 1 && list.shape.payload_bytes >= payload_bytes;
    if (fits && (smallest == nullptr || list.shape.payload_bytes < smallest->shape.payload_bytes))
      smallest = &list;
  }
  auto recycled = allocate_recycled(smallest, ordinal, records_before);
  if (!recycled) return propagate(recycled);
  if (!*recycled)
    return failure(Errc::out_of_resources, "the arena has no free chunk for {} bytes", payload_bytes);
  add_live(static_cast<std::int64_t>((*recycled)->size_bytes()));
  count(Counter::allocated_chunks);
  return **recycled;
}

Status ArenaWriter::prepare(const Chunk& chunk, Prepared prepared) const {
  const bool whole = prepared == Prepared::whole;
  return prepare(memory_.subspan(chunk.offset, whole ? chunk.size_bytes() : chunk.payload() - chunk.offset));
}

Status ArenaWriter::prepare(std::span<std::byte> memory) const {
  if (options_.prepare && !options_.prepare(memory))
    return failure(Errc::out_of_resources, "the arena cannot grow by {} bytes: its file may not be longer",
                   memory.size());
  return {};
}

std::size_t ArenaWriter::store(std::span<std::byte> to, std::span<const std::byte> from) const {
  LLAMADA_CHECK(to.size() == from.size() && !from.empty());
  if (options_.store)
    if (const std::size_t stored = options_.store(to, from)) return stored;
  const std::size_t piece = std::min(from.size(), stored_at_once_bytes);
  copy_bytes(to.data(), from.data(), piece);
  return piece;
}

std::uint64_t ArenaWriter::rounded_to_extent(std::uint64_t bytes) const {
  return rounded_up(bytes, options_.extent_bytes);
}

Status ArenaWriter::grow_to(std::uint64_t pool_bytes) {
  const std::uint64_t room = memory_.size() - pool();
  if (pool_bytes > room)
    return failure(Errc::out_of_resources, "the arena's memory is used up: {} of {} bytes are in use",
                   pool_live(), room);
  if (pool_bytes <= granted_) return {};
  const std::uint64_t target = std::min(rounded_to_extent(pool_bytes), room);
  if (options_.may_grow && !options_.may_grow(target - granted_))
    return failure(Errc::out_of_resources, "no more than {} bytes of the arena's memory are allowed",
                   granted_);
  if (options_.reserve)
    if (auto reserved = options_.reserve(pool() + target); !reserved) return reserved;
  granted_ = target;
  return {};
}

void ArenaWriter::free(const Chunk& chunk) {
  free_list({chunk.cell_count, chunk.payload_bytes}).chunks.push_back(chunk.offset);
  add_live(-static_cast<std::int64_t>(chunk.size_bytes()));
}

void ArenaWriter::add_live(std::int64_t bytes) {
  notes_.pool_live += static_cast<std::uint64_t>(bytes);
  header().pool_live.store(notes_.pool_live, std::memory_order_relaxed);
}

std::span<std::byte> ArenaWriter::ahead(std::uint64_t window_bytes) const {
  const std::uint64_t begin = rounded_up(pool() + pool_used(), page_bytes);
  const std::uint64_t end = memory_.size() / page_bytes * page_bytes;
  if (begin >= end) return {};
  return memory_.subspan(begin, std::min(rounded_up(window_bytes, page_bytes), end - begin));
}

ArenaWriter::Notes ArenaWriter::notes_of(const ArenaHeader& from) {
  return {from.pool,
          from.log_directory,
          from.cursor_directory,
          from.endpoint_directory,
          from.match_directory,
          from.grant_directory,
          from.log_count_max,
          from.cursor_count_max,
          from.endpoint_count_max,
          from.match_count_max,
          from.grant_count_max,
          from.log_count.load(std::memory_order_relaxed),
          from.cursor_count.load(std::memory_order_relaxed),
          from.endpoint_count.load(std::memory_order_relaxed),
          from.match_count.load(std::memory_order_relaxed),
          from.grant_count.load(std::memory_order_relaxed),
          from.pool_used.load(std::memory_order_relaxed),
          from.pool_live.load(std::memory_order_relaxed)};
}

/// With the places that follow from how many entries there is room for.
ArenaWriter::Notes ArenaWriter::laid_out(Notes notes) {
  notes.log_directory = sizeof(ArenaHeader);
  notes.cursor_directory = notes.log_directory + std::uint64_t{notes.log_count_max} * sizeof(LogEntry);
  notes.endpoint_directory =
      rounded_up(notes.cursor_directory + std::uint64_t{notes.cursor_count_max} * sizeof(CursorEntry), 64);
  notes.match_directory =
      notes.endpoint_directory + std::uint64_t{notes.endpoint_count_max} * sizeof(EndpointEntry);
  notes.grant_directory = notes.match_directory + std::uint64_t{notes.match_count_max} * sizeof(MatchEntry);
  notes.pool = rounded_up(notes.grant_directory + std::uint64_t{notes.grant_count_max} * sizeof(GrantEntry),
                          page_bytes);
  return notes;
}

std::optional<LogTail> ArenaWriter::take_tail(std::uint32_t index) {
  auto found = tails_.find(index);
  if (found == tails_.end()) return std::nullopt;
  LogTail tail = std::move(found->second);
  tails_.erase(found);
  return tail;
}

}  // namespace llamada::log
