#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "llamada/base/owner_lock.hpp"
#include "llamada/base/result.hpp"
#include "llamada/log/free_extents.hpp"
#include "llamada/log/peer_arena.hpp"

namespace llamada::log {

/// The size of a new chunk: see chunk_shape_for() in log_writer.cpp for the classes.
struct ChunkShape {
  std::uint32_t cell_count = 0;
  std::uint64_t payload_bytes = 0;
};

/// So much at most is copied at once into memory that is there already, so that who reads it as it comes need
/// not wait.
inline constexpr std::size_t stored_at_once_bytes = 32 << 10;

/// Where the arena's file ends at a multiple of this, a payload of this size becomes one piece of memory,
/// made by the store itself.
inline constexpr std::size_t stored_whole_bytes = 512 << 10;

struct ArenaOptions {
  std::uint32_t log_count_max = 16384;
  std::uint32_t cursor_count_max = 65536;
  std::uint32_t endpoint_count_max = 1024;
  std::uint32_t match_count_max = 4096;
  std::uint32_t grant_count_max = 4096;
  std::uint32_t incarnation = 1;
  std::uint32_t pid = 0;
  /// Asked before the pool grows by so many bytes more (a multiple of `extent_bytes`, except at the arena's
  /// end); false means that the memory is used up. Empty: always granted.
  std::function<bool(std::uint64_t more_bytes)> may_grow;
  std::uint64_t extent_bytes = 1 << 20;
  /// Called after that, before memory up to `end` is used. An error means that it cannot be had. Empty: it
  /// can always be had.
  std::function<Status(Offset end)> reserve;
  /// Called with memory before its first use: may let the kernel make its pages at once, and what of it was
  /// never used is zero afterwards. False: it cannot be had. Empty: all memory is there.
  std::function<bool(std::span<std::byte>)> prepare;
  /// Copies into memory that may never have been used and was not prepared. Gives how many bytes, from the
  /// first on, at once: more can be asked for by the next call. 0: they are to be copied otherwise.
  std::function<std::size_t(std::span<std::byte> to, std::span<const std::byte> from)> store;
  /// Whether find_damage() goes through chunks and records, which reads again what a disk may have.
  bool looks_through_pool = true;
};

/// What writer or reader of a rank stands behind a log or a cursor, for those who look from outside.
struct EndpointDescription {
  EndpointKind kind = EndpointKind::writer;
  std::uint32_t log = 0;
  std::string_view topic;  ///< at most 63 bytes
  std::string_view type;   ///< at most 63 bytes
  std::string_view qos;    ///< at most 47 bytes
  std::uint8_t reliability = 0;
  std::uint8_t durability = 0;
};

/// The end of a log as adoption found it.
struct LogTail {
  std::vector<Chunk> chunks;  ///< from the first to the one where writing goes on
  std::uint32_t cell = 0;   ///< in the last chunk: the first cell (of a journal: entry) that is not committed
  Offset payload_next = 0;  ///< where free payload room begins in the last chunk
  std::uint64_t records = 0;  ///< since the log began, recycled ones too
  std::uint64_t record_bytes = 0;
  /// The ordinal of the last chunk that has a record with the payload of an earlier one, and one more; 0:
  /// none has.
  std::uint64_t repeats_end = 0;
};

/// The arena of this process, which it alone writes: its header, directories and pool of chunks. Logs,
/// cursors and journals are made in it. Byte layout: docs/internals/arena.md.
///
/// Threads: the application's, for everything but ahead(). The memory must outlive the writer, and the writer
/// all LogWriters and Journals in it.
class ArenaWriter {
 public:
  /// Initialises zeroed memory as an arena. Errors: invalid_argument when the memory is too small or not
  /// aligned to 64 bytes.
  static Result<std::unique_ptr<ArenaWriter>> create(std::span<std::byte> memory, ArenaOptions options);

