#include "world/past_copies.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "llamada/base/plain_bytes.hpp"
#include "llamada/log/log_writer.hpp"

namespace llamada::mpi {
namespace {

using replication::LogName;

constexpr log::LogKey notes_key{8, 0};

struct Note {
  std::uint32_t writer = 0;
  std::uint32_t reserved = 0;
  std::uint64_t key_high = 0;
  std::uint64_t key_low = 0;
  std::uint64_t records = 0;
  LogName name() const { return {writer, {key_high, key_low}}; }
};
static_assert(sizeof(Note) == 32);

/// The logs in this arena that are copies, with what they copy.
struct CopyOfLog {
  log::LogKey key;
  LogName name;
};
std::vector<CopyOfLog> copies_in(const log::ArenaWriter& own) {
  std::vector<CopyOfLog> copies;
  const log::PeerArena arena = own.own();
  for (std::uint32_t index = 0; index < arena.log_count(); ++index) {
    const log::LogKey key = log::key_of(arena.log(index));
    if (const auto name = replication::copied_log(key)) copies.push_back({key, *name});
  }
  return copies;
}

/// The cursors of this rank in copies. Those of keepers in this rank's own logs have the high bit.
void begin_cursors_again(log::ArenaWriter& own, const std::vector<CopyOfLog>& copies) {
  for (const CopyOfLog& copy : copies) {
    std::uint32_t scanned = 0;
    const auto* cursor = log::find_cursor(own.own(), copy.name.key, copy.name.writer, scanned);
    // The copy's writer is this process, too.
    if (cursor != nullptr)
      const_cast<log::CursorEntry*>(cursor)->consumed.store(0, std::memory_order_relaxed);
  }
}

}  // namespace

void PastCopies::read(const log::ArenaWriter& own) {
  const auto index = own.find_log(notes_key);
  if (!index) return;
  log::LogReader reader = log::LogReader::open(own.reading(), *index);
  for (; const auto record = reader.peek(); reader.advance()) {
    Note note;
    if (record->payload.size() != sizeof(note)) continue;
    std::memcpy(&note, record->payload.data(), sizeof(note));
    std::uint64_t& records = records_[note.name()];
    records = std::max(records, note.records);
  }
}

Result<PastCopies> PastCopies::take(log::ArenaWriter& own) {
  PastCopies past;
  past.read(own);
  const auto copies = copies_in(own);
  // Before any copy is gone. A copy that is gone already has left its cursor and no records.
  begin_cursors_again(own, copies);
  auto notes = log::LogWriter::open(own, notes_key, {.retention = log::Retention::keep_all});
  if (!notes) return propagate(notes);
  for (const auto& [key, name] : copies) {
    auto copy = log::LogWriter::open(own, key, {});
    if (!copy) return propagate(copy);
    std::uint64_t& records = past.records_[name];
    if (copy->published() > records) {
      records = copy->published();
      const Note note{name.writer, 0, name.key.high, name.key.low, records};
      if (Status noted = notes->publish(log::kind_data, 0, 0, plain_bytes(note)); !noted)
        return propagate(noted);
    }
    copy->discard();
  }
  return past;
}

}  // namespace llamada::mpi
