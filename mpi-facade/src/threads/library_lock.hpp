#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

namespace llamada::mpi {

/// Who is inside the library when several threads may call MPI at once (MPI_THREAD_MULTIPLE; MPI 3.1, 12.4):
/// one thread at a time, except that a thread that waits lets the others in (see SharedWaiting). Nobody makes
/// one at a lower level, so that programs of one thread pay nothing.
///
/// A thread may take it again while it holds it: callbacks of the program may call MPI.
///
/// Fair enough: a thread that comes again and again makes way for those who want in, after a while.
///
/// Threads: any.
class LibraryLock {
 public:
  LibraryLock() = default;
  LibraryLock(const LibraryLock&) = delete;
  LibraryLock& operator=(const LibraryLock&) = delete;

  void lock();
  void unlock();

  bool is_mine() const { return owner_.load(std::memory_order_relaxed) == this_thread(); }
  /// Whether the next unlock() lets others in.
  bool held_once() const { return depth_ == 1; }

  /// Whether other threads stand before the door: a hint.
  bool is_wanted() const { return wanting_.load(std::memory_order_relaxed) > 0; }

  /// Lets go of it however often it is held; gives how often, for take_again(). Only by the holder.
  unsigned let_go();
  void take_again(unsigned depth);
  /// Lets others in, waits a moment for one of those who want in to be there, and takes it again.
  void make_way();

 private:
  using ThreadId = const void*;
  static ThreadId this_thread();

  void acquire(ThreadId self);
  void wait_for_another(std::uint32_t acquisitions);

  std::mutex mutex_;
  // Who holds the mutex, null for nobody. Relaxed: a thread only asks whether it is itself.
  std::atomic<ThreadId> owner_{nullptr};
  // How many wait for the mutex. Relaxed: a hint.
  std::atomic<std::uint32_t> wanting_{0};
  // How often it was taken, for those who look whether somebody has. Relaxed: a hint.
  std::atomic<std::uint32_t> acquisitions_{0};
  // The rest belongs to the holder.
  unsigned depth_ = 0;
  ThreadId last_ = nullptr;     // the holder before
  std::uint32_t in_a_row_ = 0;  // acquisitions by `last_` while others wanted in
};

}  // namespace llamada::mpi
