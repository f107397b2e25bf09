#include "p2p/own_core.hpp"

#include <sys/syscall.h>
#include <unistd.h>

namespace llamada::mpi {
namespace {

/// By the bare system call: sched_getcpu is the library's own here, and it is not the program that asks.
int current_core() {
  unsigned core = 0;
  return syscall(SYS_getcpu, &core, nullptr, nullptr) == 0 ? static_cast<int>(core) : -1;
}

}  // namespace

void OwnCore::settle() {
  const int here = current_core();
  if (here < 0 || here >= CPU_SETSIZE) return;
  if (here != said_) say(here);
  if (is_time_to_look()) look_at_others();
}

bool OwnCore::is_time_to_look() {
  const auto now = clock_.monotonic();
  if (now < next_look_) return false;
  next_look_ = now + world_.machine_size() * between_looks;
  return true;
}

void OwnCore::look_at_others() {
  cpu_set_t taken;
  CPU_ZERO(&taken);
  const int first = world_.world_first();
  for (int rank = first; rank < first + world_.world_size(); ++rank) {
    if (rank == world_.rank() || !world_.is_local(rank)) continue;
    const log::PeerArena peer = world_.peer(rank);
    if (!peer.base || peer.header().state.load(std::memory_order_relaxed) !=
                          static_cast<std::uint32_t>(log::ArenaState::in_program))
      continue;
    const auto& area = *reinterpret_cast<const RankArea*>(peer.header().user);
    const std::uint32_t core = area.core.load(std::memory_order_relaxed);
    if (core > 0 && core <= CPU_SETSIZE) CPU_SET(core - 1, &taken);
  }
  if (CPU_ISSET(said_, &taken)) move_from(said_, taken);
}

void OwnCore::move_from(int here, const cpu_set_t& taken) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0 || CPU_COUNT(&allowed) < world_.machine_size())
    return;
  const int core = next_free(here, allowed, taken);
  if (core < 0) return;
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(core, &only);
  if (sched_setaffinity(0, sizeof(only), &only) == 0) say(core);
  sched_setaffinity(0, sizeof(allowed), &allowed);
}

int OwnCore::next_free(int here, const cpu_set_t& allowed, const cpu_set_t& taken) {
  for (int step = 1; step < CPU_SETSIZE; ++step) {
    const int core = (here + step) % CPU_SETSIZE;
    if (CPU_ISSET(core, &allowed) && !CPU_ISSET(core, &taken)) return core;
  }
  return -1;
}

void OwnCore::say(int core) {
  said_ = core;
  auto& area = *reinterpret_cast<RankArea*>(world_.arena().user_area().data());
  area.core.store(static_cast<std::uint32_t>(core) + 1, std::memory_order_relaxed);
}

}  // namespace llamada::mpi
