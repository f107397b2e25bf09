#include "threads/call_state.hpp"

#include <atomic>

namespace llamada::mpi {
namespace {

CallState* current = nullptr;

}  // namespace

CallState* call_state_if_any() { return current; }

/// A thread that finds a Runtime, which is stored after it with release order, finds this, too.
void install_call_state(CallState* state) {
  std::atomic_ref(current).store(state, std::memory_order_relaxed);
}

}  // namespace llamada::mpi
