#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

// The structures of an arena, byte by byte: docs/internals/arena.md. Each word has one writer, the arena's
// owner; the atomics are those that a peer may read while the owner writes. All are lock-free and of the size
// of their value.

namespace llamada::log {

/// A place in an arena: bytes from its start. 0 is the arena's header and so means "none".
using Offset = std::uint64_t;

/// What a log is for, by convention of the layer above.
struct LogKey {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  bool operator==(const LogKey&) const = default;
};

inline constexpr std::uint64_t arena_magic = 0x314e52414d414c4c;  // "LLAMARN1"
inline constexpr std::uint32_t arena_version = 5;
inline constexpr std::size_t cell_size_bytes = 64;
/// The most payload that lies in the cell itself.
inline constexpr std::size_t inline_payload_max = 48;
/// Bytes beside a payload that lies apart which are the layer above's.
inline constexpr std::size_t extra_bytes_max = 32;
/// Cell::inline_size of a record whose payload lies apart.
inline constexpr std::uint8_t payload_apart = 255;
/// The same of a record whose payload is that of an earlier record of the log, which keeps all.
inline constexpr std::uint8_t payload_repeated = 254;
/// Of a record in a copy of a log whose payload has stayed where the log is.
inline constexpr std::uint8_t payload_absent = 253;

/// Cell::kind; 2 to 254 are the layer above's.
inline constexpr std::uint8_t kind_link = 0;
inline constexpr std::uint8_t kind_data = 1;
/// Of what was announced and never came: readers pass over it. Nothing but the kind of its cell has changed.
inline constexpr std::uint8_t kind_withdrawn = 255;
constexpr bool is_of_record(std::uint8_t kind) { return kind != kind_link && kind != kind_withdrawn; }

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
  samples_written = 20,
  sample_bytes_written = 21,  // into this arena: once, however many readers there are
  samples_read = 22,
  sample_bytes_copied = 23,  // out of a writer's arena by a reader, because it could not be left in place
  bytes_repeated = 24,       // of payloads that a log had already, and were not written again
  standbys_made = 25,
  standbys_skipped = 26,  // due, and not made
  standbys_woken = 27,    // that have become the rank
};
inline constexpr std::size_t counter_count_max = 64;

/// LogEntry::flags.
inline constexpr std::uint32_t log_keeps_all = 1;
inline constexpr std::uint32_t log_is_journal = 2;
inline constexpr std::uint32_t log_is_endpoints = 4;  // of a WriterEndpoint: no successor carries it on
inline constexpr std::uint32_t log_is_discarded = 8;  // its memory is being given back: it may have none left

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
  std::uint32_t match_count_max;
  std::uint64_t match_directory;
  std::uint64_t grant_directory;
  std::uint32_t grant_count_max;
  std::byte pad_92[36];
  std::atomic<std::uint32_t> log_count;       // release after the entry; acquire by who looks for logs
  std::atomic<std::uint32_t> cursor_count;    // the same
  std::atomic<std::uint32_t> endpoint_count;  // the same
  std::atomic<std::uint32_t> match_count;     // the same
  std::atomic<std::uint32_t> grant_count;     // the same
  std::atomic<std::uint32_t> reuses;          // release after an entry for a log or cursor is another's
  std::atomic<std::uint64_t> changes;         // release after each change of endpoints, matches or grants
  std::byte pad_160[32];
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

/// Whose entry it is now: another log may get it.
inline LogKey key_of(const LogEntry& entry) {
  return {__atomic_load_n(&entry.key_high, __ATOMIC_ACQUIRE),
          __atomic_load_n(&entry.key_low, __ATOMIC_ACQUIRE)};
}

/// CursorEntry::consumed of a reader that will read no more.
inline constexpr std::uint64_t retired_cursor = ~std::uint64_t{0};

struct CursorEntry {
  std::uint64_t key_high;
  std::uint64_t key_low;
  std::uint32_t writer;
  std::uint32_t endpoint;
  std::atomic<std::uint64_t>
      consumed;  // release by the reader after its last access; acquire by the log's writer
};

enum class EndpointKind : std::uint32_t { writer = 1, reader = 2, participant = 3 };

struct EndpointEntry {
  std::uint32_t kind;
  std::uint32_t log;  // a writer's log: index in the log directory
  char topic[64];     // cut off, for people; the whole name is in the description
  char type[64];
  char qos[48];
  // 0 in an entry of a rank, and while the entry is changed; else no two that ever were in the arena share
  // one. Release after the rest of the entry.
  std::atomic<std::uint64_t> number;
  std::atomic<std::uint64_t> description;  // DescriptionPlace; release after the description
  std::uint64_t slots;                     // a writer's SlotTable; 0: it has a log
  std::atomic<std::int64_t> asserted_ns;  // LIVELINESS: CLOCK_MONOTONIC, release; of a participant: AUTOMATIC
  std::atomic<std::int64_t> asserted_manually_ns;  // of a participant: MANUAL_BY_PARTICIPANT
  std::atomic<std::uint32_t>
      waits;  // a writer waits for (bits) 1: room, 2: acknowledgments; see wants_wake()
  std::byte pad_228[20];
  std::uint8_t reliability;  // 0 best effort, 1 reliable
  std::uint8_t durability;   // 0 volatile, 1 transient local
  std::byte pad_250[2];
  std::atomic<std::uint32_t> alive;  // release: 1; 0 once the endpoint is deleted
};

