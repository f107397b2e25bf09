#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace llamada {

/// A mutex for what one thread, the owner, locks nearly always. A thread becomes the owner when it has locked
/// the mutex a few hundred times without another in between. The owner locks and unlocks without a locked
/// instruction. The next other thread that comes ends that with a system call (membarrier), which replaces
/// the fence that the owner leaves out and takes some microseconds.
///
/// Without that system call it is a std::mutex. The first mutex of a process asks for the call: make it
/// before there are other threads, or asking takes some milliseconds. There is room for eight owners that
/// lost that to another thread and never lock the mutex again (they have ended, say). It is a std::mutex for
/// further threads, and perhaps for some before them.
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
      own_flag().store(1, std::memory_order_relaxed);
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

  /// True if a thread can take it the fast way just now: for tests.
  bool is_biased() const { return owner_.load(std::memory_order_relaxed) != 0; }

 private:
  void leave() {
    // Pairs with the acquire loads in revoke().
    own_flag().store(0, std::memory_order_release);
    std::atomic_signal_fence(std::memory_order_seq_cst);  // as in lock()
    if (owner_.load(std::memory_order_relaxed) != this_thread_) [[unlikely]]
      wake_revoker();
  }
  void lock_slowly();
  void revoke(std::uint64_t owner);
  void wake_revoker();
  void give_up_flag();
  bool take_flag();
  std::atomic<int>& flag_of(std::uint64_t thread) { return inside_[thread % flags_max]; }
  std::uint64_t& flag_user_of(std::uint64_t thread) { return flag_users_[thread % flags_max]; }
  std::atomic<int>& own_flag() { return flag_of(this_thread_); }

  static constexpr std::size_t flags_max = 8;  // the threads k, k + 8, k + 16, … share one
  static constexpr std::uint64_t no_number = UINT64_MAX;
  static inline constinit thread_local std::uint64_t this_thread_ = no_number;

  std::atomic<std::uint64_t> owner_{0};  // the number of the thread that need not take the mutex; 0: none
  // The owner's flag is 1 while it is inside the fast way. Each owner has a flag of its own: a thread that
  // stopped after its look at owner_ sets and clears its flag later, perhaps while the next owner is inside.
  std::array<std::atomic<int>, flags_max> inside_{};
  // The thread whose flag it is, until that thread takes the mutex and so cannot be on the fast way; 0: none.
  // Guarded by mutex_.
  std::array<std::uint64_t, flags_max> flag_users_{};
  bool by_mutex_ = false;  // whoever has it holds the mutex
  std::mutex mutex_;
  std::uint64_t latest_ = 0;  // the thread that took the mutex last, and how often in a row
  std::uint32_t streak_ = 0;
};

}  // namespace llamada
