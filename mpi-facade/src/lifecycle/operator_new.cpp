// libmpi's own operator new and delete (libstdc++ is linked into it, and makes of these two all other forms
// but those with an alignment; nobody outside sees any of it, and no other library in C++ hands memory over).
// Under rank_replacement REBUILD they take from a heap of their own, else from malloc.

#include <unistd.h>

#include <cstdlib>
#include <new>

#include "process/own_heap.hpp"

namespace {

constinit llamada::mpi::OwnHeap heap;

bool is_recorded_rank() {
  static const bool is_one = std::getenv("LLAMADA_RANK") && std::getenv("LLAMADA_RECORD");
  return is_one;
}

}  // namespace

namespace llamada::mpi {
bool own_heap_is_busy_here() { return heap.is_busy_here(); }
}  // namespace llamada::mpi

void* operator new(std::size_t size_bytes) {
  if (environ && is_recorded_rank())
    if (void* memory = heap.allocate(size_bytes)) return memory;
  void* memory = std::malloc(size_bytes ? size_bytes : 1);
  if (!memory) throw std::bad_alloc();
  return memory;
}

void operator delete(void* memory) noexcept {
  if (!memory) return;
  if (heap.owns(memory)) return heap.release(memory);
  std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
