#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

#include "llamada/base/kept_descriptor.hpp"
#include "llamada/base/result.hpp"
#include "llamada/log/arena_writer.hpp"

namespace llamada::llamanet {

/// Another process's bell, as those who wake it see it: the header of its arena with the sleeping word, and
/// its eventfd.
struct Doorbell {
  const log::ArenaHeader* header = nullptr;  // none: nobody is there
  KeptDescriptor event;
};

/// How the owner of an arena sleeps until others have something for it, and wakes others. A sleeper sets the
/// sleeping word in its arena, looks once more, and waits for its eventfd; whoever has committed something
/// looks at that word, and rings if it is set. So a wake of one who is awake is one load.
///
/// Threads: wake(), wake_self() and the order may be called from any; sleep() from one at a time.
class Bell {
 public:
  /// No sleep is longer without a look around.
  static constexpr std::chrono::milliseconds nap_max{100};

  /// Something else that ends a sleep.
  class Source {
   public:
    /// What is waited for: that it becomes readable, or breaks. -1: not now.
    virtual int descriptor() const = 0;
    /// It has. An error ends the sleep with it.
    virtual Status on_ready() = 0;

   protected:
    ~Source() = default;
  };
  static constexpr std::size_t sources_max = 7;

  /// From now on the membarrier of whoever sleeps includes this process, which must have committed nothing
  /// before. False: membarrier is refused, and whoever commits has to fence.
  static bool enter_barriers();

  /// `arena` is borrowed. `needs_fence`: enter_barriers() was false.
  Bell(KeptDescriptor event, log::ArenaWriter& arena, bool needs_fence)
      : event_(std::move(event)), arena_(arena), needs_fence_(needs_fence) {}

  int event() const { return event_.get(); }
  /// Whether whoever commits must fence before the look at a sleeping word.
  bool needs_fence() const { return needs_fence_; }
  /// `source` is borrowed. At most sources_max; not while anybody sleeps.
  void add(Source& source);

  /// To be called after each commit that the other may be waiting for. One load while it is awake.
  void wake(const Doorbell& other) {
    order_commit_before_look();
    wake_if_sleeping(other);
  }
  /// The sleep of this bell's owner ends.
  void wake_self();

  /// The two halves of wake(), for who wakes several. Our commit before our look at the sleeping word: the
  /// sleeper's membarrier orders the two, if the compiler does not.
  void order_commit_before_look() const {
    if (needs_fence_)
      std::atomic_thread_fence(std::memory_order_seq_cst);
    else
      std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  void wake_if_sleeping(const Doorbell& other) {
    // Relaxed: see order_commit_before_look().
    if (other.header != nullptr && other.header->sleeping.load(std::memory_order_relaxed) != 0) ring(other);
  }

  /// Sleeps until somebody wakes the owner or a source is ready, at most nap_max or `at_most`. `look_again`
  /// is called once the sleeping word can be seen by all; when it returns true there is no sleep. Errors:
  /// those of the sources.
  ///
  /// WakersBy::fence: all who wake this owner go by full fences between their commits and wake(). Else it is
  /// the sleeper who makes them all pass one (membarrier), which interrupts every core that runs one of them.
  enum class WakersBy { look, fence };
  Status sleep(const std::function<bool()>& look_again, std::chrono::nanoseconds at_most = nap_max,
               WakersBy wakers_by = WakersBy::look);

 private:
  void ring(const Doorbell& other);
  Status nap(std::chrono::nanoseconds at_most);

  KeptDescriptor event_;
  log::ArenaWriter& arena_;
  bool needs_fence_;
  std::vector<Source*> sources_;
};

}  // namespace llamada::llamanet
