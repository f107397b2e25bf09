#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "io/ledger.hpp"

namespace llamada::mpi::io {

/// The pointer that the openers of a file share (MPI 3.1, 13.4.4), in memory that they share. Each operation
/// is numbered by its rank's ledger and leaves its outcome in the rank's slot before the pointer moves, all
/// under a lock whose word says who holds it. A rank that dies leaves one of these, which its replacement,
/// when it comes to the same operation, tells apart:
///   the lock free, the slot with an older number  the operation had not begun: done now
///   the lock its own, the slot with an older number  the same
///   the lock its own, the slot with its number  interrupted: the pointer is set to what the slot says
///   the lock free or another's, the slot with its number  it had taken place: the slot's value is the answer
/// Until the replacement is there, a lock that the dead rank held is kept, as a message is late that it owes.
///
/// Threads: the rank's.
class SharedPointer {
 public:
  struct Slot {
    std::atomic<std::uint64_t> number;  ///< stored last (release)
    std::atomic<std::uint64_t> value;   ///< the pointer before the operation
    std::atomic<std::uint64_t> after;
  };
  /// What the memory begins with; `slots` of as many as there are members follow. All zero at the start.
  struct Shared {
    std::atomic<std::uint32_t> holder;   ///< 1 + member, 0: nobody
    std::atomic<std::uint32_t> waiting;  ///< somebody waits for the lock
    std::atomic<std::uint64_t> pointer;
  };
  static constexpr std::size_t bytes_for(int members) {
    return sizeof(Shared) + sizeof(Slot) * static_cast<std::size_t>(members);
  }

  /// How a member waits and wakes the others.
  struct Waiting {
    /// May ask again after `done` was true.
    std::function<void(const std::function<bool()>& done)> wait_until;
    std::function<void()> wake_others;
  };

  /// `memory` is shared by all members, of bytes_for(members) bytes, and must outlive this.
  SharedPointer(void* memory, int member, Waiting waiting);

  /// Replaces the pointer by what `change` makes of it, as operation `number` of this member, unless that has
  /// taken place; gives what it was before.
  std::uint64_t change(std::uint64_t number, const std::function<std::uint64_t(std::uint64_t)>& change);
  std::uint64_t get() const { return shared_->pointer.load(std::memory_order_acquire); }

 private:
  bool holds() const { return shared_->holder.load(std::memory_order_acquire) == self_; }
  /// True also when it is held already.
  bool try_lock();
  void unlock();

  Shared* shared_;
  Slot* slot_;
  std::uint32_t self_;
  Waiting waiting_;
};

}  // namespace llamada::mpi::io
