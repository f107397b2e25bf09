#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "llamada/base/result.hpp"

namespace llamada {

namespace detail {
/// How many fork()s lie between this process and the program's start.
extern std::atomic<std::uint32_t> fork_count;
}  // namespace detail

/// Part of what a child of fork() has a copy of and must leave alone: threads that serve it do not exist
/// there, its locks may be held for good, and the memory it writes is shared with other processes. Knows
/// whether the process that made it is the one that asks.
///
/// Threads: any. One relaxed load; a fork() by system call alone, past libc, is not noticed.
class MadeHere {
 public:
  MadeHere();

  bool holds() const { return forks_ == detail::fork_count.load(std::memory_order_relaxed); }
  /// Errors: precondition_not_met, which names the process.
  Status check() const {
    if (holds()) [[likely]]
      return {};
    return refuse();
  }

 private:
  Status refuse() const;

  std::uint32_t forks_;
  std::int32_t pid_;
};

/// Its destructor never runs, and leak checkers know it: for what a child of fork() must leave alone.
void keep_for_good(std::shared_ptr<const void> thing);

/// One T for each process, made by the first who asks. A child of fork() gets one of its own, and leaves its
/// parent's copy alone. To be a static object, which is constant-initialised. Threads: any.
template <typename T>
class OfThisProcess {
 public:
  constexpr OfThisProcess() = default;

  T& get() {
    Held* held = held_.load(std::memory_order_acquire);
    if (held != nullptr && held->made.holds()) return held->value;
    auto fresh = std::make_unique<Held>();
    fresh->before = held;
    // Release: pairs with the load above. Where another thread was faster, `held` is its.
    if (!held_.compare_exchange_strong(held, fresh.get(), std::memory_order_acq_rel)) return held->value;
    return fresh.release()->value;
  }
  /// Destroys that of this process, if there is one. Nobody may have it.
  void destroy() {
    Held* held = held_.load(std::memory_order_acquire);
    if (held == nullptr || !held->made.holds()) return;
    held_.store(held->before, std::memory_order_release);
    delete held;
  }

 private:
  struct Held {
    MadeHere made;
    T value;
    Held* before = nullptr;  // the parent process's
  };
  std::atomic<Held*> held_{nullptr};
};

}  // namespace llamada
