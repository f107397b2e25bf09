// What a driver puts into the arenas of applications that resume.

#include <fcntl.h>

#include "driver_implementation.hpp"
#include "llamada/llamanet/own_arena.hpp"

namespace llamada::llamanet {

Status Driver::Implementation::restore_journal(std::uint32_t slot, log::LogKey key,
                                               std::span<const log::JournalEntry> entries) {
  if (slot >= roster_.count() || !roster_[slot].arena)
    return failure(Errc::not_found, "there is no arena in slot {}", slot);
  if (roster_[slot].process || roster_.view(slot).pid() != 0)
    return failure(Errc::invalid_argument, "an application has attached to slot {}", slot);
  FileDescriptor file(::fcntl(roster_[slot].arena.get(), F_DUPFD_CLOEXEC, 0));
  if (!file) return system_failure("fcntl of an arena");
  // The header is as before anybody has attached: no process, in no state.
  auto opened = OwnArena::open(
      std::move(file), roster_.arena_size_bytes(),
      [this, slot] { return roster_.lengthen(slot).has_value(); }, log::ArenaOptions(),
      roster_.is_on_disk() ? OwnArena::Place::disk : OwnArena::Place::memory);
  if (!opened) return propagate(opened);
  auto journal = log::Journal::open((*opened)->writer(), key);
  if (!journal) return propagate(journal);
  for (const log::JournalEntry& entry : entries)
    if (auto appended = journal->append(entry); !appended) return appended;
  return {};
}

}  // namespace llamada::llamanet
