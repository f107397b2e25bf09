#include "process/own_heap.hpp"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <bit>
#include <new>

namespace llamada::mpi {
namespace {

/// Address space counts under a limit (ulimit -v), of which most is for the program.
constexpr std::size_t part_of_limit = 16;

std::size_t bytes_to_reserve(std::size_t most, std::size_t unit) {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return most;
  return std::clamp<std::size_t>(limit.rlim_cur / part_of_limit / unit * unit, unit, most);
}

}  // namespace

/// What stands before each block, 16 bytes: its class, or where the next free one is.
struct alignas(16) OwnHeap::Block {
  std::size_t size_class;
  Block* next_free;
};

std::size_t OwnHeap::class_of(std::size_t size_bytes) {
  if (size_bytes <= fine_bytes_max) return size_bytes == 0 ? 0 : (size_bytes - 1) / fine_step_bytes;
  return fine_count + static_cast<std::size_t>(std::bit_width(size_bytes - 1));
}

std::size_t OwnHeap::bytes_of(std::size_t size_class) {
  return size_class < fine_count ? (size_class + 1) * fine_step_bytes
                                 : std::size_t{1} << (size_class - fine_count);
}

bool OwnHeap::reserve() {
  if (begin_) return true;
  reserved_bytes_ = bytes_to_reserve(reserved_bytes_max, commit_bytes);
  void* region =
      mmap(nullptr, reserved_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (region == MAP_FAILED) return false;
  begin_ = next_ = committed_ = static_cast<std::byte*>(region);
  return true;
}

bool OwnHeap::commit_up_to(std::byte* end) {
  while (committed_ < end) {
    if (mprotect(committed_, commit_bytes, PROT_READ | PROT_WRITE) != 0) return false;
    committed_ += commit_bytes;
  }
  return true;
}

OwnHeap::Block* OwnHeap::cut(std::size_t size_class) {
  if (!reserve()) return nullptr;
  const std::size_t size_bytes = sizeof(Block) + bytes_of(size_class);
  if (size_bytes > static_cast<std::size_t>(begin_ + reserved_bytes_ - next_)) return nullptr;
  if (!commit_up_to(next_ + size_bytes)) return nullptr;
  auto* block = new (next_) Block{size_class, nullptr};
  next_ += size_bytes;
  return block;
}

void* OwnHeap::allocate(std::size_t size_bytes) {
  if (size_bytes > reserved_bytes_max / 2) return nullptr;
  const std::size_t size_class = class_of(size_bytes);
  const std::lock_guard lock(mutex_);
  Block* block = free_[size_class];
  if (block)
    free_[size_class] = block->next_free;
  else
    block = cut(size_class);
  return block ? block + 1 : nullptr;
}

void OwnHeap::release(void* memory) {
  Block* block = static_cast<Block*>(memory) - 1;
  const std::lock_guard lock(mutex_);
  block->next_free = free_[block->size_class];
  free_[block->size_class] = block;
}

}  // namespace llamada::mpi
