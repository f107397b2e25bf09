#include "rank_changes.hpp"

#include <utility>

#include "llamada/mpi/calls.hpp"
#include "llamada/qos/rank_deadline.hpp"
#include "llamada/qos/serialization.hpp"

namespace llamada::tools {
namespace {

using llamanet::SlotState;

/// A replacement takes over its predecessor's arena, whose header says for a moment what that one did.
constexpr std::chrono::milliseconds doubted_for(100);

/// The driver sees each end as a death first, and then its host says that it was none.
bool has_died(const llamanet::Inspector::Slot& slot) {
  const bool is_dead = slot.state == SlotState::dead || is_lost(slot.state);
  return is_dead && slot.view().state() < log::ArenaState::finalized;
}

}  // namespace

std::string_view to_string(RankChangeKind kind) {
  switch (kind) {
    case RankChangeKind::started:
      return "started";
    case RankChangeKind::died:
      return "died";
    case RankChangeKind::replaced:
      return "replaced";
    case RankChangeKind::live:
      return "live";
    case RankChangeKind::ended:
      return "ended";
    case RankChangeKind::protection_ended:
      return "protection_ended";
    case RankChangeKind::deadline_missed:
      return "deadline_missed";
  }
  return "unknown";
}

void RankChanges::look(const llamanet::Inspector& job, RankChangeEvents& events) {
  if (!deadline_) {
    const auto profile = qos::deserialize(job.profile());
    deadline_ = profile ? qos::deadline_for_ranks(*profile) : qos::duration_infinite;
  }
  for (const auto& slot : job.slots()) look_at(slot, events);
  if (is_protected_ && !job.is_protected()) {
    is_protected_ = false;
    events.on_change({RankChangeKind::protection_ended, -1, 0, 0});
  }
}

void RankChanges::look_at(const llamanet::Inspector::Slot& slot, RankChangeEvents& events) {
  const int rank = static_cast<int>(slot.index);
  Known& known = ranks_[slot.index];
  if (slot.arena_id != 0 && known.arena_id != slot.arena_id) {  // another process's slot from now on
    known = Known{};
    known.arena_id = slot.arena_id;
  }
  const bool runs = slot.state == SlotState::attached;
  if (known.incarnation == 0) {
    if (!runs) return;
    known.incarnation = slot.incarnation;
    events.on_change({RankChangeKind::started, rank, slot.incarnation, slot.pid});
  }
  const auto die = [&] {
    if (!std::exchange(known.is_dead, true))
      events.on_change({RankChangeKind::died, rank, known.incarnation, 0});
  };
  while (known.incarnation < slot.incarnation) {
    die();
    known = {.arena_id = known.arena_id, .incarnation = known.incarnation + 1};
    const bool is_last = known.incarnation == slot.incarnation;
    events.on_change({RankChangeKind::replaced, rank, known.incarnation, is_last && runs ? slot.pid : 0});
  }
  if (has_died(slot)) die();
  if (runs) look_for_live(slot, known, events);
  if (runs) look_at_deadline(slot, known, events);
  if (slot.state == SlotState::done && !known.has_ended) {
    known.has_ended = true;
    // Only a live rank ends in order.
    if (known.incarnation > 1 && !known.is_live)
      events.on_change({RankChangeKind::live, rank, known.incarnation, 0});
    events.on_change({RankChangeKind::ended, rank, known.incarnation, 0});
  }
}

/// The first incarnation is live from the start.
void RankChanges::look_for_live(const llamanet::Inspector::Slot& slot, Known& known,
                                RankChangeEvents& events) {
  if (known.is_live || known.incarnation == 1) return;
  const llamanet::ArenaView view = slot.view();
  if (view.incarnation() != known.incarnation) return;
  const bool is_in_program = view.state() >= log::ArenaState::in_program;
  if (!is_in_program || view.replaying()) {
    known.has_begun = true;
    known.seems_live_since = {};
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (known.seems_live_since == std::chrono::steady_clock::time_point{}) known.seems_live_since = now;
  if (!known.has_begun && now - known.seems_live_since < doubted_for) return;
  known.is_live = true;
  events.on_change({RankChangeKind::live, static_cast<int>(slot.index), known.incarnation, slot.pid});
}

/// Told once for each stay in a call.
void RankChanges::look_at_deadline(const llamanet::Inspector::Slot& slot, Known& known,
                                   RankChangeEvents& events) const {
  if (*deadline_ == qos::duration_infinite) return;
  const llamanet::ArenaView view = slot.view();
  const std::uint32_t call = view.call_id();
  const bool is_in_call =
      call != 0 && view.state() == log::ArenaState::in_program && view.incarnation() == known.incarnation;
  Stay& stay = known.stay;
  const auto now = std::chrono::steady_clock::now();
  if (!is_in_call || stay.call_index != view.call_index()) stay = {view.call_index(), now, false};
  if (!is_in_call || stay.is_told || now - stay.since < *deadline_) return;
  stay.is_told = true;
  events.on_change({RankChangeKind::deadline_missed, static_cast<int>(slot.index), known.incarnation,
                    slot.pid, stay.call_index, mpi::call_name(static_cast<mpi::CallId>(call))});
}

}  // namespace llamada::tools
