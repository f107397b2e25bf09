#include "llamada/log/peer_arena.hpp"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "llamada/base/page.hpp"
#include "llamada/base/rounding.hpp"
#include "llamada/log/arena_writer.hpp"

namespace llamada::log {
namespace {

/// Whether the four bytes at an aligned address can be read. The kernel reads them, to compare them with a
/// value, and would then wake and move nobody; where a load would end the process it answers EFAULT. Unlike
/// fstat() this needs no descriptor, which a program may have closed. (A sigprocmask() that fails takes half
/// as long, and ends valgrind; MADV_POPULATE_READ takes twice as long, and is new.)
bool is_readable(std::uintptr_t address) {
  const int errno_before = errno;
  constexpr int woken = 0, value = 0;
  constexpr long moved = 0;
  const long done = ::syscall(SYS_futex, address, FUTEX_CMP_REQUEUE_PRIVATE, woken, moved, address, value);
  const bool readable = done >= 0 || errno != EFAULT;
  errno = errno_before;
  return readable;
}

/// Whether that is the key of a directory's entry, which may be given another use meanwhile: the first half
/// is its last word then. Pairs with ArenaWriter::name_entry().
bool has_key(const std::uint64_t& high, const std::uint64_t& low, LogKey key) {
  return __atomic_load_n(&high, __ATOMIC_ACQUIRE) == key.high &&
         __atomic_load_n(&low, __ATOMIC_ACQUIRE) == key.low;
}

bool is_place_of_directory(std::uint64_t directory) {
  return directory % 64 == 0 && directory >= sizeof(ArenaHeader);
}

/// The entries at `directory` of which `count` are said to be there; 0 if they do not lie within the arena.
template <typename Entry>
std::uint32_t checked_count(const PeerArena& arena, std::uint64_t directory, std::uint32_t count_max,
                            std::uint32_t count) {
  const bool fits = is_place_of_directory(directory) && count <= count_max &&
                    arena.covers(directory, count * std::uint64_t{sizeof(Entry)});
  return fits ? count : 0;
}

/// The owner may write over the directory's place between two looks at it: each look is checked.
template <typename Entry>
const Entry& entry_at(const PeerArena& arena, const std::uint64_t& place, std::uint32_t index) {
  static const Entry none{};
  const std::uint64_t directory = __atomic_load_n(&place, __ATOMIC_RELAXED);
  const std::uint64_t skipped = index * std::uint64_t{sizeof(Entry)};
  if (!is_place_of_directory(directory) || directory > arena.size_bytes ||
      !arena.covers(directory + skipped, sizeof(Entry)))
    return none;
  return *reinterpret_cast<const Entry*>(arena.base + directory + skipped);
}

}  // namespace

bool PeerArena::reaches(Offset offset, std::uint64_t bytes) const {
  if (base == nullptr || offset > size_bytes || bytes > size_bytes - offset) return false;
  const std::uint64_t end = offset + bytes;
  if (end == 0) return true;
  constexpr std::uintptr_t word_bytes = 4;
  const auto last = reinterpret_cast<std::uintptr_t>(base) + end - 1;
  if (!is_readable(last / word_bytes * word_bytes)) return false;
  // A file has all its pages up to the last one.
  const std::uint64_t page_end = rounded_up(last + 1, page_bytes) - reinterpret_cast<std::uintptr_t>(base);
  const std::uint64_t found = std::min(page_end, size_bytes);
  if (found > __atomic_load_n(&known_bytes, __ATOMIC_RELAXED))
    __atomic_store_n(&known_bytes, found, __ATOMIC_RELAXED);
  return true;
}

bool PeerArena::ready() const {
  // Pairs with the release store in ArenaWriter::initialise_header().
  return covers(0, sizeof(ArenaHeader)) && header().magic.load(std::memory_order_acquire) == arena_magic;
}

bool PeerArena::is_damaged() const {
  if (!covers(0, sizeof(ArenaHeader))) return false;
  const std::uint64_t magic = header().magic.load(std::memory_order_acquire);  // as in ready()
  return magic != 0 && (magic != arena_magic || !ArenaWriter::is_laid_out(header(), size_bytes));
}

std::uint64_t PeerArena::counter(Counter counter) const {
  return ready() ? header().counters[static_cast<std::size_t>(counter)].load(std::memory_order_relaxed) : 0;
}

std::uint32_t PeerArena::log_count() const {
  if (!ready()) return 0;
  // Pairs with the release store in ArenaWriter::add_log().
  const std::uint32_t count = header().log_count.load(std::memory_order_acquire);
  return checked_count<LogEntry>(*this, header().log_directory, header().log_count_max, count);
}

std::uint32_t PeerArena::cursor_count() const {
  if (!ready()) return 0;
  // Pairs with the release store in ArenaWriter::cursor().
  const std::uint32_t count = header().cursor_count.load(std::memory_order_acquire);
  return checked_count<CursorEntry>(*this, header().cursor_directory, header().cursor_count_max, count);
}

std::uint32_t PeerArena::endpoint_count() const {
  if (!ready()) return 0;
  // Pairs with the release store in ArenaWriter::add_endpoint().
  const std::uint32_t count = header().endpoint_count.load(std::memory_order_acquire);
  return checked_count<EndpointEntry>(*this, header().endpoint_directory, header().endpoint_count_max, count);
}

const LogEntry& PeerArena::log(std::uint32_t index) const {
  return entry_at<LogEntry>(*this, header().log_directory, index);
}

const CursorEntry& PeerArena::cursor(std::uint32_t index) const {
  return entry_at<CursorEntry>(*this, header().cursor_directory, index);
}

const EndpointEntry& PeerArena::endpoint(std::uint32_t index) const {
  return entry_at<EndpointEntry>(*this, header().endpoint_directory, index);
}

std::uint32_t PeerArena::match_count() const {
  if (!ready()) return 0;
  // Pairs with the release store in EndpointDirectory::add_match().
  const std::uint32_t count = header().match_count.load(std::memory_order_acquire);
  return checked_count<MatchEntry>(*this, header().match_directory, header().match_count_max, count);
}

std::uint32_t PeerArena::grant_count() const {
  if (!ready()) return 0;
  // Pairs with the release store in EndpointDirectory::add_grant().
  const std::uint32_t count = header().grant_count.load(std::memory_order_acquire);
  return checked_count<GrantEntry>(*this, header().grant_directory, header().grant_count_max, count);
}

const MatchEntry& PeerArena::match(std::uint32_t index) const {
  return entry_at<MatchEntry>(*this, header().match_directory, index);
}

const GrantEntry& PeerArena::grant(std::uint32_t index) const {
  return entry_at<GrantEntry>(*this, header().grant_directory, index);
}

std::optional<std::uint32_t> find_log(const PeerArena& arena, LogKey key, std::uint32_t& scanned) {
  const std::uint32_t count = arena.log_count();
  while (scanned < count) {
    const std::uint32_t index = scanned++;
    const LogEntry& entry = arena.log(index);
    if (has_key(entry.key_high, entry.key_low, key)) return index;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> find_log(const PeerArena& arena, LogKey key, DirectoryScan& scan) {
  scan.renew(arena);
  return find_log(arena, key, scan.scanned);
}

const CursorEntry* find_cursor(const PeerArena& arena, LogKey key, std::uint32_t writer,
                               DirectoryScan& scan) {
  scan.renew(arena);
  return find_cursor(arena, key, writer, scan.scanned);
}

void DirectoryScan::renew(const PeerArena& arena) {
  if (!arena.ready()) return;
  // Pairs with the release store in ArenaWriter::entry_reused().
  const std::uint32_t now = arena.header().reuses.load(std::memory_order_acquire);
  if (now != reuses) *this = {0, now};
}

const CursorEntry* find_cursor(const PeerArena& arena, LogKey key, std::uint32_t writer,
                               std::uint32_t& scanned) {
  const std::uint32_t count = arena.cursor_count();
  while (scanned < count) {
    const CursorEntry& entry = arena.cursor(scanned++);
    if (has_key(entry.key_high, entry.key_low, key) && entry.writer == writer) return &entry;
  }
  return nullptr;
}

namespace {

bool is_place_of_chunk(const PeerArena& arena, Offset offset) {
  return offset % 64 == 0 && offset >= sizeof(ArenaHeader) && arena.covers(offset, sizeof(ChunkHeader));
}

// Not looked at by ThreadSanitizer: the owner may be writing a payload there by now, without atomics.
[[gnu::noinline, gnu::no_sanitize("thread")]] std::uint32_t generation_racing(const std::byte* header) {
  static_assert(offsetof(ChunkHeader, generation) == 0);
  return __atomic_load_n(reinterpret_cast<const std::uint32_t*>(header), __ATOMIC_ACQUIRE);
}

Result<Chunk> checked(const PeerArena& arena, const Chunk& chunk) {
  const std::uint64_t room = arena.size_bytes - chunk.cells();
  const std::uint64_t cells_bytes = std::uint64_t{chunk.cell_count} * cell_size_bytes;
  const bool fits = chunk.generation != 0 && chunk.cell_count != 1 && cells_bytes <= room &&
                    chunk.payload_bytes <= room - cells_bytes && chunk.payload_bytes % 64 == 0 &&
                    cells_bytes + chunk.payload_bytes > 0 && arena.covers(chunk.cells(), cells_bytes);
  if (!fits)
    return failure(Errc::parse_error, "the chunk at offset {} of the arena is damaged", chunk.offset);
  return chunk;
}

}  // namespace

Result<Chunk> read_chunk(const PeerArena& arena, Offset offset) {
  if (!is_place_of_chunk(arena, offset))
    return failure(Errc::parse_error, "no chunk can be at offset {} of the arena", offset);
  const auto& header = *reinterpret_cast<const ChunkHeader*>(arena.base + offset);
  Chunk chunk{.offset = offset};
  // Pairs with the release store in ArenaWriter::allocate().
  chunk.generation = header.generation.load(std::memory_order_acquire);
  chunk.cell_count = header.cell_count;
  chunk.payload_bytes = header.payload_bytes;
  chunk.ordinal = header.ordinal;
  chunk.records_before = header.records_before;
  return checked(arena, chunk);
}

Result<Chunk> read_chunk_racing(const PeerArena& arena, Offset offset) {
  if (!is_place_of_chunk(arena, offset))
    return failure(Errc::parse_error, "no chunk can be at offset {} of the arena", offset);
  Chunk chunk{.offset = offset};
  chunk.generation = generation_racing(arena.base + offset);  // acquire, as in read_chunk()
  struct {
    std::uint32_t generation, cell_count;
    std::uint64_t payload_bytes, ordinal, records_before;
  } copy;
  static_assert(sizeof(copy) == offsetof(ChunkHeader, filled));
  copy_racing(reinterpret_cast<std::byte*>(&copy), arena.base + offset, sizeof(copy));
  chunk.cell_count = copy.cell_count;
  chunk.payload_bytes = copy.payload_bytes;
  chunk.ordinal = copy.ordinal;
  chunk.records_before = copy.records_before;
  return checked(arena, chunk);
}

bool can_have_payload(const PeerArena& arena, const Chunk& chunk, std::uint8_t inline_size, Offset offset,
                      std::uint64_t size_bytes) {
  if (inline_size != payload_repeated)
    return inline_size == payload_apart && chunk.has_payload(offset, size_bytes);
  const ArenaHeader& header = arena.header();
  const Offset pool = __atomic_load_n(&header.pool, __ATOMIC_RELAXED);
  const std::uint64_t used = header.pool_used.load(std::memory_order_relaxed);
  if (pool > arena.size_bytes || used > arena.size_bytes - pool) return false;
  return offset >= pool && offset <= pool + used && size_bytes <= pool + used - offset;
}

// Not looked at by ThreadSanitizer: the other side writes without atomics, which is harmless here alone.
[[gnu::noinline, gnu::no_sanitize("thread")]] void copy_racing(std::byte* to, const std::byte* from,
                                                               std::size_t size_bytes) {
  using Word [[gnu::may_alias]] = std::uint64_t;
  const std::size_t word_count = size_bytes / sizeof(Word);
  for (std::size_t i = 0; i < word_count; ++i)
    reinterpret_cast<Word*>(to)[i] =
        __atomic_load_n(reinterpret_cast<const Word*>(from) + i, __ATOMIC_RELAXED);
  for (std::size_t i = word_count * sizeof(Word); i < size_bytes; ++i)
    reinterpret_cast<unsigned char*>(to)[i] =
        __atomic_load_n(reinterpret_cast<const unsigned char*>(from) + i, __ATOMIC_RELAXED);
}

}  // namespace llamada::log
