#include "node_lease.hpp"

#include <algorithm>
#include <utility>

#include "leases.hpp"

namespace llamada::launcher {
namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds lease_min = std::chrono::seconds(2);
constexpr nanoseconds lease_max = std::chrono::seconds(16);
constexpr nanoseconds lease_without_policy = std::chrono::seconds(8);

}  // namespace

nanoseconds node_lease(const qos::Liveliness& policy) {
  if (policy.lease_duration == qos::duration_infinite) return lease_without_policy;
  return std::clamp(policy.lease_duration, lease_min, lease_max);
}

std::uint64_t NodeLease::ask(TimePoint now) {
  asked_[++last_question_] = now;
  return last_question_;
}

NodeLease::Deed NodeLease::answered(std::uint64_t question, TimePoint now) {
  const auto asked = asked_.find(question);
  if (asked == asked_.end()) return Deed::none;
  valid_until_ = std::max(valid_until_.value_or(asked->second), asked->second + lease_ / 2);
  asked_.erase(asked_.begin(), std::next(asked));  // older ones say less
  if (!is_frozen_ || now >= *valid_until_) return Deed::none;
  is_frozen_ = false;
  return Deed::thaw;
}

NodeLease::Deed NodeLease::look(TimePoint now) {
  if (!valid_until_) valid_until_ = now + lease_ / 2;
  const nanoseconds elapsed = counted(now - std::exchange(last_look_, now), node_look_interval(lease_));
  std::erase_if(asked_, [&](const auto& each) { return each.second + lease_ / 2 <= now; });
  if (is_frozen_) {
    frozen_for_ += elapsed;
    return frozen_for_ >= lease_ ? Deed::end : Deed::none;
  }
  if (now < *valid_until_) return Deed::none;
  is_frozen_ = true;
  frozen_for_ = nanoseconds(0);
  return Deed::freeze;
}

void NodeLeases::asked(std::uint32_t node, TimePoint now) { silent_[node] = {now}; }

std::vector<NodeLeases::Over> NodeLeases::look(TimePoint now) {
  std::vector<Over> over;
  for (auto& [node, silent] : silent_) {
    silent.so_far += counted(now - std::max(last_look_, silent.since), node_look_interval(lease_));
    if (silent.so_far >= node_silence_max(lease_)) over.push_back({node, silent.so_far});
  }
  for (const Over& each : over) silent_.erase(each.node);
  last_look_ = now;
  return over;
}

}  // namespace llamada::launcher
