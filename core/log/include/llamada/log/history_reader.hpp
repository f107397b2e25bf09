#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "llamada/log/log_reader.hpp"
#include "llamada/log/peer_arena.hpp"

namespace llamada::log {

/// Reads a log for which its writer does not wait, in order and without a gap, for somebody who has a cursor
/// of his own there. Like a LossyReader it copies, and then looks at the chunk's generation, which changes
/// before anything else in a chunk that is used again. Overtaken by the writer, it stops.
///
/// Nothing in the arena can harm it: see PeerArena.
///
/// Threads: one at a time. Movable. The arena's mapping must outlive it.
class HistoryReader {
 public:
  /// Nothing to read; a place to move another into.
  HistoryReader() = default;

  struct Options {
    /// Payloads up to this size are copied by peek().
    std::size_t copied_bytes_max = 0;
    /// The cursor in this log of whoever the reading is for; null: none is known. Where the log keeps all and
    /// began to be recycled, it tells which payloads of earlier records are still there.
    const CursorEntry* keeper = nullptr;
  };
  /// From the oldest record on that is there. `index` must be below arena.log_count().
  HistoryReader(const PeerArena& arena, std::uint32_t index, const Options& options);
  /// From a place that position() gave. Overtaken at once if that is another's by now.
  HistoryReader(const PeerArena& arena, std::uint32_t index, const LogPosition& place,
                const Options& options);

  /// The number of the record with which the log begins by now; nothing if it has no chunk yet, or none that
  /// can be read now. Then this reader begins with record 1, or is overtaken.
  std::optional<std::uint64_t> first_number();

  /// The next record if it is committed; does not move. Valid until the next call. A payload of more than
  /// `copied_bytes_max` bytes lies in the arena, and is to be touched by copy() only.
  std::optional<Record> peek();
  /// Copies a part of the payload that peek() gave last, both places at multiples of 8 bytes. False: it is
  /// gone, and is_overtaken().
  bool copy(const Record& record, std::uint64_t offset, std::span<std::byte> to);
  /// Moves over the record that peek() gave; only after one.
  void advance() { ++cell_; }
  /// Where it stands at the beginning of a chunk: moves over chunks whose records all come before the one
  /// with this number, at most chunks_passed_max of them, without a look at the records. Gives the number of
  /// the record that is next then; nothing if it stands elsewhere.
  std::optional<std::uint64_t> pass_chunks(std::uint64_t number);
  static constexpr int chunks_passed_max = 64;
  LogPosition position() const;

  /// The writer has used again what this reader had yet to read, or the log is damaged: peek() gives nothing
  /// any more.
  bool is_overtaken() const { return is_overtaken_; }

 private:
  bool enter_first();
  bool enter(const Chunk& chunk, std::uint32_t cell);
  bool follow_link(const Cell& cell);
  std::optional<Chunk> linked_by(const Cell& cell) const;
  std::optional<Chunk> chunk_behind();
  std::optional<Record> read(const Cell& cell);
  std::optional<Record> read_apart(const Cell& cell, Record record);
  bool is_still(const Chunk& chunk) const;
  bool is_payload_kept() const;
  std::optional<Record> fall_behind();

  PeerArena arena_;
  std::uint32_t index_ = 0;
  Options options_;
  LogKey key_;
  std::optional<Chunk> chunk_;
  std::uint32_t cell_ = 0;
  bool is_overtaken_ = false;
  bool begins_with_one_ = false;
  bool is_repeated_ = false;  // the payload of the record that peek() gave lies in another chunk
  alignas(Cell) std::array<std::byte, sizeof(Cell)> copied_cell_{};
  std::vector<std::byte> copied_;
};

}  // namespace llamada::log
