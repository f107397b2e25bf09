// libmpi's own operator new and delete (libstdc++ is linked into it, and makes of these two all other forms
// but those with an alignment; nobody outside sees any of it). Under rank_replacement REBUILD they take from
// a heap of their own; else, and for memory that another library handed over, they are the process's.

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "lifecycle/own_heap.hpp"

namespace {

using New = void* (*)(std::size_t);
using Delete = void (*)(void*);

constinit llamada::mpi::OwnHeap heap;

bool is_recorded_rank() {
  static const bool is_one = std::getenv("LLAMADA_RANK") && std::getenv("LLAMADA_RECORD");
  return is_one;
}

/// The process's function of that name: the program's own, or that of the libstdc++ that all others share.
template <typename Function>
Function global(std::atomic<Function>& found, const char* name) {
  Function function = found.load(std::memory_order_relaxed);  // whoever looks for it finds the same
  if (!function) {
    function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
    found.store(function, std::memory_order_relaxed);
  }
  return function;
}

void* global_new(std::size_t size_bytes) {
  static constinit std::atomic<New> found{nullptr};
  if (New function = global(found, "_Znwm")) return function(size_bytes);
  void* memory = std::malloc(size_bytes ? size_bytes : 1);
  if (!memory) std::abort();
  return memory;
}

void global_delete(void* memory) {
  static constinit std::atomic<Delete> found{nullptr};
  if (Delete function = global(found, "_ZdlPv")) return function(memory);
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t size_bytes) {
  if (environ && is_recorded_rank())
    if (void* memory = heap.allocate(size_bytes)) return memory;
  return global_new(size_bytes);
}

void operator delete(void* memory) noexcept {
  if (!memory) return;
  if (heap.owns(memory)) return heap.release(memory);
  global_delete(memory);
}

void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
