#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>

#include "llamada/log/history_reader.hpp"
#include "llamada/log/log_reader.hpp"
#include "llamada/replication/histories.hpp"

namespace llamada::replication {

/// A log as a ServedLog reads it: in place if its writer, this process, waits for the keeper; by copies if
/// another process writes it and may use its memory again at any moment.
class ServedReader {
 public:
  /// Nothing to read; a place to move another into.
  ServedReader() = default;
  /// A log of this process, from its start. `cursor`, if there is one, is what release() moves.
  static ServedReader of_own(const LogSource& source, log::CursorEntry* cursor) {
    return ServedReader(log::LogReader::open(source.arena, source.index, cursor));
  }
  /// A log of another process. Of payloads, those of at most `copied_bytes_max` bytes are read in place.
  static ServedReader of_history(const LogSource& source, std::size_t copied_bytes_max) {
    return ServedReader(log::HistoryReader(source.arena, source.index, {copied_bytes_max, source.keeper}));
  }
  /// One of the same kind, for the same log, that stands at `place` and moves no cursor.
  ServedReader at(const LogSource& source, const log::LogPosition& place,
                  std::size_t copied_bytes_max) const {
    if (is_own()) return ServedReader(log::LogReader::open_at(source.arena, source.index, place, nullptr));
    return ServedReader(
        log::HistoryReader(source.arena, source.index, place, {copied_bytes_max, source.keeper}));
  }
  /// One of the same kind that stands at the log's start.
  ServedReader at_start(const LogSource& source, std::size_t copied_bytes_max) const {
    return is_own() ? of_own(source, nullptr) : of_history(source, copied_bytes_max);
  }

  /// The number of the record with which the log begins by now; nothing if it has no chunk yet.
  std::optional<std::uint64_t> first_number(const LogSource& source) {
    if (auto* history = std::get_if<log::HistoryReader>(&reader_)) return history->first_number();
    const log::LogEntry& entry = source.arena.log(source.index);
    const log::Offset first = entry.first_chunk.load(std::memory_order_acquire);
    if (first == 0) return std::nullopt;
    const auto chunk = log::read_chunk(source.arena, first);
    return chunk ? chunk->records_before + 1 : UINT64_MAX;
  }

  std::optional<log::Record> peek() {
    if (auto* own = std::get_if<log::LogReader>(&reader_)) [[likely]]
      return own->peek();
    return std::get<log::HistoryReader>(reader_).peek();
  }
  void advance() {
    std::visit([](auto& reader) { reader.advance(); }, reader_);
  }
  /// HistoryReader::pass_chunks(); nothing for a log of this process.
  std::optional<std::uint64_t> pass_chunks(std::uint64_t number) {
    auto* history = std::get_if<log::HistoryReader>(&reader_);
    return history != nullptr ? history->pass_chunks(number) : std::nullopt;
  }
  log::LogPosition position() const {
    return std::visit([](const auto& reader) { return reader.position(); }, reader_);
  }
  void release(std::uint64_t chunk_ordinal) {
    if (auto* own = std::get_if<log::LogReader>(&reader_)) own->release(chunk_ordinal);
  }
  /// What the keeper has is not to hold the writer.
  void release_passed() {
    if (auto* own = std::get_if<log::LogReader>(&reader_)) own->release(own->position_chunk());
  }
  /// Whether payloads may be sent from where they lie. Otherwise copy() them.
  bool is_own() const { return std::holds_alternative<log::LogReader>(reader_); }
  /// Part of the payload that peek() gave, from a history, at a multiple of 8 bytes. False: it is gone.
  bool copy(const log::Record& record, std::uint64_t offset, std::span<std::byte> to) {
    return std::get<log::HistoryReader>(reader_).copy(record, offset, to);
  }
  /// Nothing more can be read here, because the memory has another use or is damaged.
  bool has_stopped() const {
    if (const auto* own = std::get_if<log::LogReader>(&reader_)) return own->failed();
    return std::get<log::HistoryReader>(reader_).is_overtaken();
  }

 private:
  template <typename Reader>
  explicit ServedReader(Reader reader) : reader_(std::move(reader)) {}
  std::variant<log::LogReader, log::HistoryReader> reader_;
};

}  // namespace llamada::replication
