#include "rank_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "llamada/mpi/message_record.hpp"
#include "rank_logs.hpp"

namespace llamada::tools {

Result<RankWatch> RankWatch::open(const std::string& socket_name, const RankWatchOptions& options,
                                  RankWatchEvents& events) {
  auto inspector = llamanet::Inspector::open(socket_name);
  if (!inspector) return propagate(inspector);
  return RankWatch(std::move(*inspector), options, events);
}

RankWatch::RankWatch(llamanet::Inspector inspector, const RankWatchOptions& options, RankWatchEvents& events)
    : inspector_(std::move(inspector)), options_(options), events_(&events) {}
RankWatch::RankWatch(RankWatch&&) noexcept = default;
RankWatch& RankWatch::operator=(RankWatch&&) noexcept = default;
RankWatch::~RankWatch() = default;

bool RankWatch::look() {
  look_at_roster();
  bool any = false;
  for (const auto& rank : ranks_) any |= rank->look(*events_);
  changes_.look(inspector_, *events_);
  has_looked_ = true;
  return any;
}

void RankWatch::look_at_roster() {
  const std::uint64_t generation = inspector_.generation();
  if (has_looked_ && generation == seen_generation_) return;
  // Arenas that could not be mapped are asked for again at the next look.
  if (inspector_.refresh()) seen_generation_ = generation;
  meet_arenas();
}

/// A slot's replacement keeps the arena; a slot that has become another process's has another one.
void RankWatch::meet_arenas() {
  for (const auto& slot : inspector_.slots()) {
    const int rank = static_cast<int>(slot.index);
    if (!slot.arena || (options_.from && *options_.from != rank)) continue;
    const auto known = std::ranges::find_if(ranks_, [&](const auto& each) { return each->rank() == rank; });
    if (known != ranks_.end() && (*known)->arena_id() == slot.arena_id) continue;
    if (known != ranks_.end()) {
      (void)(*known)->look(*events_);  // what the former process sent last
      ranks_.erase(known);
    }
    ranks_.push_back(std::make_unique<RankLogs>(rank, slot.arena_id, slot.arena, options_,
                                                options_.with_history || has_looked_));
  }
}

std::chrono::nanoseconds LookPace::next(bool has_come) {
  constexpr std::chrono::milliseconds shortest(1), longest(10);
  return pause_ = has_come ? shortest : std::min<std::chrono::nanoseconds>(2 * pause_, longest);
}

std::string communicator_name(std::uint32_t context) {
  if (context == mpi::context_of_world) return "MPI_COMM_WORLD";
  if (context == mpi::context_of_self) return "MPI_COMM_SELF";
  return fmt::format("communicator {}", context);
}

}  // namespace llamada::tools