  /// Takes over what a dead predecessor left, at whatever instruction it died: logs, cursors, journals, and
  /// every byte of the pool. The limits of the directories are the predecessor's. Errors: parse_error when
  /// the content is damaged.
  static Result<std::unique_ptr<ArenaWriter>> adopt(std::span<std::byte> memory, ArenaOptions options);

  /// adopt() in place, for a copy of the owner made by fork() that becomes its successor: everything that was
  /// made in this arena before is to be opened again. Errors: as adopt().
  Status adopt_again(std::uint32_t incarnation, std::uint32_t pid);

  /// adopt() when the memory has been an arena, else create(). Errors also: parse_error when it has been one
  /// whose header is damaged.
  static Result<std::unique_ptr<ArenaWriter>> open(std::span<std::byte> memory, ArenaOptions options);

  /// What the header says, as this process knows it: the header itself lies where a wild pointer may write,
  /// and nothing is to follow from what that leaves there.
  struct Notes {
    Offset pool = 0;
    Offset log_directory = 0;
    Offset cursor_directory = 0;
    Offset endpoint_directory = 0;
    Offset match_directory = 0;
    Offset grant_directory = 0;
    std::uint32_t log_count_max = 0;
    std::uint32_t cursor_count_max = 0;
    std::uint32_t endpoint_count_max = 0;
    std::uint32_t match_count_max = 0;
    std::uint32_t grant_count_max = 0;
    std::uint32_t log_count = 0;
    std::uint32_t cursor_count = 0;
    std::uint32_t endpoint_count = 0;
    std::uint32_t match_count = 0;
    std::uint32_t grant_count = 0;
    std::uint64_t pool_used = 0;
    std::uint64_t pool_live = 0;
    bool operator==(const Notes&) const = default;
  };

  ArenaWriter(const ArenaWriter&) = delete;
  ArenaWriter& operator=(const ArenaWriter&) = delete;

  bool adopted() const { return adopted_; }
  std::byte* base() { return memory_.data(); }
  ArenaHeader& header() { return *reinterpret_cast<ArenaHeader*>(memory_.data()); }
  const ArenaHeader& header() const { return *reinterpret_cast<const ArenaHeader*>(memory_.data()); }
  /// This arena as a reader of it, to look at one's own logs: a predecessor may have damaged it.
  PeerArena reading() const { return {memory_.data(), memory_.size()}; }
  /// The same for what this process has written itself: all of it is there.
  PeerArena own() const { return {memory_.data(), memory_.size(), memory_.size()}; }

  /// Where this process has written over its own arena, as far as its notes show it: the words of the header
  /// and of the directories that it alone may change; the chunks of the pool, and the records of its logs,
  /// some thousand of them at a call. One sentence without a full stop; empty: nothing was found. Takes some
  /// microseconds, for use while there is nothing else to do.
  std::string find_damage();
  /// Whether the words of a header that are written once are those of an arena of this size, and its counts
  /// can be.
  static bool is_laid_out(const ArenaHeader& header, std::uint64_t size_bytes);

