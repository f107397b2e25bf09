#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "llamada/base/owner_lock.hpp"

namespace llamada::mpi {

/// Memory of the facade's own, apart from the program's heap: a program that orders things by their addresses
/// finds the same ones in a replay, where the facade takes other memory than it did the first time. Blocks of
/// fixed classes of sizes; what is given back is kept for the next one of its class.
///
/// Threads: any.
class OwnHeap {
 public:
  /// Aligned to 16 bytes. Null when the address space or the memory is used up.
  void* allocate(std::size_t size_bytes);
  /// `block` is one that allocate() gave.
  void release(void* block);
  /// Whether the calling thread is in the midst of one of these: it is then in a signal handler that has
  /// interrupted it, and must not call any.
  bool is_busy_here() const { return mutex_.held_here(); }
  bool owns(const void* block) const { return begin_ && block >= begin_ && block < begin_ + reserved_bytes_; }

 private:
  static constexpr std::size_t reserved_bytes_max = std::size_t{1} << 36;
  static constexpr std::size_t commit_bytes = std::size_t{1} << 24;
  static constexpr std::size_t fine_step_bytes = 16;
  static constexpr std::size_t fine_bytes_max = 1024;  ///< above, classes are powers of two
  static constexpr std::size_t fine_count = fine_bytes_max / fine_step_bytes;
  static constexpr std::size_t class_count = fine_count + 64;
  struct Block;

  static std::size_t class_of(std::size_t size_bytes);
  static std::size_t bytes_of(std::size_t size_class);
  bool reserve();
  bool commit_up_to(std::byte* end);
  Block* cut(std::size_t size_class);

  OwnerLock mutex_;
  std::size_t reserved_bytes_ = 0;
  std::byte* begin_ = nullptr;
  std::byte* next_ = nullptr;
  std::byte* committed_ = nullptr;
  std::array<Block*, class_count> free_{};
};

/// OwnHeap::is_busy_here() of libmpi's own operator new. Null in builds for sanitizers, which have no such
/// heap.
[[gnu::weak]] bool own_heap_is_busy_here();

}  // namespace llamada::mpi
