#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

namespace llamada {

/// A mutex for what one thread locks nearly always: the thread that has locked it a few hundred times without
/// another in between takes and leaves it without a locked instruction. The next other thread that comes ends
/// that, with a system call (membarrier) in place of what the fast path leaves out, some microseconds.
/// Where the system has no such call it is a std::mutex. The first one of a process asks for it: make it
/// before there are other threads, or that takes some milliseconds.
///
/// For std::unique_lock, std::lock_guard and std::condition_variable_any. Not recursive. Threads: any. The
/// child of a fork() must not use it.
class BiasedMutex {
 public:
  BiasedMutex();
  BiasedMutex(const BiasedMutex&) = delete;
  BiasedMutex& operator=(const BiasedMutex&) = delete;

  void lock() {
    if (owner_.load(std::memory_order_relaxed) == this_thread_) [[likely]] {
      inside_.store(1, std::memory_order_relaxed);
      // The processor's order of this store and the load behind it is the membarrier's in revoke(): either
      // that sees the store, or this load sees what was stored before it.
      std::atomic_signal_fence(std::memory_order_seq_cst);
      if (owner_.load(std::memory_order_acquire) == this_thread_) [[likely]]
        return;
      leave();
    }
    lock_slowly();
  }

  void unlock() {
    if (!by_mutex_) [[likely]]
      return leave();
    by_mutex_ = false;
    mutex_.unlock();
  }

  /// Whether a thread can take it the fast way just now: for tests.
  bool is_biased() const { return owner_.load(std::memory_order_relaxed) != 0; }

 private:
  void leave() {
    // Pairs with the acquire loads in revoke().
    inside_.store(0, std::memory_order_release);
    std::atomic_signal_fence(std::memory_order_seq_cst);  // as in lock()
    if (owner_.load(std::memory_order_relaxed) != this_thread_) [[unlikely]]
      wake_revoker();
  }
  void lock_slowly();
  void revoke();
  void wake_revoker();

  static constexpr std::uint64_t no_number = UINT64_MAX;
  static inline constinit thread_local std::uint64_t this_thread_ = no_number;

  std::atomic<std::uint64_t> owner_{0};  // the number of the thread that need not take the mutex; 0: none
  std::atomic<int> inside_{0};           // whether it has it, that way
  bool by_mutex_ = false;                // whoever has it holds the mutex
  std::mutex mutex_;
  std::uint64_t latest_ = 0;  // who took the mutex last, and how often in a row
  std::uint32_t streak_ = 0;
};

}  // namespace llamada
