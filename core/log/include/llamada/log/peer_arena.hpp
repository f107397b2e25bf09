#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "llamada/base/result.hpp"
#include "llamada/log/arena_layout.hpp"

namespace llamada::log {

/// An arena as one who reads it sees it (mapped read-only, in llamaNET). A value: it borrows the mapping,
/// which must outlive it. Another process wrote what lies in it, and a wild pointer there may have written
/// over any of it. A reader believes nothing: it reads each word once, asks covers() before it follows a
/// place, and bounds its steps. A directory that does not fit the arena reads as empty, and an entry that
/// does not fit reads as zeros.
///
/// Threads: any; the owner may write meanwhile.
struct PeerArena {
  const std::byte* base = nullptr;
  std::uint64_t size_bytes = 0;  ///< of the mapping, which may be longer than the owner's file
  /// So much of the file is known to exist. It grows as covers() finds more; a file never gets shorter.
  mutable std::uint64_t known_bytes = 0;

  /// Whether these bytes lie within the arena and its file, so that a look at them is no SIGBUS. One
  /// comparison for what is known; else a system call of some 300 ns.
  bool covers(Offset offset, std::uint64_t bytes) const {
    const std::uint64_t known = __atomic_load_n(&known_bytes, __ATOMIC_RELAXED);
    return (offset <= known && bytes <= known - offset) || reaches(offset, bytes);
  }

  /// Whether the owner has initialised it. A mapping without memory is never ready.
  bool ready() const;
  /// Whether the header can be none: it is neither as the driver made it nor as an owner does.
  bool is_damaged() const;
  /// Only when `size_bytes` is at least that of the header.
  const ArenaHeader& header() const { return *reinterpret_cast<const ArenaHeader*>(base); }
  std::uint64_t counter(Counter counter) const;

  /// How many complete entries each directory has (0 when it does not fit the arena).
  std::uint32_t log_count() const;
  std::uint32_t cursor_count() const;
  std::uint32_t endpoint_count() const;
  std::uint32_t match_count() const;
  std::uint32_t grant_count() const;
  /// The entry at `index`; zeros when it does not fit the arena.
  const LogEntry& log(std::uint32_t index) const;
  const CursorEntry& cursor(std::uint32_t index) const;
  const EndpointEntry& endpoint(std::uint32_t index) const;
  const MatchEntry& match(std::uint32_t index) const;
  const GrantEntry& grant(std::uint32_t index) const;

 private:
  bool reaches(Offset offset, std::uint64_t bytes) const;
};

/// How far a directory has been looked through.
struct DirectoryScan {
  std::uint32_t scanned = 0;
  std::uint32_t reuses = 0;  ///< ArenaHeader::reuses at that time

  /// Begins anew if the owner has given an entry another use since.
  void renew(const PeerArena& arena);
};

/// The index of the log with this key among the entries from `scanned` on, which is moved over what was
/// looked at: call it again later and only new entries cost time.
std::optional<std::uint32_t> find_log(const PeerArena& arena, LogKey key, std::uint32_t& scanned);

/// The same for the cursor of the arena's owner in the log `key` of the application in slot `writer`. The
/// entry stays in place while the mapping does.
const CursorEntry* find_cursor(const PeerArena& arena, LogKey key, std::uint32_t writer,
                               std::uint32_t& scanned);

/// The same, where entries may have been given another use since the last call.
std::optional<std::uint32_t> find_log(const PeerArena& arena, LogKey key, DirectoryScan& scan);
const CursorEntry* find_cursor(const PeerArena& arena, LogKey key, std::uint32_t writer, DirectoryScan& scan);

/// A chunk as its header describes it.
struct Chunk {
  Offset offset = 0;
  std::uint32_t generation = 0;
  std::uint32_t cell_count = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t ordinal = 0;
  std::uint64_t records_before = 0;  ///< in the chunks before it

  Offset cells() const { return offset + sizeof(ChunkHeader); }
  Offset payload() const { return cells() + std::uint64_t{cell_count} * cell_size_bytes; }
  Offset end() const { return payload() + payload_bytes; }
  /// Whether so many bytes from there on lie in its payload room.
  bool has_payload(Offset at, std::uint64_t bytes) const {
    return at >= payload() && at <= end() && bytes <= end() - at;
  }
  std::uint64_t size_bytes() const { return end() - offset; }
};

/// Reads the header at `offset`. Fails with parse_error when there can be no chunk of this arena: its header
/// and cells must exist, the payload behind them must fit the mapping.
Result<Chunk> read_chunk(const PeerArena& arena, Offset offset);

/// The same while the owner may be giving this memory another use: the header is copied and is to be
/// validated by its generation once everything was read.
Result<Chunk> read_chunk_racing(const PeerArena& arena, Offset offset);

/// Whether the payload of a record in this chunk, with this Cell::inline_size, can lie there: payload_apart,
/// in the chunk; payload_repeated, in what has been handed out of the arena's pool. Whether its bytes exist,
/// covers() says.
bool can_have_payload(const PeerArena& arena, const Chunk& chunk, std::uint8_t inline_size, Offset offset,
                      std::uint64_t size_bytes);

/// Copies bytes that their owner may be changing meanwhile, word by word; whether they are whole, a sequence
/// word says that is looked at before and after. Both places are aligned to 8 bytes.
void copy_racing(std::byte* to, const std::byte* from, std::size_t size_bytes);

}  // namespace llamada::log
