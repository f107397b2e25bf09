#include "llamada/llamanet/own_arena.hpp"

#include "arena_memory.hpp"
#include "llamada/base/crash_point.hpp"

namespace llamada::llamanet {
namespace {

constexpr std::uint64_t prepare_from_bytes = 1 << 20;
constexpr std::uint64_t prepared_ahead_bytes = 2 << 20;

/// What the predecessor was doing is not said of its successor: the state before the incarnation.
void begin_incarnation(log::ArenaWriter& writer, std::uint32_t incarnation, std::uint32_t pid) {
  auto& header = writer.header();
  header.sleeping.store(0, std::memory_order_relaxed);  // a predecessor may have died asleep
  header.call_id.store(0, std::memory_order_relaxed);
  header.call_index.store(0, std::memory_order_relaxed);
  writer.set_state(log::ArenaState::none);
  header.incarnation.store(incarnation, std::memory_order_release);
  header.pid.store(pid, std::memory_order_relaxed);
}

}  // namespace

OwnArena::OwnArena(std::unique_ptr<ArenaMemory> memory) : memory_(std::move(memory)) {}
OwnArena::~OwnArena() = default;

Result<std::unique_ptr<OwnArena>> OwnArena::open(FileDescriptor file, std::uint64_t size_bytes,
                                                 Lengthen lengthen, log::ArenaOptions options, Place place) {
  auto memory = ArenaMemory::map(std::move(file), size_bytes, std::move(lengthen), place == Place::disk);
  if (!memory) return propagate(memory);
  LLAMADA_CRASH_POINT("attach:arena-mapped");
  std::unique_ptr<OwnArena> arena(new OwnArena(std::move(*memory)));
  ArenaMemory& own = *arena->memory_;
  const auto incarnation = options.incarnation, pid = options.pid;
  options.prepare = [&own](std::span<std::byte> memory) { return own.prepare(memory); };
  options.store = [&own](std::span<std::byte> to, std::span<const std::byte> from) {
    return own.store(to, from);
  };
  if (place == Place::disk) {
    options.reserve = [&own](log::Offset end) { return own.reserve(own.data() + end); };
    options.looks_through_pool = false;
  }
  auto opened = log::ArenaWriter::open(own.bytes(), std::move(options));
  if (!opened) return propagate(opened);
  arena->writer_ = std::move(*opened);
  if (!own.reach(own.data() + arena->writer_->pool()))
    return failure(Errc::out_of_resources, "there is no memory for an arena's directories");
  // All that a predecessor may have used is reserved already; this notes it.
  if (auto reserved = own.reserve(own.data() + arena->writer_->granted_end()); !reserved)
    return propagate(reserved);
  begin_incarnation(*arena->writer_, incarnation, pid);
  return arena;
}

Status OwnArena::take_over(std::uint32_t incarnation, std::uint32_t pid) {
  if (auto noted = memory_->follow_file(); !noted) return noted;
  if (auto adopted = writer_->adopt_again(incarnation, pid); !adopted) return adopted;
  begin_incarnation(*writer_, incarnation, pid);
  return {};
}

int OwnArena::file() const { return memory_->file(); }

void OwnArena::prepare_ahead() {
  if (writer_->pool_used() >= prepare_from_bytes)
    memory_->prepare_ahead(writer_->ahead(prepared_ahead_bytes));
}

Status OwnArena::prepare_next(std::uint64_t size_bytes) {
  return memory_->populate(writer_->ahead(size_bytes));
}

int OwnArena::disk_error() const { return memory_->disk_error(); }

void OwnArena::seal() { memory_->seal(); }

}  // namespace llamada::llamanet
