#include "interpose/rank_thread.hpp"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

#include "lifecycle/process.hpp"

namespace llamada::mpi::interpose {
namespace {

enum class State { unknown, off, opening, on };

// Written by the first thread of the process alone.
State state = State::unknown;
replay::Determinants* determinants = nullptr;
long rank_pid = 0;

/// mpirun sets both, the second only under REBUILD.
bool is_recorded_rank() { return std::getenv("LLAMADA_RANK") && std::getenv("LLAMADA_RECORD"); }

bool is_first_thread() { return syscall(SYS_gettid) == syscall(SYS_getpid); }

void open() {
  // Whatever joining asks of libc is answered by the kernel.
  state = State::opening;
  rank_pid = syscall(SYS_getpid);
  World* world = early_world();
  if (!world) {
    state = State::off;
    return;
  }
  auto opened = replay::Determinants::open(*world);
  if (!opened) world->aborted(1, fmt::format("the determinants cannot be opened: {}", opened.error().text()));
  // For as long as the process: handlers at exit may ask for the time.
  determinants = opened->release();
  state = State::on;
}

}  // namespace

replay::Determinants* opened_determinants() { return determinants; }

replay::Determinants* determinants_of_caller() {
  if (state == State::off) return nullptr;
  if (state == State::unknown && !is_recorded_rank()) {
    // The environment may not be there yet in the loader's first steps.
    if (environ) state = State::off;
    return nullptr;
  }
  if (state == State::opening || !is_first_thread()) return nullptr;
  if (state == State::unknown) open();
  if (state != State::on || rank_pid != syscall(SYS_getpid)) return nullptr;
  return determinants->active() ? determinants : nullptr;
}

}  // namespace llamada::mpi::interpose