  // Header words, for those who look from outside (relaxed unless said otherwise: they order nothing).
  void count(Counter counter, std::uint64_t more = 1) {
    auto& word = header().counters[static_cast<std::size_t>(counter)];
    word.store(word.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
  /// Two at once.
  void count(Counter counter, std::uint64_t more, Counter other, std::uint64_t more_of_other) {
    auto* const words = header().counters;
    const auto add = [&](Counter which, std::uint64_t value) {
      auto& word = words[static_cast<std::size_t>(which)];
      word.store(word.load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
    };
    add(counter, more);
    add(other, more_of_other);
  }
  std::uint64_t counted(Counter counter) const {
    return header().counters[static_cast<std::size_t>(counter)].load(std::memory_order_relaxed);
  }
  void set_call(std::uint32_t call_id) { header().call_id.store(call_id, std::memory_order_relaxed); }
  void set_call_index(std::uint64_t index) { header().call_index.store(index, std::memory_order_relaxed); }
  void set_replaying(bool on) { header().replaying.store(on ? 1 : 0, std::memory_order_relaxed); }
  /// Release: what was written before is there for who sees the state (acquire).
  void set_state(ArenaState state) {
    header().state.store(static_cast<std::uint32_t>(state), std::memory_order_release);
  }
  void set_exit(int exit_code) {
    header().exit_code.store(exit_code, std::memory_order_relaxed);
    set_state(ArenaState::exiting);
  }
  std::span<std::byte> user_area() { return header().user; }

  // Directories. Errors: out_of_resources when one is full. Entries never move. Entries of endpoints that
  // come and go, matches and grants: EndpointDirectory.
  Result<std::uint32_t> add_log(LogKey key, std::uint32_t flags, std::uint32_t endpoint);
  /// The entry of a log that has no chunk and no reader may be used again.
  void remove_log(std::uint32_t index);
  /// The same for a cursor at which no writer looks any more.
  void remove_cursor(CursorEntry* cursor);
  std::optional<std::uint32_t> find_log(LogKey key) const;
  LogEntry& log(std::uint32_t index);
  /// The cursor of this application in a peer's log: the one that is there already (a predecessor's, say), or
  /// a new one.
  Result<CursorEntry*> cursor(LogKey key, std::uint32_t writer, std::uint32_t endpoint = 0);
  /// A new cursor, whatever there is: for an application with several readers of a log, told apart by
  /// `endpoint`.
  Result<CursorEntry*> add_cursor(LogKey key, std::uint32_t writer, std::uint32_t endpoint);
  /// Errors also: invalid_argument when a text is too long.
  Result<std::uint32_t> add_endpoint(const EndpointDescription& description);
  EndpointEntry& endpoint(std::uint32_t index);
  /// For EndpointDirectory. Release: the entries are complete.
  void set_endpoint_count(std::uint32_t count);
  void set_match_count(std::uint32_t count);
  void set_grant_count(std::uint32_t count);
  const Notes& notes() const { return notes_; }

  // The pool.
  /// What of a chunk's memory is prepared. The rest is not to be touched before it has been, by prepare() or
  /// store().
  enum class Prepared { whole, header_and_cells };
  /// An initialised chunk of at least this shape, not yet linked anywhere. Its cells' commit words differ
  /// from its generation. Errors: out_of_resources; parse_error when this process has damaged its own arena.
  Result<Chunk> allocate(ChunkShape shape, std::uint64_t ordinal, std::uint64_t records_before = 0,
                         Prepared prepared = Prepared::whole);
  /// When allocate() has found nothing: a free chunk of whatever shape with room for a record of so many
  /// bytes, the smallest one. Errors: out_of_resources (there is none), parse_error (damage).
  Result<Chunk> allocate_other(std::uint64_t payload_bytes, std::uint64_t ordinal,
                               std::uint64_t records_before);
  /// Whether the calling thread is within allocate(): true for a signal handler that has interrupted it.
  bool is_allocating() const { return allocating_.held_here(); }
  /// For room in a chunk that was not prepared as a whole. Errors: out_of_resources.
  Status prepare(std::span<std::byte> memory) const;
  /// Copies what is large into such room. Gives how many bytes it copied at once, from the first on, at
  /// least 1.
  std::size_t store(std::span<std::byte> to, std::span<const std::byte> from) const;
  /// Gives back a chunk that no reader needs and no log leads to. Some reader may still look at its header:
  /// it is used again in the same shape only.
  void free(const Chunk& chunk);
  /// The same for a chunk that no reader looks at any more: it is joined with neighbours that are free, and
  /// used again in any shape.
  void release(const Chunk& chunk);
  std::uint64_t pool_used() const { return notes_.pool_used; }
  /// What of the arena may be in use, by this process or its predecessor.
  Offset granted_end() const { return pool() + granted_; }
  std::uint64_t pool_live() const { return notes_.pool_live; }
  Offset pool() const { return notes_.pool; }

  /// The next `window_bytes` that the pool will grow into, less at the arena's end, in whole pages: to be
  /// prepared ahead of use.
  std::span<std::byte> ahead(std::uint64_t window_bytes) const;

  /// The tail of a log that adoption found, once; nothing for logs that this process has made or taken
  /// already.
  std::optional<LogTail> take_tail(std::uint32_t index);

 private:
  struct FreeList {
    ChunkShape shape;
    std::vector<Offset> chunks;
  };

  ArenaWriter(std::span<std::byte> memory, ArenaOptions options);
  void initialise_header();
  Status adopt_content();
  void drop_endpoints();
  Status adopt_log(std::uint32_t index, std::vector<Offset>& reached);
  Status adopt_pool(std::vector<Offset>& reached);

  static void name_entry(std::uint64_t& high, std::uint64_t& low, LogKey key);
  void entry_reused();
  void note_log(std::uint32_t index);
  void note_cursor(std::uint32_t index);
  std::string find_damage_of_directories();
  std::string find_damage_of_pool();
  std::string find_damage_of_logs();
  std::string find_damage_of_log(int& left);
  std::string follow_link(const Cell& cell);
  bool has_payload(const Cell& cell) const;
  CursorEntry& own_cursor(std::uint32_t index) {
    return reinterpret_cast<CursorEntry*>(base() + notes_.cursor_directory)[index];
  }

  Status prepare(const Chunk& chunk, Prepared prepared) const;
  FreeList& free_list(ChunkShape shape);
  FreeList* free_list_for(ChunkShape shape);
  Result<std::optional<Chunk>> allocate_recycled(FreeList* list, std::uint64_t ordinal,
                                                 std::uint64_t records_before);
  void begin_again(Chunk& chunk, std::uint64_t ordinal, std::uint64_t records_before);
  // arena_joining.cpp
  void put_free_header(Offset offset, std::uint64_t size_bytes);
  void set_payload_bytes(Offset offset, std::uint64_t payload_bytes);
  void set_cell_count(Offset offset, std::uint32_t cell_count);
  void drop_cells(const Chunk& chunk);
  void make_cells(const Chunk& chunk);
  std::optional<Chunk> allocate_joined(ChunkShape shape, std::uint64_t ordinal, std::uint64_t records_before);
  Status grow_to(std::uint64_t pool_bytes);
  std::uint64_t rounded_to_extent(std::uint64_t bytes) const;
  void add_live(std::int64_t bytes);
  static Notes notes_of(const ArenaHeader& header);
  Notes header_notes() const { return notes_of(header()); }
  static Notes laid_out(Notes notes);

  std::span<std::byte> memory_;
  Notes notes_;
  // What directory entries say that is written once.
  struct EntryNote {
    std::uint64_t key_high = 0;
    std::uint64_t key_low = 0;
    std::uint32_t number = 0;
    std::uint32_t endpoint = 0;
    bool operator==(const EntryNote&) const = default;
  };
  static EntryNote note_of(const LogEntry& entry);
  static EntryNote note_of(const CursorEntry& entry);
  std::vector<EntryNote> log_notes_;
  std::vector<EntryNote> cursor_notes_;
  // find_damage() goes on:
  Offset looked_at_ = 0;  // at this chunk; 0: at the pool's begin
  // The place that it has come to in a log.
  struct LogLook {
    std::uint32_t log = 0;
    Chunk chunk;  // none: at the log's begin
    std::uint32_t cell = 0;
    std::uint64_t records = 0;
  };
  LogLook log_look_;
  ArenaOptions options_;
  bool adopted_ = false;
  std::uint64_t granted_ = 0;  // bytes of the pool that may_grow has allowed
  std::vector<FreeList> free_lists_;
  FreeExtents extents_;
  std::map<std::uint32_t, LogTail> tails_;
  std::vector<std::uint32_t> free_logs_;
  std::vector<std::uint32_t> free_cursors_;
  OwnerLock allocating_;
};

}  // namespace llamada::log
