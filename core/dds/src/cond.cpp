#include "dds/core/cond.hpp"

#include <algorithm>

#include "llamada/dcps/time.hpp"

namespace dds::core {

namespace detail {

std::shared_ptr<cond::detail::ConditionState> EntityState::status_condition() {
  const auto& native = entity().status_condition();
  std::call_once(status_condition_made_,
                 [&] { status_condition_ = std::make_shared<cond::detail::ConditionState>(native); });
  return status_condition_;
}

}  // namespace detail

namespace cond {

namespace detail {

// The handler may replace itself, so a copy is called.
void ConditionState::dispatch() {
  std::unique_lock held(mutex_);
  const auto handler = handler_;
  held.unlock();
  if (handler) handler();
}

ReadConditionState::~ReadConditionState() {
  if (!is_of_this_process()) return;
  const auto reader = reader_.shared_native();
  static_cast<void>(reader->delete_readcondition(read_condition_).has_value());
}

void WaitSetState::attach(const Condition& condition) {
  check_made_here();
  const auto& native = condition.state().native();
  std::lock_guard held(mutex_);
  const bool is_there = std::any_of(conditions_.begin(), conditions_.end(),
                                    [&](const Condition& each) { return each.state().native() == native; });
  if (is_there) return;
  native_.attach(native);
  conditions_.push_back(condition);
}

bool WaitSetState::detach(const Condition& condition) {
  check_made_here();
  const auto& native = condition.state().native();
  Condition removed(null);  // goes after the lock: its reader may go with it
  std::lock_guard held(mutex_);
  const auto found = std::find_if(conditions_.begin(), conditions_.end(),
                                  [&](const Condition& each) { return each.state().native() == native; });
  if (found == conditions_.end()) return false;
  removed = *found;
  conditions_.erase(found);
  core::detail::value_of(native_.detach(native));
  return true;
}

ConditionSeq WaitSetState::conditions() const {
  check_made_here();
  std::lock_guard held(mutex_);
  return conditions_;
}

// A condition that another thread detaches while this one wakes up does not count: the wait goes on.
ConditionSeq WaitSetState::wait(const Duration& at_most) {
  check_made_here();
  const auto now = [] { return std::chrono::steady_clock::now().time_since_epoch(); };
  const auto deadline = llamada::dcps::after(now(), at_most.to_chrono());
  ConditionSeq found;
  while (true) {
    const auto left = deadline == llamada::dcps::never ? deadline : deadline - now();
    auto awaited = native_.wait(left);
    if (!awaited && awaited.error().code() == llamada::Errc::timeout)
      throw TimeoutError("no condition became true within " + llamada::qos::to_string(at_most.to_chrono()));
    const auto triggered = core::detail::value_of(std::move(awaited));
    for (const Condition& each : conditions()) {
      if (std::find(triggered.begin(), triggered.end(), each.state().native()) != triggered.end())
        found.push_back(each);
    }
    if (!found.empty()) return found;
  }
}

}  // namespace detail

core::Entity StatusCondition::entity() const {
  const auto entity = native().entity();
  return core::Entity(entity ? core::detail::known_state(*entity) : nullptr);
}

void WaitSet::dispatch(const Duration& at_most) {
  for (Condition& each : wait(at_most)) each.dispatch();
}

}  // namespace cond

}  // namespace dds::core
