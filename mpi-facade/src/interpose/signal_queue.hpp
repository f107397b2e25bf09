#pragma once

#include <signal.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

namespace llamada::mpi::interpose {

/// Signals that have come and are not yet handled, in their order. A signal below SIGRTMIN is there once, as
/// in the kernel.
///
/// Threads: any may add, also in handlers of signals that interrupt another add() or take(); one takes.
class SignalQueue {
 public:
  static constexpr std::size_t capacity = 128;

  /// False if there is no room for it.
  bool add(const siginfo_t& info) {
    if (info.si_signo < 32 && is_there(info.si_signo)) return true;
    for (Place& place : places_) {
      int expected = is_free;
      if (!place.state.compare_exchange_strong(expected, is_written, std::memory_order_acquire)) continue;
      place.info = info;
      place.signal.store(info.si_signo, std::memory_order_relaxed);
      place.number = next_number_.fetch_add(1, std::memory_order_relaxed);
      count_.fetch_add(1, std::memory_order_relaxed);
      place.state.store(is_full, std::memory_order_release);  // pairs with take()
      return true;
    }
    return false;
  }

  /// The one that came first.
  std::optional<siginfo_t> take() {
    if (is_empty()) return std::nullopt;
    Place* first = nullptr;
    for (Place& place : places_)
      if (place.state.load(std::memory_order_acquire) == is_full && (!first || place.number < first->number))
        first = &place;
    if (!first) return std::nullopt;
    const siginfo_t info = first->info;
    count_.fetch_sub(1, std::memory_order_relaxed);
    first->state.store(is_free, std::memory_order_release);  // pairs with add()
    return info;
  }

  bool is_empty() const { return count_.load(std::memory_order_relaxed) == 0; }

 private:
  static constexpr int is_free = 0, is_written = 1, is_full = 2;
  struct Place {
    std::atomic<int> state{is_free};
    std::atomic<int> signal{0};
    std::uint64_t number = 0;
    siginfo_t info{};
  };

  bool is_there(int signal) const {
    for (const Place& place : places_)
      if (place.state.load(std::memory_order_acquire) == is_full &&
          place.signal.load(std::memory_order_relaxed) == signal)
        return true;
    return false;
  }

  std::array<Place, capacity> places_{};
  std::atomic<std::uint64_t> next_number_{0};
  std::atomic<std::uint64_t> count_{0};
};

}  // namespace llamada::mpi::interpose
