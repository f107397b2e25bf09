#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

// The structures of an arena, byte by byte: docs/internals/arena.md. Each word has one writer, the arena's
// owner; the atomics are those that a peer may read while the owner writes. All are lock-free and of the size
// of their value.

namespace llamada::topics {

/// A place in an arena: bytes from its start. 0 is the arena's header and so means "none".
using Offset = std::uint64_t;

/// What a log is for, by convention of the layer above.
struct LogKey {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  bool operator==(const LogKey&) const = default;
};

inline constexpr std::uint64_t arena_magic = 0x314e52414d414c4c;  // "LLAMARN1"
inline constexpr std::uint32_t arena_version = 1;
inline constexpr std::size_t cell_size_bytes = 64;
/// The most payload that lies in the cell itself.
inline constexpr std::size_t inline_payload_max = 48;
/// Bytes beside a payload that lies apart which are the layer above's.
inline constexpr std::size_t extra_bytes_max = 32;
/// Cell::inline_size of a record whose payload lies apart.
inline constexpr std::uint8_t payload_apart = 255;

/// Cell::kind; 2 and above are the layer above's.
inline constexpr std::uint8_t kind_link = 0;
inline constexpr std::uint8_t kind_data = 1;

enum class ArenaState : std::uint32_t { none = 0, attached = 1, in_program = 2, finalized = 3, exiting = 4 };

/// ArenaHeader::counters. Each counts since the start of the arena, over all incarnations.
enum class Counter : std::uint32_t {
  messages_sent = 0,
  bytes_sent = 1,
  messages_received = 2,
  bytes_received = 3,
  sends_compared = 4,
  bytes_compared = 5,
  determinants_recorded = 6,
  determinants_replayed = 7,
  bytes_recorded = 8,
  bytes_logged = 9,
  bytes_bulk = 10,
  wakes = 11,
  sleeps = 12,
  recycled_chunks = 13,
  allocated_chunks = 14,
  would_blocks = 15,
  collectives = 16,
  messages_unexpected = 17,
  output_bytes = 18,
  output_bytes_compared = 19,
};
inline constexpr std::size_t counter_count_max = 64;

/// LogEntry::flags.
inline constexpr std::uint32_t log_keeps_all = 1;
inline constexpr std::uint32_t log_is_journal = 2;

struct ArenaHeader {
  std::atomic<std::uint64_t> magic;  // stored last, release, pairs with the acquire in PeerArena::ready()
  std::uint32_t version;
  std::uint32_t header_size;
  std::uint64_t size_bytes;
  std::uint64_t pool;
  std::uint64_t log_directory;
  std::uint64_t cursor_directory;
  std::uint64_t endpoint_directory;
  std::uint32_t log_count_max;
  std::uint32_t cursor_count_max;
  std::uint32_t endpoint_count_max;
  std::byte pad_68[60];
  std::atomic<std::uint32_t> log_count;       // release after the entry; acquire by who looks for logs
  std::atomic<std::uint32_t> cursor_count;    // the same
  std::atomic<std::uint32_t> endpoint_count;  // the same
  std::byte pad_140[52];
  std::atomic<std::uint64_t> pool_used;
  std::atomic<std::uint64_t> pool_live;
  std::byte pad_208[48];
  std::atomic<std::uint32_t> sleeping;
  std::byte pad_260[60];
  std::atomic<std::uint32_t> state;
  std::atomic<std::int32_t> exit_code;
  std::atomic<std::uint32_t> incarnation;
  std::atomic<std::uint32_t> replaying;
  std::atomic<std::uint32_t> pid;
  std::byte pad_340[44];
  std::atomic<std::uint32_t> call_id;
  std::byte pad_388[4];
  std::atomic<std::uint64_t> call_index;
  std::byte pad_400[48];
  std::atomic<std::uint64_t> counters[counter_count_max];
  std::byte pad_960[64];
  std::byte user[3072];
};

struct LogEntry {
  std::uint64_t key_high;
  std::uint64_t key_low;
  std::atomic<std::uint64_t> first_chunk;  // release once the chunk is initialised; acquire by readers
  std::uint32_t reserved;
  std::uint32_t endpoint;
  std::atomic<std::uint32_t> flags;            // relaxed: orders nothing
  std::atomic<std::uint64_t> published;        // relaxed, for tools
  std::atomic<std::uint64_t> published_bytes;  // relaxed, for tools
  std::byte pad_56[8];
};

struct CursorEntry {
  std::uint64_t key_high;
  std::uint64_t key_low;
  std::uint32_t writer;
  std::uint32_t endpoint;
  std::atomic<std::uint64_t>
      consumed;  // release by the reader after its last access; acquire by the log's writer
};

enum class EndpointKind : std::uint32_t { writer = 1, reader = 2 };

struct EndpointEntry {
  std::uint32_t kind;
  std::uint32_t log;  // a DataWriter's log: index in the log directory
  char topic[64];
  char type[64];
  char qos[112];
  std::uint8_t reliability;  // 0 best effort, 1 reliable
  std::uint8_t durability;   // 0 volatile, 1 transient local
  std::byte pad_250[2];
  std::atomic<std::uint32_t> alive;  // release: 1; 0 once the endpoint is deleted
};

struct ChunkHeader {
  std::atomic<std::uint32_t> generation;  // release after the rest of the header; never 0 in a chunk
  std::uint32_t cell_count;
  std::uint64_t payload_bytes;
  std::uint64_t ordinal;
  std::uint64_t records_before;
  std::byte pad_32[32];
};

struct Cell {
  std::atomic<std::uint32_t> commit;  // release after the rest of the record; acquire by readers
  std::uint8_t kind;
  std::uint8_t inline_size;
  std::uint16_t flags;
  std::uint64_t label;
  std::byte payload[inline_payload_max];
};

/// Cell::payload of a record whose payload lies apart.
struct ApartPayload {
  std::uint64_t offset;
  std::uint64_t size_bytes;
  std::byte extra[extra_bytes_max];
};

/// Cell::payload of a link.
struct LinkPayload {
  std::uint64_t chunk;
  std::uint32_t generation;
};

/// An entry of a journal, in place.
struct JournalCell {
  std::atomic<std::uint32_t> head;   // not 0; release after the rest
  std::atomic<std::uint32_t> count;  // relaxed: changed in place by one store
  std::atomic<std::uint64_t> value;  // relaxed: the same
};

/// JournalCell::head of the entry that leads to the next chunk: count is its generation, value its offset.
inline constexpr std::uint32_t journal_link = 0xffffffff;

static_assert(std::atomic<std::uint32_t>::is_always_lock_free && sizeof(std::atomic<std::uint32_t>) == 4);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && sizeof(std::atomic<std::uint64_t>) == 8);
static_assert(sizeof(ArenaHeader) == 4096);
static_assert(offsetof(ArenaHeader, version) == 8 && offsetof(ArenaHeader, size_bytes) == 16);
static_assert(offsetof(ArenaHeader, pool) == 24 && offsetof(ArenaHeader, log_directory) == 32);
static_assert(offsetof(ArenaHeader, log_count_max) == 56 && offsetof(ArenaHeader, log_count) == 128);
static_assert(offsetof(ArenaHeader, cursor_count) == 132 && offsetof(ArenaHeader, endpoint_count) == 136);
static_assert(offsetof(ArenaHeader, pool_used) == 192 && offsetof(ArenaHeader, pool_live) == 200);
static_assert(offsetof(ArenaHeader, sleeping) == 256 && offsetof(ArenaHeader, state) == 320);
static_assert(offsetof(ArenaHeader, exit_code) == 324 && offsetof(ArenaHeader, incarnation) == 328);
static_assert(offsetof(ArenaHeader, replaying) == 332 && offsetof(ArenaHeader, pid) == 336);
static_assert(offsetof(ArenaHeader, call_id) == 384 && offsetof(ArenaHeader, call_index) == 392);
static_assert(offsetof(ArenaHeader, counters) == 448 && offsetof(ArenaHeader, user) == 1024);
static_assert(sizeof(LogEntry) == 64 && offsetof(LogEntry, first_chunk) == 16);
static_assert(offsetof(LogEntry, endpoint) == 28 && offsetof(LogEntry, flags) == 32);
static_assert(offsetof(LogEntry, published) == 40 && offsetof(LogEntry, published_bytes) == 48);
static_assert(sizeof(CursorEntry) == 32 && offsetof(CursorEntry, writer) == 16);
static_assert(offsetof(CursorEntry, endpoint) == 20 && offsetof(CursorEntry, consumed) == 24);
static_assert(sizeof(EndpointEntry) == 256 && offsetof(EndpointEntry, topic) == 8);
static_assert(offsetof(EndpointEntry, type) == 72 && offsetof(EndpointEntry, qos) == 136);
static_assert(offsetof(EndpointEntry, reliability) == 248 && offsetof(EndpointEntry, alive) == 252);
static_assert(sizeof(ChunkHeader) == 64 && offsetof(ChunkHeader, payload_bytes) == 8);
static_assert(offsetof(ChunkHeader, ordinal) == 16 && offsetof(ChunkHeader, records_before) == 24);
static_assert(sizeof(Cell) == cell_size_bytes && offsetof(Cell, kind) == 4 && offsetof(Cell, flags) == 6);
static_assert(offsetof(Cell, label) == 8 && offsetof(Cell, payload) == 16);
static_assert(sizeof(ApartPayload) == inline_payload_max && sizeof(JournalCell) == 16);

}  // namespace llamada::topics
