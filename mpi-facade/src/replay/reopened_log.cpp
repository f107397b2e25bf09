#include "replay/reopened_log.hpp"

#include <optional>
#include <utility>

namespace llamada::mpi::replay {

Result<ReopenedLog> reopen(log::ArenaWriter& arena, log::LogWriter& copied, log::LogKey key,
                           const log::LogOptions& options) {
  std::optional<log::LogPosition> place;
  if (copied.published() > 0) {
    auto position = copied.position();
    if (!position) return propagate(position);
    place = *position;
  }
  auto writer = log::LogWriter::open(arena, key, options);
  if (!writer) return propagate(writer);
  const auto since = place ? log::LogReader::open_at(arena.reading(), writer->index(), *place, nullptr)
                           : log::LogReader::open(arena.reading(), writer->index());
  return ReopenedLog{std::move(*writer), since};
}

}  // namespace llamada::mpi::replay
