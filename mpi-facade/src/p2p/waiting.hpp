#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "llamada/base/clock.hpp"
#include "llamada/base/pause.hpp"
#include "p2p/awaits.hpp"
#include "p2p/own_core.hpp"
#include "threads/shared_waiting.hpp"
#include "threads/yielding.hpp"
#include "world/world.hpp"

namespace llamada::mpi {

/// What a rank does while it waits.
class WaitWork {
 public:
  /// Goes on with everything; true when something was done.
  virtual bool progress() = 0;
  /// Between looks in vain, of which this is number `looks`: room and memory for the next messages.
  virtual void make_ready(unsigned looks) = 0;
  /// The wait is no longer short, and progress() has found nothing. True when `done` has become true.
  virtual bool waited_in_vain(const std::function<bool()>& done) = 0;
  /// After waiting in vain for a while.
  virtual void look_around() = 0;
  /// Whether there is something for progress() to do: what a rank that is about to sleep asks.
  virtual bool anything_new() = 0;
  /// Somebody wants to know what the rank waits for, by this question. It has just looked at all that has
  /// come, in vain. `awaits`: what its call waits for; null: that is not known. `since`: when its wait was no
  /// longer short.
  virtual void report_wait(std::uint32_t survey, const Awaits* awaits, std::chrono::nanoseconds since) = 0;

 protected:
  ~WaitWork() = default;
};

/// How a rank waits: it looks again and again, then lets others have the processor between its looks, then
/// sleeps until it is woken. When it does which depends on whether it has a core of its own.
///
/// Threads: the engine's.
class Waiting {
 public:
  /// How often a rank that waits looks before it yields, where it has a core of its own; else it yields at
  /// once, because a rank that spins keeps others from what it waits for.
  static constexpr unsigned spin_rounds_max = 2000;
  /// So many looks come without a pause between: what comes that soon is seen a tenth of its time earlier.
  static constexpr unsigned unpaused_rounds_max = 200;
  static constexpr unsigned looks_before_preparing = 32;

  /// `world` and `clock` are borrowed. `yields_before_sleep`: how often a rank that waits gives up its turn
  /// before it sleeps.
  Waiting(World& world, const Clock& clock, unsigned yields_before_sleep);
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  /// Several threads will wait, each holding the lock (MPI_THREAD_MULTIPLE; MPI 3.1, 12.4). Both are
  /// borrowed.
  SharedWaiting* share(LibraryLock& lock, WaitWork& work);
  bool is_shared() const { return shared_ != nullptr; }

  /// Returns when `done()` does, which is asked after each progress(). Whoever makes it true must wake this
  /// rank. `Work` is the WaitWork's own class, so that no look is an indirect call. `awaits` says what that
  /// is, if anybody asks; null: nobody can tell.
  template <typename Work, typename Done>
  void wait_until(Work& work, Done& done, const Awaits* awaits = nullptr) {
    const Described described(*this, awaits);
    const unsigned spin_rounds = spins_now();
    for (unsigned rounds = 0;; ++rounds) {
      const bool went_on = work.progress();
      if (went_on) rounds = 0;
      if (done()) return;
      if (rounds < spin_rounds) {
        if (rounds >= unpaused_rounds_max) pause_processor();
        work.make_ready(rounds);
      } else if (!went_on) {
        wait_slowly(work, rounds - spin_rounds, std::ref(done));
      }
    }
  }
  /// The same for one of several threads.
  void wait_among_threads(const std::function<bool()>& done) { shared_->wait_until(done); }
  /// Called again and again while a call waits for others.
  void on_wait(void (*hook)()) { wait_hook_ = hook; }

  // A wait for one message and nothing else: a look is short, and there are so many of them.
  unsigned brief_looks_max() const { return std::min(spins_now(), most_brief_looks); }
  /// Whether this time other streams are to be looked at as well.
  bool is_turn_of_others() { return ++brief_waits_ % brief_waits_in_a_row == 0; }

  // Calls that find nothing and return: a program that asks again and again lets others run now and then.

  /// Counts one of them. True when it is time to let others run.
  bool count_fruitless() { return ++fruitless_calls_ % fruitless_calls_before_yield == 0; }
  /// Whether the next count_fruitless() will say so.
  bool is_next_to_yield() const { return (fruitless_calls_ + 1) % fruitless_calls_before_yield == 0; }
  void forget_fruitless() { fruitless_calls_ = 0; }
  /// Lets others run where they need this rank's core, and this rank's other threads.
  void let_others_run();

  // What tools may set while the program runs (MPI 3.1, 14.3.6).
  unsigned spin_rounds() const { return spin_rounds_; }
  void set_spin_rounds(unsigned rounds);
  unsigned yields_before_sleep() const { return yields_before_sleep_; }
  void set_yields_before_sleep(unsigned yields);

 private:
  class ThreadsWork;
  /// What the innermost wait is for. A callback of the program may wait, too.
  class Described {
   public:
    Described(Waiting& waiting, const Awaits* awaits)
        : waiting_(waiting), outer_(std::exchange(waiting.awaits_, awaits)) {
      waiting.since_ = {};
    }
    ~Described() { waiting_.awaits_ = outer_; }
    Described(const Described&) = delete;
    Described& operator=(const Described&) = delete;

   private:
    Waiting& waiting_;
    const Awaits* outer_;
  };

  static constexpr unsigned most_brief_looks = 400;
  static constexpr unsigned brief_waits_in_a_row = 64;
  static constexpr std::uint64_t fruitless_calls_before_yield = 32;

  /// How often this rank looks before it yields or sleeps. A look at a link is a system call. Where other
  /// programs want this core, a rank that looks in vain uses up its share of it, and then does not get it
  /// when the frame comes that it waits for; a rank that sleeps does.
  unsigned spins_now() const { return has_link_ && yielding_.is_to_sleep() ? 0 : spin_rounds_; }
  void wait_slowly(WaitWork& work, unsigned rounds, const std::function<bool()>& done);
  bool answer_survey(WaitWork& work, const std::function<bool()>& done);
  std::chrono::nanoseconds since();

  World& world_;
  const Clock& clock_;
  bool has_link_;  // ranks on other nodes
  unsigned spin_rounds_;
  unsigned yields_before_sleep_;
  unsigned brief_waits_ = 0;
  std::uint64_t fruitless_calls_ = 0;
  const Awaits* awaits_ = nullptr;
  std::chrono::nanoseconds since_{};  // 0: the wait has been short so far
  std::uint32_t answered_ = 0;        // the last survey
  int cores_;                         // on which this rank may run
  void (*wait_hook_)() = [] {};
  Yielding yielding_;
  OwnCore own_core_;
  std::unique_ptr<ThreadsWork> threads_work_;
  std::unique_ptr<SharedWaiting> shared_;  // several threads call MPI
};

}  // namespace llamada::mpi
