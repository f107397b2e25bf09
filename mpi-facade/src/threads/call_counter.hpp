#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "llamada/mpi/calls.hpp"

namespace llamada::mpi {

/// The MPI call that the rank is in, and how many it has begun; published for those who watch the rank. Each
/// word is written by this rank alone and read by others without order.
///
/// Threads: one at a time. If several threads may call MPI, the thread that holds the lock makes the current
/// call.
class CallCounter {
 public:
  /// Publishes to these words of the arena from now on; they must outlive the counter.
  void publish_to(std::atomic<std::uint32_t>* id, std::atomic<std::uint64_t>* index) {
    published_id_ = id;
    published_index_ = index;
  }
  /// Calls `action` when the `index`th call (from 1) begins, after it has been published. Of several actions
  /// for one call the one given first comes first.
  void watch(std::uint64_t index, std::function<void()> action);
  /// Calls `attend` when the next call begins, and then at the call that it gives (never: no_call), or when
  /// the call after interrupt() begins.
  void attend(std::function<std::uint64_t()> attend) {
    attend_ = std::move(attend);
    interrupt();
  }
  static constexpr std::uint64_t no_call = ~std::uint64_t{0};
  /// A handler of a signal may call this.
  void interrupt() {
    interrupted_.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    watched_.store(0, std::memory_order_relaxed);
  }

  /// Nothing is watched for any more; attend() stays.
  void forget_watches() {
    watches_.clear();
    look_ahead();
  }

  /// The present call is the `index`th.
  void go_on_at(std::uint64_t index) {
    published_index_->store(begun_ = index, std::memory_order_relaxed);
    look_ahead();
  }

  CallId current() const { return current_; }
  std::uint64_t begun() const { return begun_; }

  /// Begins a call; gives back the one around it (a callback of the program may call MPI), for leave().
  CallId enter(CallId id) {
    const CallId outer = current_;
    current_ = id;
    published_index_->store(++begun_, std::memory_order_relaxed);
    published_id_->store(static_cast<std::uint32_t>(id), std::memory_order_relaxed);
    if (begun_ >= watched_.load(std::memory_order_relaxed)) [[unlikely]]
      act();
    return outer;
  }
  void leave(CallId outer) {
    current_ = outer;
    published_id_->store(static_cast<std::uint32_t>(outer), std::memory_order_relaxed);
  }
  /// Whether the call that begins next is the one that is watched.
  bool is_watched_next() const { return begun_ + 1 >= watched_.load(std::memory_order_relaxed); }
  /// Begins a call that calls nobody and is not watched, and ends it: current() stays the one around it.
  void enter_briefly(CallId id) {
    published_index_->store(++begun_, std::memory_order_relaxed);
    published_id_->store(static_cast<std::uint32_t>(id), std::memory_order_relaxed);
  }
  void leave_briefly() {
    published_id_->store(static_cast<std::uint32_t>(current_), std::memory_order_relaxed);
  }
  /// Another thread comes in, or a call goes on after others had their turn: gives back the call until now.
  CallId set_current(CallId id) {
    if (id != CallId::none) published_id_->store(static_cast<std::uint32_t>(id), std::memory_order_relaxed);
    return std::exchange(current_, id);
  }

 private:
  struct Watch {
    std::uint64_t index;
    std::function<void()> action;
  };
  void act();
  void look_ahead();

  std::atomic<std::uint32_t> unpublished_id_{0};
  std::atomic<std::uint64_t> unpublished_index_{0};
  std::atomic<std::uint32_t>* published_id_ = &unpublished_id_;
  std::atomic<std::uint64_t>* published_index_ = &unpublished_index_;

  std::uint64_t begun_ = 0;
  // The first call at which there is something to do. Relaxed, as the flag is: a handler of a signal
  // interrupts this thread, or sets both from another thread, which is seen soon enough.
  std::atomic<std::uint64_t> watched_{no_call};
  std::atomic<bool> interrupted_{false};
  std::vector<Watch> watches_;
  std::uint64_t attend_at_ = no_call;
  std::function<std::uint64_t()> attend_;
  CallId current_ = CallId::none;
};

}  // namespace llamada::mpi
