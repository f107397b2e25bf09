#pragma once

#include <pthread.h>
#include <sched.h>

#include <atomic>

namespace llamada {

/// A lock for short work that knows who holds it. A signal handler asks held_here() whether its own thread
/// was interrupted while it held the lock. If so, it must not take the lock: it would wait forever.
///
/// Threads: any. Also for std::lock_guard.
class OwnerLock {
 public:
  void lock() {
    const pthread_t self = pthread_self();
    pthread_t nobody{};
    // Acquire: what the holder before has written. The owner and the lock are one word, so that no handler
    // can come between them.
    while (
        !owner_.compare_exchange_weak(nobody, self, std::memory_order_acquire, std::memory_order_relaxed)) {
      if (nobody != pthread_t{}) sched_yield();
      nobody = pthread_t{};
    }
  }
  void unlock() { owner_.store(pthread_t{}, std::memory_order_release); }
  /// Relaxed: a thread sees its own stores, and only these give true.
  bool held_here() const { return owner_.load(std::memory_order_relaxed) == pthread_self(); }

 private:
  std::atomic<pthread_t> owner_{};
};

}  // namespace llamada
