// Who waits for the domain: the service thread, or in its place a thread of the application that waits
// anyway.
#include <algorithm>

#include "core.hpp"
#include "llamada/base/pause.hpp"

namespace llamada::dcps::detail {
namespace {

constexpr std::chrono::nanoseconds sleep_max = std::chrono::seconds(1);

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
  if (participant_->deleted_writer_count() == 0 || clock_.monotonic() >= deadline) return false;
  if (Status status = poll(); !status) return false;
  std::this_thread::sleep_for(pause);
  return true;
}

// Whether somebody else sees what arrives in time for all who wait for it.
bool Core::is_looked_after() const {
  if (led_ || lead_wanted_ > 0) return true;
  return looks_ != looks_seen_ && listener_count_ == 0 && waiters_.empty() && followers_ == 0;
}

// The service thread's; ended by look_at(). While the same leader stays it is long, and that one ends it.
void Core::nap(Lock& held) {
  nap_is_long_ = led_ && leads_ == leads_seen_;
  looks_seen_ = looks_;
  leads_seen_ = leads_;
  sleeping_until_ = next_wakeup();
  const auto at_most = std::clamp(sleeping_until_ - clock_.monotonic(), std::chrono::nanoseconds::zero(),
                                  nap_is_long_ ? sleep_max : nap_max);
  napping_ = true;
  nap_over_.wait_for(held, at_most);
  napping_ = false;
  nap_is_long_ = false;
  check_domain();
  sleeping_until_ = std::chrono::nanoseconds::zero();
}

// Nobody waits for the domain while the application only looks.
void Core::check_domain() {
  const auto moment = clock_.monotonic();
  if (moment < check_due_ || !participant_ || stopping_) return;
  check_due_ = moment + check_every;
  participant_->check_domain();
}

bool Core::begin_lead(Lock& held) {
  ++looks_;
  if (service_waits_ && !led_ && !stopping_) {
    ++lead_wanted_;
    participant_->wake_self();
    lead_free_.wait(held, [this] { return !service_waits_ || led_ || stopping_; });
    --lead_wanted_;
  }
  if (led_ || stopping_ || !failed_ || !participant_) return false;
  led_ = true;
  service_leads_ = is_service_thread();
  ++leads_;
  return true;
}

bool Core::lead_until(Lock& held, std::chrono::nanoseconds deadline, const std::function<bool()>& holds) {
  bool held_true = false;
  const auto look = [&] {
    if (failed_) (void)poll();
    ask_waiters();
    held_true = held_true || holds();
    return held_true || stopping_ || !failed_;
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
    const Status waited = participant_->wait(look_again, std::min(left, sleep_max));
    held.lock();
    if (!waited) lose_domain(waited);
  }
  spinning_.came_after(clock_.monotonic() - start);
  return held_true;
}

void Core::end_lead(Lock&) {
  led_ = false;
  service_leads_ = false;
  ++looks_;
  // Others who wait need somebody who looks at once.
  if (napping_ && (nap_is_long_ || !waiters_.empty() || followers_ > 0 || listener_count_ > 0))
    nap_over_.notify_all();
  lead_free_.notify_all();
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
  for (int looks = 1; failed_ && !stopping_ && participant_; ++looks) {
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
  ++followers_;
  if (napping_ && !led_) nap_over_.notify_all();
}

void Core::end_following() {
  Lock held = lock();
  --followers_;
}

bool Core::wait_until(Lock& held, std::chrono::nanoseconds deadline, const std::function<bool()>& condition) {
  if (condition() || spin_until(held, condition)) return true;
  if (!begin_lead(held)) return wait_as_follower(held, deadline, condition);
  // Among the waiters, too: what it waits for may be done by another thread here.
  Waiter waiter{condition, {}, false, true};
  waiters_.push_back(&waiter);
  (void)lead_until(held, deadline, [&] { return waiter.done; });
  std::erase(waiters_, &waiter);
  end_lead(held);
  return waiter.done || condition();
}

bool Core::wait_as_follower(Lock& held, std::chrono::nanoseconds deadline,
                            const std::function<bool()>& condition) {
  Waiter waiter{condition, {}, false, false};
  waiters_.push_back(&waiter);
  look_at(std::chrono::nanoseconds::zero());
  while (!waiter.done && failed_ && !stopping_) {
    const std::chrono::nanoseconds left = deadline - clock_.monotonic();
    if (left <= std::chrono::nanoseconds::zero()) break;
    waiter.wake.wait_for(held, std::min(left, sleep_max));
  }
  std::erase(waiters_, &waiter);
  return waiter.done || condition();
}

}  // namespace llamada::dcps::detail
