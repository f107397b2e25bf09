#include "rma/synchronisation.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "p2p/engine.hpp"
#include "runtime/runtime.hpp"

// Who waits does so in the Engine, which serves messages meanwhile; whoever makes true what another waits for
// wakes it.

namespace llamada::mpi::rma {
namespace {

using Access = Epochs::Access;
using Lock = Epochs::Lock;

constexpr std::chrono::milliseconds accumulate_patience{100};

Engine& engine() { return *runtime().engine; }

void wake(Window& window, int rank) {
  if (rank != window.rank()) engine().world().wake(window.member(rank).slot);
}

void order() { std::atomic_thread_fence(std::memory_order_seq_cst); }

/// A program may wait by asking for memory again and again, for something that takes a message first.
void serve_sometimes(Window& window) {
  if (window.time_to_serve()) engine().found_nothing();
}

Fault misplaced(std::string text) { return {MPI_ERR_RMA_SYNC, std::move(text)}; }

Fault check_assertion(int given, int allowed) {
  if ((given & ~allowed) == 0) return {};
  return {MPI_ERR_ASSERT, fmt::format("the assertion {} has bits that this function does not know", given)};
}

const char* what(Access access) {
  switch (access) {
    case Access::start:
      return "MPI_Win_start has begun an epoch that MPI_Win_complete has not ended";
    case Access::lock:
      return "a lock of this window is held";
    case Access::lock_all:
      return "MPI_Win_lock_all has begun an epoch that MPI_Win_unlock_all has not ended";
    case Access::fence:
      return "something was done in an epoch that MPI_Win_fence has begun and not ended";
    default:
      return "no epoch is open";
  }
}

bool has_reached(std::uint32_t counter, std::uint32_t wanted) {
  return static_cast<std::int32_t>(counter - wanted) >= 0;
}

/// What other members of a window are to do.
class AwaitsWindow final : public Awaits {
 public:
  /// `member`: of the window, or no_member for any.
  AwaitsWindow(const Window& window, waits::Kind kind, int member = no_member)
      : window_(window), kind_(kind), member_(member) {}
  void describe(waits::Report& report) const override {
    waits::Awaited awaited;
    awaited.kind = kind_;
    awaited.name = window_.description();
    if (member_ == no_member)
      awaited.ranks = waits::Ranks::of(window_.group()->members());
    else
      awaited.peer = window_.member(member_).slot;
    report.add_awaited(std::move(awaited));
  }

 private:
  static constexpr int no_member = -1;
  const Window& window_;
  waits::Kind kind_;
  int member_;
};

/// The ends of all accesses that this rank has exposed its memory to.
class AwaitsCompletion final : public Awaits {
 public:
  explicit AwaitsCompletion(Window& window) : window_(window) {}
  void describe(waits::Report& report) const override {
    const Epochs& epochs = window_.epochs();
    for (const int origin : epochs.exposed_to) {
      const auto& pair = window_.control().pair(window_.rank(), origin);
      if (!has_reached(pair.completed.load(std::memory_order_acquire), epochs.exposures[origin]))
        AwaitsWindow(window_, waits::Kind::complete, origin).describe(report);
    }
  }

