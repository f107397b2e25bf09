#include "driver_arena.hpp"

#include <unistd.h>

#include "llamada/llamanet/driver_page.hpp"
#include "llamada/llamanet/shared_memory.hpp"

namespace llamada::llamanet {

Result<DriverArena> DriverArena::open(const MemorySource& memory, std::uint64_t size_bytes) {
  auto file = memory.create_growing("llamada-driver", size_bytes, arena_bytes_at_first);
  if (!file) return propagate(file);
  auto event = create_eventfd();
  if (!event) return propagate(event);
  log::ArenaOptions options;
  options.pid = static_cast<std::uint32_t>(::getpid());
  // Nobody can do for a driver what it may not do itself.
  auto arena = OwnArena::open(
      std::move(*file), size_bytes, [] { return false; }, std::move(options));
  if (!arena) return propagate(arena);
  DriverArena made;
  made.arena_ = std::move(*arena);
  made.event_ = std::move(*event);
  made.writer().header().sleeping.store(1, std::memory_order_relaxed);
  made.writer().set_state(log::ArenaState::attached);
  return made;
}

}  // namespace llamada::llamanet
