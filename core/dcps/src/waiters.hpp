#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <vector>

#include "llamada/dcps/entity.hpp"

namespace llamada::dcps::detail {

/// The calls that wait until a condition holds. Whoever looks at the domain asks the conditions for all of
/// them.
///
/// Threads: any, with the participant's lock held.
class Waiters {
 public:
  /// One waiting call; it is among the waiters as long as this object lives.
  class Place {
   public:
    /// `leads`: its thread waits for the domain, instead of for another thread that does.
    Place(Waiters& waiters, const std::function<bool()>& condition, bool leads)
        : waiters_(waiters), condition_(condition), leads_(leads) {
      waiters_.places_.push_back(this);
    }
    ~Place() { std::erase(waiters_.places_, this); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    /// The condition held when it was last asked.
    bool is_done() const { return is_done_; }
    void sleep(Lock& held, std::chrono::nanoseconds at_most) { wake_.wait_for(held, at_most); }

   private:
    friend class Waiters;
    Waiters& waiters_;
    const std::function<bool()>& condition_;
    std::condition_variable_any wake_;
    bool is_done_ = false;
    const bool leads_;
  };

  bool is_empty() const { return places_.empty(); }
  /// Wakes those whose condition holds now; `wake_leader` wakes the one that leads.
  template <typename WakeLeader>
  void ask(const WakeLeader& wake_leader) {
    for (Place* place : places_) {
      if (place->is_done_ || !place->condition_()) continue;
      place->is_done_ = true;
      if (place->leads_)
        wake_leader();
      else
        place->wake_.notify_all();
    }
  }
  void wake_all() {
    for (Place* place : places_) place->wake_.notify_all();
  }

 private:
  std::vector<Place*> places_;
};

}  // namespace llamada::dcps::detail
