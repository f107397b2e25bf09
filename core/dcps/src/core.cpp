#include "core.hpp"

#include <utility>

#include "llamada/base/check.hpp"

namespace llamada::dcps::detail {

Core::Core(std::unique_ptr<topics::Transport> transport, const Clock& clock)
    : clock_(clock), domain_(std::move(transport)), moment_(clock) {}

Core::~Core() { LLAMADA_CHECK(!service_.joinable()); }

void Core::start(topics::ParticipantOptions options, std::unique_ptr<topics::DiscoveryEvents> discovery) {
  domain_.enter(clock_, std::move(options), std::move(discovery));
  service_ = std::thread([self = shared_from_this()] { self->serve(); });
}

void Core::stop() {
  bool by_itself = false;
  {
    Lock held = lock();
    by_itself = is_service_thread();
    stopping_ = true;
    waiters_.wake_all();
    sleep_.end_nap();
    lead_.wake_all();
    domain_.wake();
    lead_.await_free(held);
  }
  if (!service_.joinable()) return;
  if (by_itself)
    service_.detach();  // a listener has deleted the participant: this thread ends when it returns
  else
    service_.join();
}

void Core::serve() {
  Lock held = lock();
  service_id_ = std::this_thread::get_id();
  while (!stopping_) {
    do_work();
    calls_.call_all(held, stopping_);
    if (stopping_ || has_work()) continue;
    is_looked_after() ? nap(held) : wait_for_work(held);
  }
}

// Does everything that is due, except for calls of listeners.
void Core::do_work() {
  if (!domain_.is_lost()) (void)poll();
  entities_.advance(now());
  ask_waiters();
}

void Core::wait_for_work(Lock& held) {
  constexpr std::chrono::milliseconds rest_without_domain(100);
  sleep_.begin(entities_.next_wakeup());
  const std::chrono::nanoseconds at_most = sleep_.left(clock_.monotonic(), sleep_max);
  const auto look_again = [this] {
    Lock inner = lock();
    if (!domain_.is_lost()) (void)poll();
    ask_waiters();
    return stopping_ || lead_.is_wanted() || has_work();
  };
  Status waited = domain_.state();
  const bool can_wait = waited.has_value();
  lead_.service_begins_to_wait();
  held.unlock();
  if (can_wait) waited = domain_.participant().wait(look_again, at_most);
  held.lock();
  lead_.service_has_waited();
  if (can_wait && !waited) lose_domain(waited);
  if (!waited && !stopping_ && !has_work()) sleep_.rest(held, rest_without_domain);
  sleep_.end();
}

bool Core::has_work() { return !calls_.is_empty() || entities_.next_wakeup() <= clock_.monotonic(); }

Status Core::poll() {
  if (domain_.is_lost()) return domain_.state();
  moment_.renew();
  if (Status status = domain_.participant().poll(); !status) {
    lose_domain(status);
    return domain_.state();
  }
  entities_.settle(moment_);
  return {};
}

// Nothing comes or goes any more: all matches end, and every waiting thread is told.
void Core::lose_domain(const Status& why) {
  if (!domain_.lose(why)) return;
  entities_.end_all_matches();
  waiters_.wake_all();
  if (lead_.is_taken()) domain_.wake();
}

void Core::ask_waiters() {
  waiters_.ask([this] { wake_leader(); });
}

// Wakes the thread that waits for the moment that look_at() was given.
void Core::wake_up() {
  if (!lead_.is_service_threads() && sleep_.is_nap())
    sleep_.end_nap();
  else
    domain_.wake();
}

void Core::plan_data_call(Entity& reader) {
  calls_.plan_data_call(reader);
  look_at(std::chrono::nanoseconds::zero());
}

void Core::await_no_calls(Lock& held, const std::uint32_t& running_calls) {
  if (!is_service_thread()) calls_.await_none(held, running_calls);
}

}  // namespace llamada::dcps::detail
