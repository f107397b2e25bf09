#include "threads/library_lock.hpp"

#include <sched.h>

#include "llamada/base/check.hpp"
#include "llamada/base/pause.hpp"

namespace llamada::mpi {
namespace {

/// How long a thread looks at the lock before it sleeps.
constexpr int looks_before_sleep = 200;
/// How often the same thread comes in while others stand before the door, until it makes way: often enough
/// that giving up the processor costs little beside it.
constexpr std::uint32_t in_a_row_max = 500;
/// For how long the way is made: a thread that was asleep needs some time to come.
constexpr int yields_to_make_way = 20;

}  // namespace

LibraryLock::ThreadId LibraryLock::this_thread() {
  static thread_local const char marker = 0;
  return &marker;
}

void LibraryLock::lock() {
  const ThreadId self = this_thread();
  if (owner_.load(std::memory_order_relaxed) == self) {
    ++depth_;
    return;
  }
  acquire(self);
  if (last_ == self && is_wanted()) {
    if (++in_a_row_ >= in_a_row_max) make_way();
  } else {
    in_a_row_ = 0;
  }
  last_ = self;
}

void LibraryLock::unlock() {
  LLAMADA_CHECK(is_mine());
  if (--depth_ > 0) return;
  owner_.store(nullptr, std::memory_order_relaxed);
  mutex_.unlock();
}

void LibraryLock::acquire(ThreadId self) {
  if (!mutex_.try_lock()) {
    wanting_.fetch_add(1, std::memory_order_relaxed);
    bool taken = false;
    for (int look = 0; !taken && look < looks_before_sleep; ++look) {
      pause_processor();
      taken = owner_.load(std::memory_order_relaxed) == nullptr && mutex_.try_lock();
    }
    if (!taken) mutex_.lock();
    wanting_.fetch_sub(1, std::memory_order_relaxed);
  }
  owner_.store(self, std::memory_order_relaxed);
  acquisitions_.fetch_add(1, std::memory_order_relaxed);
  depth_ = 1;
}

unsigned LibraryLock::let_go() {
  LLAMADA_CHECK(is_mine());
  const unsigned depth = depth_;
  depth_ = 0;
  owner_.store(nullptr, std::memory_order_relaxed);
  mutex_.unlock();
  return depth;
}

void LibraryLock::take_again(unsigned depth) {
  acquire(this_thread());
  depth_ = depth;
}

void LibraryLock::make_way() {
  in_a_row_ = 0;
  const std::uint32_t before = acquisitions_.load(std::memory_order_relaxed);
  const unsigned depth = let_go();
  wait_for_another(before);
  take_again(depth);
}

void LibraryLock::wait_for_another(std::uint32_t acquisitions) {
  for (int i = 0; i < yields_to_make_way; ++i) {
    if (!is_wanted() || acquisitions_.load(std::memory_order_relaxed) != acquisitions) return;
    sched_yield();
  }
}

}  // namespace llamada::mpi
