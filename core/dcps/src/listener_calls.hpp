#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>

#include "llamada/dcps/entity.hpp"

namespace llamada::dcps::detail {

/// The calls of listeners that the service thread has to make, in the order in which the statuses changed.
///
/// Threads: any, with the participant's lock held; call_all() only by the service thread.
class ListenerCalls {
 public:
  void listener_came() { ++listener_count_; }
  void listener_went() { --listener_count_; }
  bool has_listeners() const { return listener_count_ > 0; }

  /// A status of the entity changed. True: a call is planned now, so the service thread has work.
  bool plan(Entity& entity, StatusMask status) { return listener_count_ > 0 && plan_wanted(entity, status); }
  /// Plans to tell the reader's listener of new data without asking its subscriber's.
  void plan_data_call(Entity& reader);
  bool is_empty() const { return planned_.empty(); }

  /// Makes the calls that are planned now, until `stopping`. Lets go of the lock while a listener runs.
  void call_all(Lock& held, const bool& stopping);
  /// Waits until `running_calls` is 0. Not by the service thread.
  void await_none(Lock& held, const std::uint32_t& running_calls);

 private:
  struct PlannedCall {
    std::weak_ptr<Entity> entity;
    StatusMask status;
    bool direct = false;
  };

  static bool wants_call(Entity& entity, StatusMask status);
  bool plan_wanted(Entity& entity, StatusMask status);
  void call(Lock& held, const PlannedCall& planned);
  void tell(Lock& held, Entity& subject, Entity& holder, StatusMask status);

  std::deque<PlannedCall> planned_;
  std::condition_variable_any ended_;
  std::uint32_t listener_count_ = 0;
};

}  // namespace llamada::dcps::detail
