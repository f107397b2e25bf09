#include "llamada/topics/observe.hpp"

#include "description.hpp"
#include "endpoint_directory.hpp"

namespace llamada::topics {
namespace {

using namespace detail;

/// Who and where.
struct Place {
  std::uint64_t arena_id;
  std::uint32_t slot;
  std::uint32_t pid;
};

std::optional<ParticipantInfo> observe_participant(const log::PeerArena& arena, std::uint32_t index,
                                                   const Place& place) {
  std::uint64_t word = 0;
  const auto bytes = read_description(arena, index, word);
  if (!bytes) return std::nullopt;
  auto info = decode_participant(*bytes);
  if (!info) return std::nullopt;
  info->id = place.arena_id;
  info->slot = place.slot;
  info->pid = place.pid;
  return std::move(*info);
}

void count_published(const log::PeerArena& arena, const EndpointView& view, ObservedEndpoint& observed) {
  if (view.slots == 0) {
    if (view.log >= arena.log_count()) return;
    const log::LogEntry& log = arena.log(view.log);
    observed.published = log.published.load(std::memory_order_relaxed);
    observed.published_bytes = log.published_bytes.load(std::memory_order_relaxed);
    return;
  }
  const bool fits = view.slots % 64 == 0 && view.slots >= sizeof(log::ArenaHeader) &&
                    arena.covers(view.slots, sizeof(log::SlotTable));
  if (!fits) return;
  // Pairs with the release store in SlotStore::commit().
  observed.published = reinterpret_cast<const log::SlotTable*>(arena.base + view.slots)
                           ->latest.load(std::memory_order_acquire);
}

std::optional<ObservedEndpoint> observe_endpoint(const log::PeerArena& arena, std::uint32_t index,
                                                 const EndpointView& view, const Place& place) {
  std::uint64_t word = 0;
  const auto bytes = read_description(arena, index, word);
  if (!bytes) return std::nullopt;
  auto info = decode_endpoint(*bytes);
  if (!info) return std::nullopt;
  info->id = {place.arena_id, static_cast<std::uint32_t>(view.number)};
  info->slot = place.slot;
  info->pid = place.pid;
  ObservedEndpoint observed{std::move(*info)};
  if (observed.info.writer) count_published(arena, view, observed);
  return observed;
}

}  // namespace

ObservedArena observe(const log::PeerArena& arena, std::uint64_t arena_id, std::uint32_t slot) {
  ObservedArena observed;
  if (!arena.ready()) return observed;
  const Place place{arena_id, slot, arena.header().pid.load(std::memory_order_relaxed)};
  for (std::uint32_t index = 0; index < arena.endpoint_count(); ++index) {
    const auto view = view_endpoint(arena, index);
    if (!view || !view->alive) continue;
    if (view->kind == log::EndpointKind::participant) {
      observed.participant = observe_participant(arena, index, place);
    } else if (auto endpoint = observe_endpoint(arena, index, *view, place)) {
      observed.endpoints.push_back(std::move(*endpoint));
    }
  }
  for (std::uint32_t index = 0; index < arena.match_count(); ++index) {
    const auto view = view_match(arena, index);
    if (!view) continue;
    const auto& target = view->target;
    // Pairs with the release store in Stream::absorb().
    observed.matches.push_back({{target.writer_arena, target.writer_number},
                                {arena_id, target.reader_number},
                                (target.flags & log::match_is_reliable) != 0,
                                arena.match(index).acknowledged.load(std::memory_order_acquire),
                                view->number});
  }
  for (std::uint32_t index = 0; index < arena.grant_count(); ++index)
    if (const auto grant = view_grant(arena, index))
      observed.grants.push_back({grant->reader_arena, grant->match_number, grant->sequence});
  return observed;
}

}  // namespace llamada::topics