 private:
  Window& window_;
};

bool may_begin(const Epochs& epochs) {
  return epochs.access == Access::none || epochs.access == Access::fence_open;
}

bool all_completed(Window& window) {
  const Epochs& epochs = window.epochs();
  return std::all_of(epochs.exposed_to.begin(), epochs.exposed_to.end(), [&](int origin) {
    const auto& pair = window.control().pair(window.rank(), origin);
    return has_reached(pair.completed.load(std::memory_order_acquire), epochs.exposures[origin]);
  });
}

void end_exposure(Window& window) {
  window.epochs().posted = false;
  window.epochs().exposed_to.clear();
  order();
}

void take_lock(Window& window, int rank, Lock kind) {
  auto& word = window.control().member(rank).lock;
  const auto attempt = [&] { return kind == Lock::exclusive ? word.try_exclusive() : word.try_shared(); };
  if (attempt()) return;
  auto& waits = window.control().member(window.rank()).waits;
  waits.fetch_add(1, std::memory_order_relaxed);  // seen by who sees that somebody waits
  word.begin_waiting();
  bool held = false;
  const AwaitsWindow awaits(window, waits::Kind::lock);
  engine().wait_until([&] { return held || (held = attempt()); }, &awaits);
  word.end_waiting();
  waits.fetch_sub(1, std::memory_order_relaxed);
}

void give_back_lock(Window& window, int rank) {
  Lock& kind = window.epochs().locks[rank];
  auto& word = window.control().member(rank).lock;
  order();
  if (kind == Lock::exclusive) word.unlock_exclusive();
  if (kind == Lock::shared) word.unlock_shared();
  kind = Lock::none;
  if (!word.anybody_waits()) return;
  for (int other = 0; other < window.size(); ++other)
    if (window.control().member(other).waits.load(std::memory_order_relaxed) != 0) wake(window, other);
}

void begin_lock(Window& window, int rank, Lock kind) {
  if (kind != Lock::unchecked) take_lock(window, rank, kind);
  window.epochs().locks[rank] = kind;
}

}  // namespace

void meet(Window& window) {
  auto& meeting = window.control().head().fence;
  const auto ticket = meeting.arrive(static_cast<std::uint32_t>(window.size()));
  const AwaitsWindow awaits(window, waits::Kind::fence);
  if (!ticket.last) return engine().wait_until([&] { return meeting.is_open(ticket); }, &awaits);
  for (int other = 0; other < window.size(); ++other) wake(window, other);
}

Fault fence(Window& window, int assertion) {
  if (auto fault = check_assertion(
          assertion, MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED))
    return fault;
  Epochs& epochs = window.epochs();
  if (!may_begin(epochs) && epochs.access != Access::fence) return misplaced(what(epochs.access));
  if (epochs.posted) return misplaced("MPI_Win_post has begun an exposure that MPI_Win_wait has not ended");
  order();
  meet(window);
  epochs.access = (assertion & MPI_MODE_NOSUCCEED) != 0 ? Access::none : Access::fence_open;
  return {};
}

Fault start(Window& window, std::vector<int> targets, int assertion) {
  if (auto fault = check_assertion(assertion, MPI_MODE_NOCHECK)) return fault;
  Epochs& epochs = window.epochs();
  if (!may_begin(epochs)) return misplaced(what(epochs.access));
  for (int target : targets) {
    ++epochs.starts[target];
    epochs.is_started[target] = true;
  }
  epochs.started = std::move(targets);
  epochs.access = Access::start;
  if ((assertion & MPI_MODE_NOCHECK) != 0) return {};
  for (int target : epochs.started) {
    const auto& posted = window.control().pair(target, window.rank()).posted;
    const AwaitsWindow awaits(window, waits::Kind::post, target);
    engine().wait_until(
        [&] { return has_reached(posted.load(std::memory_order_acquire), epochs.starts[target]); }, &awaits);
  }
  return {};
}

Fault complete(Window& window) {
  Epochs& epochs = window.epochs();
  if (epochs.access != Access::start) return misplaced("MPI_Win_start has not begun an epoch");
  order();
  for (int target : epochs.started) {
    epochs.is_started[target] = false;
    window.control()
        .pair(target, window.rank())
        .completed.store(epochs.starts[target], std::memory_order_release);
    wake(window, target);
  }
  epochs.started.clear();
  epochs.access = Access::none;
  return {};
}

Fault post(Window& window, std::vector<int> origins, int assertion) {
  if (auto fault = check_assertion(assertion, MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT))
    return fault;
  Epochs& epochs = window.epochs();
  if (epochs.posted) return misplaced("MPI_Win_post has begun an exposure that MPI_Win_wait has not ended");
  order();
  for (int origin : origins) {
    const auto exposure = ++epochs.exposures[origin];
    window.control().pair(window.rank(), origin).posted.store(exposure, std::memory_order_release);
    wake(window, origin);
  }
  epochs.exposed_to = std::move(origins);
  epochs.posted = true;
  return {};
}

Fault wait(Window& window) {
  if (!window.epochs().posted) return misplaced("MPI_Win_post has not begun an exposure");
  const AwaitsCompletion awaits(window);
  engine().wait_until([&] { return all_completed(window); }, &awaits);
  end_exposure(window);
  return {};
}

Fault test(Window& window, bool& flag) {
  if (!window.epochs().posted) return misplaced("MPI_Win_post has not begun an exposure");
  flag = all_completed(window);
  if (flag)
    end_exposure(window);
  else
    engine().found_nothing();
  return {};
}

Fault lock(Window& window, int rank, bool exclusive, int assertion) {
  if (auto fault = check_assertion(assertion, MPI_MODE_NOCHECK)) return fault;
  Epochs& epochs = window.epochs();
  if (!may_begin(epochs) && epochs.access != Access::lock) return misplaced(what(epochs.access));
  if (epochs.locks[rank] != Lock::none)
    return misplaced(fmt::format("the lock of rank {} is held already", rank));
  const bool unchecked = (assertion & MPI_MODE_NOCHECK) != 0;
  begin_lock(window, rank, unchecked ? Lock::unchecked : exclusive ? Lock::exclusive : Lock::shared);
  epochs.access = Access::lock;
  ++epochs.lock_count;
  return {};
}

Fault unlock(Window& window, int rank) {
  Epochs& epochs = window.epochs();
  if (epochs.access != Access::lock || epochs.locks[rank] == Lock::none)
    return misplaced(fmt::format("the lock of rank {} is not held", rank));
  give_back_lock(window, rank);
  if (--epochs.lock_count == 0) epochs.access = Access::none;
  serve_sometimes(window);
  return {};
}

Fault lock_all(Window& window, int assertion) {
  if (auto fault = check_assertion(assertion, MPI_MODE_NOCHECK)) return fault;
  Epochs& epochs = window.epochs();
  if (!may_begin(epochs)) return misplaced(what(epochs.access));
  const bool unchecked = (assertion & MPI_MODE_NOCHECK) != 0;
  for (int rank = 0; rank < window.size(); ++rank)
    begin_lock(window, rank, unchecked ? Lock::unchecked : Lock::shared);
  epochs.access = Access::lock_all;
  return {};
}

Fault unlock_all(Window& window) {
  Epochs& epochs = window.epochs();
  if (epochs.access != Access::lock_all) return misplaced("MPI_Win_lock_all has not begun an epoch");
  for (int rank = 0; rank < window.size(); ++rank) give_back_lock(window, rank);
  epochs.access = Access::none;
  serve_sometimes(window);
  return {};
}

void flush_open(Window& window) {
  order();
  serve_sometimes(window);
}

Fault flush(Window& window, int rank) {
  const Epochs& epochs = window.epochs();
  const bool locked = epochs.access == Access::lock && (rank < 0 || epochs.locks[rank] != Lock::none);
  if (!locked && epochs.access != Access::lock_all)
    return misplaced("a flush is for targets whose lock is held, and it is not");
  flush_open(window);
  return {};
}

void sync(Window& window) {
  order();
  serve_sometimes(window);
}

Fault may_access(Window& window, int target, bool passive) {
  Epochs& epochs = window.epochs();
  switch (epochs.access) {
    case Access::lock_all:
      return {};
    case Access::lock:
      if (epochs.locks[target] != Lock::none) return {};
      return misplaced(fmt::format("the lock of rank {} is not held", target));
    case Access::start:
      if (passive) break;
      if (epochs.is_started[target]) return {};
      return misplaced(fmt::format("rank {} is not in the group of MPI_Win_start", target));
    case Access::fence_open:
      if (passive) break;
      epochs.access = Access::fence;
      return {};
    case Access::fence:
      if (passive) break;
      return {};
    case Access::none:
      return misplaced("no epoch is open: call MPI_Win_fence, _start, _lock or _lock_all first");
  }
  return misplaced("operations with a request are for epochs of MPI_Win_lock or MPI_Win_lock_all");
}

Fault may_free(Window& window) {
  const Epochs& epochs = window.epochs();
  if (epochs.posted) return misplaced("MPI_Win_post has begun an exposure that MPI_Win_wait has not ended");
  if (may_begin(epochs) || epochs.access == Access::fence) return {};
  return misplaced(what(epochs.access));
}

AccumulateScope::AccumulateScope(Window& window, int target)
    : lock_(window.control().member(target).accumulate) {
  if (lock_.try_lock()) return;
  // Its holder copies, unless it is dead: then the job ends, or is over already.
  while (!lock_.lock_within(accumulate_patience)) engine().world().sleep([] { return false; });
}

Status detail::carry_out_batch(Window& window, int rank) {
  Batch& batch = window.batch(rank);
  const pid_t pid = window.member(rank).pid;
  if (!batch.has_accumulates()) return batch.carry_out(pid);
  const AccumulateScope atomically(window, rank);
  return batch.carry_out(pid);
}

Status carry_out(Window& window) {
  Status first;
  for (int rank = 0; rank < window.size(); ++rank)
    if (auto status = carry_out(window, rank); !status && first) first = std::move(status);
  return first;
}

}  // namespace llamada::mpi::rma
