#include "dds/core/cond.hpp"

#include <algorithm>

namespace dds::core::cond {

namespace detail {

ReadConditionState::~ReadConditionState() {
  const auto reader = reader_.shared_native();
  static_cast<void>(reader->delete_readcondition(read_condition_).has_value());
}

}  // namespace detail

WaitSet& WaitSet::attach_condition(const Condition& condition) {
  const auto& native = condition.state().native();
  const bool is_there = std::any_of(conditions_.begin(), conditions_.end(),
                                    [&](const Condition& each) { return each.state().native() == native; });
  if (is_there) return *this;
  native_->attach(native);
  conditions_.push_back(condition);
  return *this;
}

bool WaitSet::detach_condition(const Condition& condition) {
  const auto& native = condition.state().native();
  const auto removed =
      std::erase_if(conditions_, [&](const Condition& each) { return each.state().native() == native; });
  if (removed == 0) return false;
  core::detail::value_of(native_->detach(native));
  return true;
}

ConditionSeq WaitSet::conditions() const { return conditions_; }

ConditionSeq WaitSet::wait(const Duration& at_most) {
  const auto triggered = core::detail::value_of(native_->wait(at_most.to_chrono()));
  ConditionSeq found;
  for (const Condition& each : conditions_) {
    if (std::find(triggered.begin(), triggered.end(), each.state().native()) != triggered.end())
      found.push_back(each);
  }
  return found;
}

void WaitSet::dispatch(const Duration& at_most) {
  for (Condition& each : wait(at_most)) each.dispatch();
}

}  // namespace dds::core::cond
