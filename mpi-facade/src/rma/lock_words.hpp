#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

// The lock words of a window, in memory that processes share: zeroed memory is a word that nobody holds.

namespace llamada::mpi::rma {

/// Makes accumulates on one target's memory atomic. Held for the time of a copy and never across a wait, so
/// that who finds it held sleeps in the kernel (a futex) and serves nothing meanwhile.
///
/// Orders: acquire when taken, release when given back; they pair with each other.
class AccumulateLock {
 public:
  bool try_lock() {
    std::uint32_t expected = free;
    return word_.compare_exchange_strong(expected, held, std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }
  /// False when it could not be had within `at_most`: its holder may be dead.
  bool lock_within(std::chrono::nanoseconds at_most);
  void unlock() {
    if (word_.exchange(free, std::memory_order_release) == awaited) [[unlikely]]
      wake_one();
  }

 private:
  static constexpr std::uint32_t free = 0, held = 1, awaited = 2;
  void wake_one();
  std::atomic<std::uint32_t> word_{free};
};

/// The lock of passive target synchronisation on one target: any number of shared holders, or an exclusive
/// one. Who waits does so elsewhere (it has to serve messages meanwhile), and says in waiters() before it
/// looks for the last time; who unlocks asks `anybody_waits()` afterwards and wakes.
///
/// Orders: acquire when taken, seq_cst when given back: the look at waiters_ behind it must not come first.
class TargetLock {
 public:
  bool try_shared() {
    auto now = word_.load(std::memory_order_relaxed);
    while ((now & exclusive) == 0)
      if (word_.compare_exchange_weak(now, now + 1, std::memory_order_acquire, std::memory_order_relaxed))
        return true;
    return false;
  }
  bool try_exclusive() {
    std::uint32_t expected = 0;
    return word_.compare_exchange_strong(expected, exclusive, std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }
  void unlock_shared() { word_.fetch_sub(1, std::memory_order_seq_cst); }
  void unlock_exclusive() { word_.fetch_and(~exclusive, std::memory_order_seq_cst); }

  void begin_waiting() { waiters_.fetch_add(1, std::memory_order_seq_cst); }
  void end_waiting() { waiters_.fetch_sub(1, std::memory_order_relaxed); }
  bool anybody_waits() const { return waiters_.load(std::memory_order_seq_cst) != 0; }

 private:
  static constexpr std::uint32_t exclusive = 0x80000000;
  std::atomic<std::uint32_t> word_{0};
  std::atomic<std::uint32_t> waiters_{0};
};

/// Where all members meet, again and again. The last to arrive opens it for this round.
///
/// Orders: what each has written before it arrived is seen by all who have found it open.
class Meeting {
 public:
  /// What to hand to is_open(); `last`: this member has opened it, and wakes the others.
  struct Ticket {
    std::uint32_t round = 0;
    bool last = false;
  };
  Ticket arrive(std::uint32_t members) {
    const auto round = round_.load(std::memory_order_relaxed);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 < members) return {round, false};
    arrived_.store(0, std::memory_order_relaxed);
    round_.store(round + 1, std::memory_order_release);  // pairs with is_open()
    return {round, true};
  }
  bool is_open(const Ticket& ticket) const { return round_.load(std::memory_order_acquire) != ticket.round; }

 private:
  std::atomic<std::uint32_t> arrived_{0};
  std::atomic<std::uint32_t> round_{0};
};

/// How often a target has exposed its memory to one origin, and how often that origin has completed an access
/// (MPI 3.1, 11.5.2). The target alone writes the first, the origin the second; both only grow.
struct PairCounters {
  std::atomic<std::uint32_t> posted{0};     ///< release; pairs with the origin's acquire
  std::atomic<std::uint32_t> completed{0};  ///< release; pairs with the target's acquire
};

}  // namespace llamada::mpi::rma
