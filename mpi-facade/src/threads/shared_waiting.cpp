#include "threads/shared_waiting.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <new>

#include "llamada/base/check.hpp"
#include "llamada/base/pause.hpp"
#include "threads/call_state.hpp"

namespace llamada::mpi {
namespace {

/// std::atomic's own wait yields four times before it sleeps.
void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
  syscall(SYS_futex, &word, operation, value, nullptr, nullptr, 0);
}

CallId set_current_call(CallId call) {
  CallState* state = call_state_if_any();
  return state ? state->calls.set_current(call) : CallId::none;
}

}  // namespace

OutsideLibrary::OutsideLibrary(LibraryLock& lock)
    : lock_(lock), call_(set_current_call(CallId::none)), depth_(lock.let_go()) {}

OutsideLibrary::~OutsideLibrary() {
  lock_.take_again(depth_);
  set_current_call(call_);
}

OutsideForCallback::OutsideForCallback() {
  CallState* state = call_state_if_any();
  if (!state || !state->lock || !state->lock->is_mine()) return;
  if (state->waiting) state->waiting->before_unlock();
  outside_ = new (memory_) OutsideLibrary(*state->lock);
}

OutsideForCallback::~OutsideForCallback() {
  if (outside_) outside_->~OutsideLibrary();
}

bool SharedWaiting::is_done(const Waiter& waiter) {
  const CallId call = set_current_call(waiter.call);
  const bool done = waiter.done();
  set_current_call(call);
  return done;
}

Yielding& SharedWaiting::yielding() const {
  thread_local Yielding own(clock_);
  if (!own.is_by(clock_)) own = Yielding(clock_);
  return own;
}

void SharedWaiting::tell(Waiter& waiter) {
  if (waiter.told.exchange(1, std::memory_order_relaxed) == 0) futex(waiter.told, FUTEX_WAKE_PRIVATE, 1);
}

void SharedWaiting::wait_until(const std::function<bool()>& done) {
  if (done()) return;
  const CallState* state = call_state_if_any();
  Waiter self{done, state ? state->calls.current() : CallId::none};
  waiters_.push_back(&self);
  while (!done()) {
    if (poller_)
      wait_to_be_told(self);
    else
      poll(self);
  }
  waiters_.erase(std::find(waiters_.begin(), waiters_.end(), &self));
  if (!poller_) hand_over();
}

void SharedWaiting::poll(Waiter& self) {
  poller_ = &self;
  for (unsigned rounds = 0;; ++rounds) {
    const bool went_on = work_.progress();
    if (went_on) rounds = 0;
    const bool told = tell_those_done();
    if (self.done()) break;
    if (lock_.is_wanted()) {
      const CallId call = set_current_call(CallId::none);
      lock_.make_way();
      set_current_call(call);
    } else if (rounds < options_.spin_rounds && !(told && options_.spinners_max == 0)) {
      pause_processor();
    } else if (!went_on || told) {
      wait_slowly(self, rounds < options_.spin_rounds ? 0 : rounds - options_.spin_rounds);
    }
    if (self.done()) break;
  }
  poller_ = nullptr;
}

void SharedWaiting::wait_slowly(Waiter& self, unsigned rounds) {
  work_.look_around();
  if (rounds < options_.yields_before_sleep) {
    const OutsideLibrary outside(lock_);
    if (yielding().yield()) return;
  }
  sleep(self);
}

void SharedWaiting::yield() {
  const OutsideLibrary outside(lock_);
  sched_yield();
}

void SharedWaiting::sleep(Waiter& self) {
  const CallId call = self.call;
  unsigned depth = 0;
  poller_sleeps_ = true;
  poller_woken_ = false;
  const auto goes_on = [&] {
    tell_those_done();
    return work_.anything_new() || self.done();
  };
  work_.sleep([&] {
    if (goes_on()) return true;
    // As Waiting::wait_slowly() does.
    work_.look_around();
    if (goes_on()) return true;
    // From here on others come in; before they leave they look whether the sleep is to end.
    set_current_call(CallId::none);
    depth = lock_.let_go();
    return false;
  });
  if (depth > 0) {
    lock_.take_again(depth);
    set_current_call(call);
  }
  poller_sleeps_ = false;
}

void SharedWaiting::wait_to_be_told(Waiter& self) {
  const bool spins = waiters_.size() <= options_.spinners_max + 1;
  {
    const OutsideLibrary outside(lock_);
    const auto is_told = [&] { return self.told.load(std::memory_order_relaxed) != 0; };
    for (unsigned i = 0; spins && i < options_.spin_rounds && !is_told(); ++i) pause_processor();
    for (unsigned i = 0; i < options_.yields_before_sleep && !is_told() && yielding().yield(); ++i) continue;
    while (!is_told()) futex(self.told, FUTEX_WAIT_PRIVATE, 0);
  }
  self.told.store(0, std::memory_order_relaxed);
}

bool SharedWaiting::tell_those_done() {
  bool told = false;
  for (Waiter* waiter : waiters_) {
    if (waiter == poller_ || waiter->told.load(std::memory_order_relaxed) != 0 || !is_done(*waiter)) continue;
    tell(*waiter);
    told = true;
  }
  return told;
}

void SharedWaiting::hand_over() {
  if (!waiters_.empty()) tell(*waiters_.front());
}

void SharedWaiting::before_unlock() {
  if (!poller_sleeps_) return;
  tell_those_done();
  if (poller_woken_ || !(work_.anything_new() || is_done(*poller_))) return;
  poller_woken_ = true;
  work_.end_sleep();
}

}  // namespace llamada::mpi
