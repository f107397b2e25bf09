// Who waits for the domain: the service thread, or in its place a thread of the application that waits
// anyway.
#include <algorithm>

#include "core.hpp"
#include "llamada/base/pause.hpp"

namespace llamada::dcps::detail {
namespace {

/// So long after the application's last look the service thread looks again.
constexpr std::chrono::nanoseconds nap_max = std::chrono::milliseconds(1);

/// The domain's roster is looked for so often while nobody waits.
constexpr std::chrono::nanoseconds check_every = std::chrono::milliseconds(100);

/// What it took.
std::chrono::nanoseconds yield_processor(std::chrono::steady_clock::time_point now) {
  std::this_thread::yield();
  return std::chrono::steady_clock::now() - now;
}

}  // namespace

// The lock stays held: that is seldom, and short. False: there is nothing to wait for, or no time left.
bool Core::await_letting_go(std::chrono::nanoseconds deadline) {
  constexpr std::chrono::microseconds pause(100);
  if (domain_.participant().deleted_writer_count() == 0 || clock_.monotonic() >= deadline) return false;
  if (Status status = poll(); !status) return false;
  std::this_thread::sleep_for(pause);
  return true;
}

// Whether somebody else sees what arrives in time for all who wait for it.
bool Core::is_looked_after() const {
  if (lead_.is_taken() || lead_.is_wanted()) return true;
  return lead_.has_been_looked() && !calls_.has_listeners() && waiters_.is_empty() && !lead_.has_followers();
}

// The service thread's; ended by look_at(). While the same leader stays it is long, and that one ends it.
void Core::nap(Lock& held) {
  const bool is_long = lead_.has_stayed();
  lead_.note();
  sleep_.begin(entities_.next_wakeup());
  sleep_.nap(held, sleep_.left(clock_.monotonic(), is_long ? sleep_max : nap_max), is_long);
  check_domain();
  sleep_.end();
}

// Nobody waits for the domain while the application only looks.
void Core::check_domain() {
  const auto moment = clock_.monotonic();
  if (moment < check_due_ || !domain_.is_in() || stopping_) return;
  check_due_ = moment + check_every;
  domain_.participant().check_domain();
}

bool Core::begin_lead(Lock& held) {
  lead_.looked();
  if (lead_.service_waits() && !lead_.is_taken() && !stopping_) {
    domain_.wake();
    lead_.await_service(held, stopping_);
  }
  if (lead_.is_taken() || stopping_ || domain_.is_lost() || !domain_.is_in()) return false;
  lead_.take(is_service_thread());
  return true;
}

bool Core::lead_until(Lock& held, std::chrono::nanoseconds deadline, const std::function<bool()>& holds) {
  bool held_true = false;
  const auto look = [&] {
    if (!domain_.is_lost()) (void)poll();
    ask_waiters();
    held_true = held_true || holds();
    return held_true || stopping_ || domain_.is_lost();
  };
  const auto look_again = [&] {
    Lock inner = lock();
    return look();
  };
  const auto start = clock_.monotonic();
  while (!look()) {
    const std::chrono::nanoseconds left = deadline - clock_.monotonic();
    if (left <= std::chrono::nanoseconds::zero()) break;
    held.unlock();
    const Status waited = domain_.participant().wait(look_again, std::min(left, sleep_max));
    held.lock();
    if (!waited) lose_domain(waited);
  }
  spinning_.came_after(clock_.monotonic() - start);
  return held_true;
}

void Core::end_lead(Lock&) {
  lead_.give_up();
  // Other waiting threads need one that looks at once.
  const bool others_wait = !waiters_.is_empty() || lead_.has_followers() || calls_.has_listeners();
  if (sleep_.is_nap() && (sleep_.is_long_nap() || others_wait)) sleep_.end_nap();
}

bool Core::begin_lead() {
  Lock held = lock();
  return begin_lead(held);
}

bool Core::lead_until(std::chrono::nanoseconds deadline, const std::function<bool()>& holds) {
  Lock held = lock();
  return lead_until(held, deadline, holds);
}

void Core::end_lead() {
  Lock held = lock();
  end_lead(held);
}

bool Core::spin_until(Lock& held, const std::function<bool()>& holds) {
  using std::chrono::steady_clock;
  auto left = spinning_.span();
  if (left <= std::chrono::nanoseconds::zero()) return false;
  auto counted = steady_clock::now();
  for (int looks = 1; !domain_.is_lost() && !stopping_ && domain_.is_in(); ++looks) {
    (void)look();
    if (holds()) {
      spinning_.came_after(std::chrono::nanoseconds::zero());
      return true;
    }
    const bool yields = spinning_.yields_after(looks);
    held.unlock();
    if (!yields) {
      pause_processor();
      held.lock();
      continue;
    }
    const auto before = steady_clock::now();
    const auto took = yield_processor(before);
    held.lock();
    left -= before - counted + Spinning::cost_of_yield(took);
    counted = before + took;
    if (!spinning_.yielded(took) || left <= std::chrono::nanoseconds::zero()) return false;
  }
  return false;
}

bool Core::spin_until(const std::function<bool()>& holds) {
  Lock held = lock();
  return spin_until(held, holds);
}

void Core::begin_following() {
  Lock held = lock();
  lead_.follower_came();
  if (sleep_.is_nap() && !lead_.is_taken()) sleep_.end_nap();
}

void Core::end_following() {
  Lock held = lock();
  lead_.follower_went();
}

bool Core::wait_until(Lock& held, std::chrono::nanoseconds deadline, const std::function<bool()>& condition) {
  if (condition() || spin_until(held, condition)) return true;
  if (!begin_lead(held)) return wait_as_follower(held, deadline, condition);
  bool is_done = false;
  {
    // The leader has a place among the waiters, too: another thread here may make its condition true.
    const Waiters::Place place(waiters_, condition, true);
    (void)lead_until(held, deadline, [&] { return place.is_done(); });
    is_done = place.is_done();
  }
  end_lead(held);
  return is_done || condition();
}

bool Core::wait_as_follower(Lock& held, std::chrono::nanoseconds deadline,
                            const std::function<bool()>& condition) {
  Waiters::Place place(waiters_, condition, false);
  look_at(std::chrono::nanoseconds::zero());
  while (!place.is_done() && !domain_.is_lost() && !stopping_) {
    const std::chrono::nanoseconds left = deadline - clock_.monotonic();
    if (left <= std::chrono::nanoseconds::zero()) break;
    place.sleep(held, std::min(left, sleep_max));
  }
  return place.is_done() || condition();
}

}  // namespace llamada::dcps::detail
