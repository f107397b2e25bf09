#include "interpose/rank_thread.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "process/own_heap.hpp"
#include "process/process.hpp"

namespace llamada::mpi::interpose {
namespace {

// Where libmpi begins.
extern "C" __attribute__((visibility("hidden"))) const char __ehdr_start[];

enum class State { unknown, off, opening, on };

// Written by the first thread of the process alone, or by the one that calls MPI_Init; asked by all. `state`
// is stored with release order behind the others and loaded with acquire order before them.
std::atomic<State> state{State::unknown};
replay::Determinants* determinants = nullptr;
std::atomic<long> rank_thread{0};  // the kernel's number of it: no child of fork() has the same

bool is_first_thread() { return syscall(SYS_gettid) == syscall(SYS_getpid); }

void open() {
  // Whatever joining asks of libc is answered by the kernel.
  state = State::opening;
  rank_thread = syscall(SYS_gettid);
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

// mpirun sets both, the second only under REBUILD.
bool is_recorded_rank() { return std::getenv("LLAMADA_RANK") && std::getenv("LLAMADA_RECORD"); }

bool replaces_libc() {
  Dl_info found{};
  void* function = dlsym(RTLD_DEFAULT, "clock_gettime");
  return function && dladdr(function, &found) != 0 && found.dli_fbase == __ehdr_start;
}

replay::Determinants* opened_determinants() { return determinants; }

replay::Determinants* determinants_for_init() {
  if (state == State::unknown && is_recorded_rank()) open();
  if (state == State::on) rank_thread = syscall(SYS_gettid);
  return determinants;
}

void become_rank_thread() {
  if (state == State::on) rank_thread = syscall(SYS_gettid);
}

replay::Determinants* determinants_of_caller() {
  if (state == State::off) return nullptr;
  if (state == State::unknown && !is_recorded_rank()) {
    // The environment may not be there yet in the loader's first steps.
    if (environ) state = State::off;
    return nullptr;
  }
  if (state == State::opening) return nullptr;
  if (state == State::unknown && is_first_thread()) open();
  if (state != State::on || rank_thread != syscall(SYS_gettid)) return nullptr;
  if (determinants->is_busy_here() || (own_heap_is_busy_here && own_heap_is_busy_here())) return nullptr;
  return determinants->active() ? determinants : nullptr;
}

}  // namespace llamada::mpi::interpose
