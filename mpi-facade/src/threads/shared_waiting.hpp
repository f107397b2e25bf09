#pragma once

#include <atomic>
#include <functional>
#include <vector>

#include "llamada/base/clock.hpp"
#include "llamada/mpi/calls.hpp"
#include "threads/library_lock.hpp"
#include "threads/yielding.hpp"

namespace llamada::mpi {

/// Outside of the library for as long as it lives: the calling thread lets go of the lock, and comes back to
/// the MPI call that it was in. Only by the holder.
class OutsideLibrary {
 public:
  explicit OutsideLibrary(LibraryLock& lock);
  ~OutsideLibrary();
  OutsideLibrary(const OutsideLibrary&) = delete;
  OutsideLibrary& operator=(const OutsideLibrary&) = delete;

 private:
  LibraryLock& lock_;
  CallId call_ = CallId::none;
  unsigned depth_ = 0;
};

/// The same if several threads may call MPI, and nothing if not: around callbacks of the program, which may
/// wait for what another of its threads does.
class OutsideForCallback {
 public:
  OutsideForCallback();
  ~OutsideForCallback();
  OutsideForCallback(const OutsideForCallback&) = delete;
  OutsideForCallback& operator=(const OutsideForCallback&) = delete;

 private:
  // Room for an OutsideLibrary, or nothing.
  alignas(OutsideLibrary) unsigned char memory_[sizeof(OutsideLibrary)];
  OutsideLibrary* outside_ = nullptr;
};

/// How threads of one rank wait at the same time: one of them, the poller, makes progress for all and asks
/// whether what the others wait for has come; the others yield for a while and then sleep until they are
/// told. When the poller has what it waits for, another one takes over. So nobody waits without somebody
/// looking, and one core at most is busy with it.
///
/// A condition that is waited for is asked by any of the threads, with the lock held, and again after it was
/// true.
///
/// Threads: those that hold the LibraryLock.
class SharedWaiting {
 public:
  /// What the poller does.
  class Work {
   public:
    virtual ~Work() = default;
    /// Goes on with everything; true when something was done.
    virtual bool progress() = 0;
    /// Whether there is something to go on with.
    virtual bool anything_new() = 0;
    /// After waiting in vain for a while.
    virtual void look_around() = 0;
    /// As World::sleep(); called with the lock held, which `look_again` may let go of.
    virtual void sleep(const std::function<bool()>& look_again) = 0;
    /// Ends the sleep of the poller.
    virtual void end_sleep() = 0;
  };
  struct Options {
    unsigned spin_rounds = 0;          ///< of the poller, before it yields
    unsigned yields_before_sleep = 0;  ///< of everybody
    unsigned spinners_max = 0;         ///< how many threads beside the poller may spin: cores to spare
  };

  /// All three are borrowed.
  SharedWaiting(LibraryLock& lock, Work& work, const Clock& clock, const Options& options)
      : lock_(lock), work_(work), clock_(clock), options_(options) {}
  SharedWaiting(const SharedWaiting&) = delete;
  SharedWaiting& operator=(const SharedWaiting&) = delete;

  Options& options() { return options_; }

  /// Returns when `done()` does.
  void wait_until(const std::function<bool()>& done);
  /// Lets other threads, and other processes, run.
  void yield();
  /// To be called before the lock is let go of: something may have become true for those who wait.
  void before_unlock();

 private:
  struct Waiter {
    const std::function<bool()>& done;
    CallId call;
    // Stored with the lock held, awaited without it: 1 when the thread is to look. Whatever it is to see, it
    // sees by taking the lock, so relaxed.
    std::atomic<std::uint32_t> told{0};
  };

  /// Of the calling thread, which finds out for itself what its yields cost.
  Yielding& yielding() const;
  void poll(Waiter& self);
  void wait_slowly(Waiter& self, unsigned rounds);
  void sleep(Waiter& self);
  void wait_to_be_told(Waiter& self);
  bool tell_those_done();
  void hand_over();
  static bool is_done(const Waiter& waiter);
  static void tell(Waiter& waiter);

  LibraryLock& lock_;
  Work& work_;
  const Clock& clock_;
  Options options_;
  std::vector<Waiter*> waiters_;  // by age, the poller too
  Waiter* poller_ = nullptr;
  bool poller_sleeps_ = false;
  bool poller_woken_ = false;
};

}  // namespace llamada::mpi
