#include "leases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace llamada::launcher {
namespace {

using State = LifeSign::State;
using std::chrono::nanoseconds;

constexpr int looks_per_lease = 10;
constexpr nanoseconds look_interval_max = std::chrono::seconds(1);

/// Whether the process has done nothing between two looks that both show it unable to do anything.
bool stands_still(const LifeSign& before, const LifeSign& now) {
  return now.state != State::asleep && now.state == before.state && now.progress == before.progress;
}

bool stays_outside(const LifeSign& before, const LifeSign& now) {
  return before.outside_mpi && now.outside_mpi && before.call_index == now.call_index;
}

Silence silence_of(State state) {
  if (state == State::stopped) return Silence::stopped;
  return state == State::frozen ? Silence::frozen : Silence::starved;
}

}  // namespace

Leases::Leases(const qos::Liveliness& policy) : policy_(policy) {}

nanoseconds Leases::look_interval() const {
  return std::min(policy_.lease_duration / looks_per_lease, look_interval_max);
}

void Leases::begin_look(TimePoint now, bool held) {
  const nanoseconds since = last_look_ ? now - *last_look_ : nanoseconds(0);
  last_look_ = now;
  elapsed_ = held ? nanoseconds(0) : counted(since, look_interval());
}

std::optional<LeaseFinding> Leases::see(std::uint32_t slot, const LifeSign& sign) {
  Lease& lease = leases_[slot];
  if (lease.last.pid != sign.pid) lease = Lease{};
  const LifeSign before = std::exchange(lease.last, sign);
  if (lease.over) return look_at_dead(lease);
  if (sign.tracer != 0) {
    lease.still = lease.outside = nanoseconds(0);
    if (std::exchange(lease.debugger_told, true)) return std::nullopt;
    return LeaseFinding{LeaseFinding::Kind::debugger, {}, 0, sign.tracer};
  }
  const bool same = before.pid == sign.pid && before.tracer == 0;
  lease.still = same && stands_still(before, sign) ? lease.still + elapsed_ : nanoseconds(0);
  lease.outside = same && stays_outside(before, sign) ? lease.outside + elapsed_ : nanoseconds(0);
  return judge(lease);
}

std::optional<LeaseFinding> Leases::judge(Lease& lease) const {
  const bool is_manual = policy_.kind != qos::LivelinessKind::automatic;
  nanoseconds silent_for{0};
  if (lease.still >= policy_.lease_duration) {
    lease.over = silence_of(lease.last.state);
    silent_for = lease.still;
  } else if (is_manual && lease.outside >= policy_.lease_duration) {
    lease.over = Silence::outside_mpi;
    silent_for = lease.outside;
  }
  if (!lease.over) return std::nullopt;
  return LeaseFinding{LeaseFinding::Kind::over, *lease.over, silent_for.count(), 0};
}

/// A process that the kernel does not let die: one that is starved or frozen takes SIGKILL only when it goes
/// on.
std::optional<LeaseFinding> Leases::look_at_dead(Lease& lease) const {
  lease.since_over += elapsed_;
  if (lease.since_over < policy_.lease_duration || std::exchange(lease.lingering_told, true))
    return std::nullopt;
  return LeaseFinding{LeaseFinding::Kind::lingering, *lease.over, 0, 0};
}

std::string describe_silence(const LeaseFinding& finding, nanoseconds lease) {
  constexpr const char* ways[] = {"was stopped", "was frozen (by its control group)",
                                  "was given no processor", "was outside MPI"};
  const double seconds = std::chrono::duration<double>(nanoseconds(finding.silent_for_ns)).count();
  return fmt::format("{} for {:.1f} s, longer than the LIVELINESS lease of {}",
                     ways[static_cast<std::size_t>(finding.silence)], seconds, qos::to_string(lease));
}

}  // namespace llamada::launcher
