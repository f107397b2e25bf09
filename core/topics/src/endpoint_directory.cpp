#include "endpoint_directory.hpp"

#include <algorithm>
#include <cstring>

#include "llamada/base/crash_point.hpp"
#include "llamada/base/rounding.hpp"

namespace llamada::topics::detail {
namespace {

constexpr std::uint64_t description_size_max_bytes = 1 << 20;

void copy_cut(std::span<char> to, std::string_view text) {
  std::fill(to.begin(), to.end(), '\0');
  std::copy_n(text.begin(), std::min(text.size(), to.size() - 1), to.begin());
}

/// An index for a new entry: one that is free, or the next.
Result<std::uint32_t> free_index(std::vector<std::uint32_t>& free, std::uint32_t count,
                                 std::uint32_t count_max, const char* what) {
  if (!free.empty()) return free.back();
  if (count < count_max) return count;
  return failure(Errc::out_of_resources,
                 "a participant can have {} {}, and all are in use; close some of its entities, or make "
                 "another participant",
                 count_max, what);
}

}  // namespace

EndpointDirectory::EndpointDirectory(log::ArenaWriter& arena)
    // At least one change was announced for each number that was ever given out here.
    : arena_(arena), last_number_(arena.header().changes.load(std::memory_order_relaxed)) {
  for (std::uint32_t index = 0; index < arena_.own().endpoint_count(); ++index)
    if (arena_.endpoint(index).alive.load(std::memory_order_relaxed) == 0) free_endpoints_.push_back(index);
  for (std::uint32_t index = 0; index < arena_.own().match_count(); ++index) free_matches_.push_back(index);
  for (std::uint32_t index = 0; index < arena_.own().grant_count(); ++index) free_grants_.push_back(index);
}

Result<std::uint32_t> EndpointDirectory::add(const EndpointSketch& sketch,
                                             std::span<const std::byte> description) {
  const std::uint32_t used = arena_.notes().endpoint_count;
  auto index =
      free_index(free_endpoints_, used, arena_.notes().endpoint_count_max, "endpoints, one of them its own");
  if (!index) return index;
  auto described = store(description, 0);
  if (!described) return propagate(described);
  log::EndpointEntry& to = entry(*index);
  to.number.store(0, std::memory_order_relaxed);
  // What follows comes after it: pairs with view_endpoint().
  std::atomic_thread_fence(std::memory_order_release);
  to.kind = static_cast<std::uint32_t>(sketch.kind);
  to.log = sketch.log;
  to.slots = sketch.slots;
  copy_cut(to.topic, sketch.topic);
  copy_cut(to.type, sketch.type);
  copy_cut(to.qos, sketch.qos);
  to.reliability = sketch.reliability;
  to.durability = sketch.durability;
  to.asserted_ns.store(0, std::memory_order_relaxed);
  to.asserted_manually_ns.store(0, std::memory_order_relaxed);
  to.waits.store(0, std::memory_order_relaxed);
  to.description.store(*described, std::memory_order_release);
  to.alive.store(1, std::memory_order_relaxed);
  LLAMADA_CRASH_POINT("endpoint:written");
  to.number.store(next_number(), std::memory_order_release);  // pairs with view_endpoint()
  LLAMADA_CRASH_POINT("endpoint:numbered");
  if (*index == used)
    arena_.set_endpoint_count(used + 1);
  else
    free_endpoints_.pop_back();
  announce();
  LLAMADA_CRASH_POINT("endpoint:announced");
  return index;
}

Result<std::uint64_t> EndpointDirectory::store(std::span<const std::byte> description,
                                               std::uint64_t version) {
  const std::uint64_t size_bytes = description.size();
  if (size_bytes > description_size_max_bytes)
    return failure(Errc::out_of_resources,
                   "names and QoS of an endpoint have {} bytes, at most {} are allowed", size_bytes,
                   description_size_max_bytes);
  auto chunk = arena_.allocate({0, rounded_up(sizeof(size_bytes) + size_bytes, 64)}, 0);
  if (!chunk) return propagate(chunk);
  std::byte* to = arena_.base() + chunk->payload();
  std::memcpy(to, &size_bytes, sizeof(size_bytes));
  std::copy(description.begin(), description.end(), to + sizeof(size_bytes));
  return log::DescriptionPlace::make(chunk->offset, version);
}

Status EndpointDirectory::describe(std::uint32_t index, std::span<const std::byte> description) {
  const std::uint64_t old = entry(index).description.load(std::memory_order_relaxed);
  auto described = store(description, log::DescriptionPlace::version(old) + 1);
  if (!described) return propagate(described);
  LLAMADA_CRASH_POINT("describe:written");
  entry(index).description.store(*described, std::memory_order_release);  // pairs with read_description()
  LLAMADA_CRASH_POINT("describe:committed");
  free_description(old);
  announce();
  return {};
}

void EndpointDirectory::free_description(std::uint64_t word) {
  // Whoever gets the memory next writes after the word that led there was changed.
  std::atomic_thread_fence(std::memory_order_release);
  if (auto chunk = log::read_chunk(arena_.own(), log::DescriptionPlace::chunk(word))) arena_.release(*chunk);
}

void EndpointDirectory::bury(std::uint32_t index) {
  // Release: what was published can be seen by who sees this. Pairs with view_endpoint().
  entry(index).alive.store(0, std::memory_order_release);
  LLAMADA_CRASH_POINT("endpoint:buried");
  announce();
}

void EndpointDirectory::remove(std::uint32_t index) {
  log::EndpointEntry& from = entry(index);
  from.alive.store(0, std::memory_order_release);
  from.number.store(0, std::memory_order_release);
  LLAMADA_CRASH_POINT("endpoint:removed");
  const std::uint64_t description = from.description.exchange(0, std::memory_order_acq_rel);
  free_description(description);
  free_endpoints_.push_back(index);
  announce();
}

log::MatchEntry& EndpointDirectory::match(std::uint32_t index) {
  return reinterpret_cast<log::MatchEntry*>(arena_.base() + arena_.notes().match_directory)[index];
}

Result<std::uint32_t> EndpointDirectory::add_match(const MatchTarget& target) {
  const std::uint32_t used = arena_.notes().match_count;
  auto index =
      free_index(free_matches_, used, arena_.notes().match_count_max, "matches of its readers with writers");
  if (!index) return index;
  log::MatchEntry& to = match(*index);
  to.writer_arena = target.writer_arena;
  to.writer_number = target.writer_number;
  to.reader_number = target.reader_number;
  to.flags = target.flags;
  to.cursor.consumed.store(0, std::memory_order_relaxed);
  to.acknowledged.store(0, std::memory_order_relaxed);
  to.released.store(0, std::memory_order_relaxed);
  for (auto& hold : to.holds) hold.store(0, std::memory_order_relaxed);
  LLAMADA_CRASH_POINT("match:written");
  to.number.store(next_number(), std::memory_order_release);  // pairs with view_match()
  LLAMADA_CRASH_POINT("match:numbered");
  if (*index == used)
    arena_.set_match_count(used + 1);
  else
    free_matches_.pop_back();
  announce();
  LLAMADA_CRASH_POINT("match:announced");
  return index;
}

void EndpointDirectory::remove_match(std::uint32_t index) {
  match(index).number.store(0, std::memory_order_release);  // pairs with view_match()
  // A new match in this place is written after it.
  std::atomic_thread_fence(std::memory_order_release);
  LLAMADA_CRASH_POINT("match:removed");
  free_matches_.push_back(index);
  announce();
}

Result<std::uint32_t> EndpointDirectory::add_grant(const Grant& grant) {
  const std::uint32_t used = arena_.notes().grant_count;
  auto index =
      free_index(free_grants_, used, arena_.notes().grant_count_max, "matches of its writers with readers");
  if (!index) return index;
  auto& to = reinterpret_cast<log::GrantEntry*>(arena_.base() + arena_.notes().grant_directory)[*index];
  to.reader_arena = grant.reader_arena;
  to.match_index = grant.match_index;
  to.sequence = grant.sequence;
  to.chunk = grant.position.chunk;
  to.generation = grant.position.generation;
  to.cell = grant.position.cell;
  to.ordinal = grant.position.ordinal;
  LLAMADA_CRASH_POINT("grant:written");
  to.number.store(grant.match_number, std::memory_order_release);  // pairs with view_grant()
  LLAMADA_CRASH_POINT("grant:numbered");
  if (*index == used)
    arena_.set_grant_count(used + 1);
  else
    free_grants_.pop_back();
  announce();
  LLAMADA_CRASH_POINT("grant:announced");
  return index;
}

void EndpointDirectory::remove_grant(std::uint32_t index) {
  auto& from = reinterpret_cast<log::GrantEntry*>(arena_.base() + arena_.notes().grant_directory)[index];
  from.number.store(0, std::memory_order_release);  // pairs with view_grant()
  std::atomic_thread_fence(std::memory_order_release);
  free_grants_.push_back(index);
}

std::optional<EndpointView> view_endpoint(const log::PeerArena& arena, std::uint32_t index) {
  const log::EndpointEntry& entry = arena.endpoint(index);
  EndpointView view;
  view.number = entry.number.load(std::memory_order_acquire);  // pairs with EndpointDirectory::add()
  if (view.number == 0) return std::nullopt;
  struct {
    std::uint32_t kind, log;
  } first;
  log::copy_racing(reinterpret_cast<std::byte*>(&first), reinterpret_cast<const std::byte*>(&entry),
                   sizeof(first));
  log::copy_racing(reinterpret_cast<std::byte*>(&view.slots),
                   reinterpret_cast<const std::byte*>(&entry.slots), sizeof(view.slots));
  view.kind = static_cast<log::EndpointKind>(first.kind);
  view.log = first.log;
  view.description = entry.description.load(std::memory_order_relaxed);
  view.alive = entry.alive.load(std::memory_order_acquire) != 0;  // pairs with bury()
  std::atomic_thread_fence(std::memory_order_acquire);
  if (entry.number.load(std::memory_order_relaxed) != view.number) return std::nullopt;
  return view;
}

std::optional<std::vector<std::byte>> read_description(const log::PeerArena& arena, std::uint32_t index,
                                                       std::uint64_t& word) {
  const log::EndpointEntry& entry = arena.endpoint(index);
  word = entry.description.load(std::memory_order_acquire);  // pairs with EndpointDirectory::describe()
  auto chunk = log::read_chunk_racing(arena, log::DescriptionPlace::chunk(word));
  std::uint64_t size_bytes = 0;
  if (!chunk || chunk->payload_bytes < sizeof(size_bytes) ||
      !arena.covers(chunk->payload(), sizeof(size_bytes)))
    return std::nullopt;
  const std::byte* from = arena.base + chunk->payload();
  log::copy_racing(reinterpret_cast<std::byte*>(&size_bytes), from, sizeof(size_bytes));
  if (size_bytes > chunk->payload_bytes - sizeof(size_bytes) || size_bytes > description_size_max_bytes ||
      !arena.covers(chunk->payload() + sizeof(size_bytes), size_bytes))
    return std::nullopt;
  std::vector<std::byte> bytes(size_bytes);
  log::copy_racing(bytes.data(), from + sizeof(size_bytes), size_bytes);
  std::atomic_thread_fence(std::memory_order_acquire);
  if (entry.description.load(std::memory_order_relaxed) != word) return std::nullopt;
  return bytes;
}

std::optional<MatchView> view_match(const log::PeerArena& arena, std::uint32_t index) {
  const log::MatchEntry& entry = arena.match(index);
  MatchView view;
  view.number = entry.number.load(std::memory_order_acquire);  // pairs with EndpointDirectory::add_match()
  if (view.number == 0) return std::nullopt;
  log::copy_racing(reinterpret_cast<std::byte*>(&view.target), reinterpret_cast<const std::byte*>(&entry) + 8,
                   sizeof(view.target));
  std::atomic_thread_fence(std::memory_order_acquire);
  if (entry.number.load(std::memory_order_relaxed) != view.number) return std::nullopt;
  return view;
}

std::optional<EndpointDirectory::Grant> view_grant(const log::PeerArena& arena, std::uint32_t index) {
  const log::GrantEntry& entry = arena.grant(index);
  EndpointDirectory::Grant grant;
  grant.match_number = entry.number.load(std::memory_order_acquire);  // pairs with add_grant()
  if (grant.match_number == 0) return std::nullopt;
  struct {
    std::uint32_t reader_arena, match_index;
    std::uint64_t sequence, chunk;
    std::uint32_t generation, cell;
    std::uint64_t ordinal;
  } copy;
  log::copy_racing(reinterpret_cast<std::byte*>(&copy), reinterpret_cast<const std::byte*>(&entry) + 8,
                   sizeof(copy));
  std::atomic_thread_fence(std::memory_order_acquire);
  if (entry.number.load(std::memory_order_relaxed) != grant.match_number) return std::nullopt;
  grant.reader_arena = copy.reader_arena;
  grant.match_index = copy.match_index;
  grant.sequence = copy.sequence;
  grant.position = {copy.chunk, copy.generation, copy.cell, copy.ordinal};
  return grant;
}

}  // namespace llamada::topics::detail
