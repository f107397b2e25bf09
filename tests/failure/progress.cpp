#include "progress.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <chrono>

#include "llamada/llamanet/inspector.hpp"
#include "llamada/mpi/calls.hpp"

namespace llamada::failures {
namespace {

using llamanet::ArenaView;
using llamanet::Inspector;
using log::Counter;

constexpr auto look_every = std::chrono::milliseconds(200);

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Who waits in vain sleeps and wakes and looks again; that is no movement.
bool moves_in_vain(Counter counter) {
  return counter == Counter::sleeps || counter == Counter::wakes || counter == Counter::would_blocks;
}

void add(Movement& sum, const ArenaView& rank) {
  for (std::uint32_t counter = 0; counter < log::counter_count_max; ++counter)
    if (!moves_in_vain(static_cast<Counter>(counter)))
      sum.work += rank.counter(static_cast<Counter>(counter));
  // A new life is a movement, and a step from one state to the next.
  sum.work += 1'000'003 * (10 * std::uint64_t{rank.incarnation()} + static_cast<std::uint64_t>(rank.state()));
  // The index begins anew in each life, so that a sum of the two could stand still by chance; hardly twice.
  sum.calls += rank.call_index();
}

std::string describe(std::uint32_t index, const ArenaView& rank) {
  return fmt::format(
      "rank {}: incarnation {}, state {}{}, in {} (call {}), {} messages sent, {} received, {} collectives, "
      "{} "
      "compared, {} determinants replayed, {} sleeps\n",
      index, rank.incarnation(), static_cast<int>(rank.state()), rank.replaying() ? ", replaying" : "",
      mpi::call_name(static_cast<mpi::CallId>(rank.call_id())), rank.call_index(),
      rank.counter(Counter::messages_sent), rank.counter(Counter::messages_received),
      rank.counter(Counter::collectives), rank.counter(Counter::sends_compared),
      rank.counter(Counter::determinants_replayed), rank.counter(Counter::sleeps));
}

}  // namespace

void HangJudge::see(double now_seconds, const Movement& movement) {
  if (movement == last_) return;
  movements_++;
  calls_moved_ = now_seconds;
  if (movement.work != last_.work) work_moved_ = now_seconds;
  last_ = movement;
}

std::string HangJudge::verdict(double now_seconds) const {
  const double still = now_seconds - calls_moved_, idle = now_seconds - work_moved_;
  if (still > limits_.still_seconds) return fmt::format("nothing has moved for {:.0f} s", still);
  if (idle > limits_.idle_seconds)
    return fmt::format("calls are made, but nothing has come of them for {:.0f} s", idle);
  if (now_seconds > limits_.total_seconds) return fmt::format("it goes on after {:.0f} s", now_seconds);
  return {};
}

ProgressWatch::ProgressWatch(pid_t mpirun, int ranks, HangLimits limits)
    : mpirun_(mpirun),
      ranks_(static_cast<std::size_t>(ranks)),
      start_seconds_(steady_seconds()),
      judge_(limits),
      thread_([this](const std::stop_token& stop) { watch(stop); }) {}

double ProgressWatch::now_seconds() const { return steady_seconds() - start_seconds_; }

std::string ProgressWatch::hung() const {
  const std::lock_guard lock(mutex_);
  return judge_.verdict(now_seconds());
}

int ProgressWatch::movements() const {
  const std::lock_guard lock(mutex_);
  return judge_.movements();
}

std::string ProgressWatch::description() const {
  const std::lock_guard lock(mutex_);
  return description_.empty() ? "no rank was seen\n" : description_;
}

/// Those of all nodes, once they know the arenas of all ranks; empty before. A replacement adopts its
/// predecessor's arena, so that all have been found once and for all.
std::vector<Inspector> ProgressWatch::find_inspectors() const {
  std::vector<Inspector> found;
  std::size_t arenas = 0;
  const auto names = llamanet::find_job_drivers(geteuid(), mpirun_);
  if (!names) return {};
  for (const std::string& name : *names) {
    auto opened = Inspector::open(name);
    if (!opened) return {};
    for (const Inspector::Slot& slot : opened->slots()) arenas += slot.arena ? 1 : 0;
    found.push_back(std::move(*opened));
  }
  return arenas >= ranks_ ? std::move(found) : std::vector<Inspector>();
}

void ProgressWatch::watch(const std::stop_token& stop) {
  std::vector<Inspector> inspectors;
  while (!stop.stop_requested()) {
    if (inspectors.empty()) {
      inspectors = find_inspectors();
    } else {
      Movement sum;
      std::string description;
      for (const Inspector& inspector : inspectors)
        for (const Inspector::Slot& slot : inspector.slots()) {
          if (!slot.arena) continue;
          add(sum, slot.view());
          description += describe(slot.index, slot.view());
        }
      const std::lock_guard lock(mutex_);
      judge_.see(now_seconds(), sum);
      description_ = std::move(description);
    }
    std::this_thread::sleep_for(look_every);
  }
}

}  // namespace llamada::failures