/// EndpointEntry::description in one word: the place of a chunk without cells, and a count of the changes,
/// so that who copied the description knows by the same word afterwards that it is whole.
struct DescriptionPlace {
  static constexpr int version_shift = 40;
  static constexpr std::uint64_t make(Offset chunk, std::uint64_t version) {
    return version << version_shift | chunk / 64;
  }
  static constexpr Offset chunk(std::uint64_t word) {
    return (word & ((std::uint64_t{1} << version_shift) - 1)) * 64;
  }
  static constexpr std::uint64_t version(std::uint64_t word) { return word >> version_shift; }
};

/// Samples of one writer that one reader has in place at a time; beyond, it copies.
inline constexpr std::size_t hold_count = 16;

/// MatchEntry::flags.
inline constexpr std::uint32_t match_is_reliable = 1;
inline constexpr std::uint32_t match_wants_history = 2;

/// One reader's interest in one writer, in the reader's arena.
struct MatchEntry {
  std::atomic<std::uint64_t> number;  // 0: free; else never used twice; release after the rest
  std::uint32_t writer_arena;
  std::uint32_t writer_number;
  std::uint32_t reader_number;
  std::uint32_t flags;
  std::byte pad_24[40];
  CursorEntry cursor;  // of a log: only `consumed` is used
  // Samples up to this sequence number are the reader's: release; acquire by the writer.
  std::atomic<std::uint64_t> acknowledged;
  // Of a log: samples up to this sequence number are not read any more, in place neither: as acknowledged.
  std::atomic<std::uint64_t> released;
  std::byte pad_112[16];
  // Of a table of slots: 0, or 1 + the index of a slot that is read in place.
  std::atomic<std::uint64_t> holds[hold_count];
};

/// A writer's answer to a MatchEntry, in the writer's arena: from here on it respects it.
struct GrantEntry {
  std::atomic<std::uint64_t> number;  // 0: free; else the number of the match; release after the rest
  std::uint32_t reader_arena;
  std::uint32_t match_index;
  std::uint64_t sequence;  // of the last sample before the reader's first
  std::uint64_t chunk;     // of a log: where the reader begins
  std::uint32_t generation;
  std::uint32_t cell;
  std::uint64_t ordinal;
  std::byte pad_48[16];
};

inline constexpr std::size_t slot_ring_count = 256;
inline constexpr std::size_t slot_block_count_max = 24;

/// One sample of a writer that has no log.
struct Slot {
  // 0 while it is written, else the sample's; release after the rest; acquire by readers, before and after.
  std::atomic<std::uint64_t> sequence_number;
  std::uint64_t payload;  // where the bytes lie, if they do not fit in `small`
  std::uint64_t size_bytes;
  std::uint64_t instance;
  std::int64_t source_timestamp_ns;
  std::uint64_t group_sequence;
  std::uint32_t coherent_set;
  std::uint8_t kind;  // a ChangeKind
  std::byte pad_53[3];
  std::atomic<std::uint32_t> live;  // relaxed: 1 while it is in the writer's history
  std::byte pad_60[4];
  std::byte small[inline_payload_max];
  std::byte pad_112[16];
};

/// Where the slots of one writer are, and which of them was written last.
struct SlotTable {
  std::atomic<std::uint64_t> latest;  // sequence number; release after the slot and its entry in the ring
  std::atomic<std::uint32_t> block_count;  // release after the entry in blocks
  std::byte pad_12[52];
  std::atomic<std::uint64_t> blocks[slot_block_count_max];  // offset of the first slot of each
  // At sequence number % slot_ring_count: its low half in the high half, the slot's index in the low half.
  std::atomic<std::uint64_t> ring[slot_ring_count];

  static constexpr std::uint32_t block_size(std::uint32_t block) { return 16u << block; }
  struct Place {
    std::uint32_t block;
    std::uint32_t index;
  };
  /// Blocks have 16, 32, 64 … slots, numbered through.
  static constexpr Place place_of(std::uint32_t slot) {
    const std::uint64_t from_sixteen = std::uint64_t{slot} + 16;
    const auto block = static_cast<std::uint32_t>(std::bit_width(from_sixteen)) - 5;
    return {block, static_cast<std::uint32_t>(from_sixteen - (std::uint64_t{16} << block))};
  }
  static constexpr std::uint64_t ring_word(std::uint64_t sequence_number, std::uint32_t slot) {
    return sequence_number << 32 | slot;
  }
};

struct ChunkHeader {
  std::atomic<std::uint32_t> generation;  // release after the rest of the header; never 0 in a chunk
  std::uint32_t cell_count;
  std::uint64_t payload_bytes;
  std::uint64_t ordinal;
  std::uint64_t records_before;
  // Of the record that is announced: so many bytes of its payload are there; release after them.
  std::atomic<std::uint64_t> filled;
  std::byte pad_40[24];
};

struct Cell {
  std::atomic<std::uint32_t> commit;  // release after the rest of the record; acquire by readers
  std::uint8_t kind;                  // atomic while it is announced
  std::uint8_t inline_size;
  std::uint16_t flags;
  std::uint64_t label;
  std::byte payload[inline_payload_max];
};

/// Cell::commit of a record whose cell is written, and whose payload, which lies apart, is still to come, in
/// a chunk of this generation. For all but who looks for it there is nothing yet.
constexpr std::uint32_t announced(std::uint32_t generation) { return ~generation; }

/// Cell::payload of a record whose payload lies apart.
struct ApartPayload {
  std::uint64_t offset;
  std::uint64_t size_bytes;
  std::byte extra[extra_bytes_max];
};

/// Cell::payload of a record whose payload is absent; both are not 0.
struct AbsentPayload {
  std::uint64_t record;      ///< its number in the log that has the payload, from 1
  std::uint64_t size_bytes;  ///< of the payload there
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
static_assert(offsetof(ArenaHeader, match_count_max) == 68 && offsetof(ArenaHeader, match_directory) == 72);
static_assert(offsetof(ArenaHeader, grant_directory) == 80 && offsetof(ArenaHeader, grant_count_max) == 88);
static_assert(offsetof(ArenaHeader, match_count) == 140 && offsetof(ArenaHeader, grant_count) == 144);
static_assert(offsetof(ArenaHeader, reuses) == 148 && offsetof(ArenaHeader, changes) == 152);
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
static_assert(offsetof(EndpointEntry, number) == 184 && offsetof(EndpointEntry, description) == 192);
static_assert(offsetof(EndpointEntry, slots) == 200 && offsetof(EndpointEntry, asserted_ns) == 208);
static_assert(offsetof(EndpointEntry, asserted_manually_ns) == 216 && offsetof(EndpointEntry, waits) == 224);
static_assert(sizeof(MatchEntry) == 256 && offsetof(MatchEntry, cursor) == 64);
static_assert(offsetof(MatchEntry, writer_arena) == 8 && offsetof(MatchEntry, acknowledged) == 96);
static_assert(offsetof(MatchEntry, released) == 104 && offsetof(MatchEntry, holds) == 128);
static_assert(sizeof(GrantEntry) == 64 && offsetof(GrantEntry, reader_arena) == 8);
static_assert(offsetof(GrantEntry, match_index) == 12 && offsetof(GrantEntry, sequence) == 16);
static_assert(offsetof(GrantEntry, chunk) == 24 && offsetof(GrantEntry, ordinal) == 40);
static_assert(offsetof(EndpointEntry, reliability) == 248 && offsetof(EndpointEntry, alive) == 252);
static_assert(sizeof(Slot) == 128 && offsetof(Slot, payload) == 8 && offsetof(Slot, instance) == 24);
static_assert(offsetof(Slot, coherent_set) == 48 && offsetof(Slot, kind) == 52 && offsetof(Slot, live) == 56);
static_assert(offsetof(Slot, small) == 64);
static_assert(offsetof(SlotTable, block_count) == 8 && offsetof(SlotTable, blocks) == 64);
static_assert(offsetof(SlotTable, ring) == 256 && sizeof(SlotTable) == 2304);
static_assert(SlotTable::place_of(15).block == 0 && SlotTable::place_of(16).block == 1);
static_assert(SlotTable::place_of(47).index == 31 && SlotTable::place_of(48).block == 2);
static_assert(sizeof(ChunkHeader) == 64 && offsetof(ChunkHeader, payload_bytes) == 8);
static_assert(offsetof(ChunkHeader, ordinal) == 16 && offsetof(ChunkHeader, records_before) == 24);
static_assert(offsetof(ChunkHeader, filled) == 32);
static_assert(sizeof(Cell) == cell_size_bytes && offsetof(Cell, kind) == 4 && offsetof(Cell, flags) == 6);
static_assert(offsetof(Cell, label) == 8 && offsetof(Cell, payload) == 16);
static_assert(sizeof(ApartPayload) == inline_payload_max && sizeof(JournalCell) == 16);

}  // namespace llamada::log
