#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>

#include "llamada/dcps/entity.hpp"

namespace llamada::dcps::detail {

/// No sleep is longer, so that a deadline by a clock that was moved is not missed by much.
inline constexpr std::chrono::nanoseconds sleep_max = std::chrono::seconds(1);

/// How the service thread sleeps: it waits for the domain, or it naps while other threads look at the domain.
///
/// Threads: any, with the participant's lock held; begin(), end(), nap() and rest() by the service thread.
class ServiceSleep {
 public:
  /// Until `moment`, unless something earlier ends it.
  void begin(std::chrono::nanoseconds moment) { until_ = moment; }
  void end() { until_ = std::chrono::nanoseconds::zero(); }
  /// The service thread sleeps beyond `moment`.
  bool outlasts(std::chrono::nanoseconds moment) const { return moment < until_; }
  /// What is left of it at `now`: not below zero, not above `at_most`.
  std::chrono::nanoseconds left(std::chrono::nanoseconds now, std::chrono::nanoseconds at_most) const {
    return std::clamp(until_ - now, std::chrono::nanoseconds::zero(), at_most);
  }

  void nap(Lock& held, std::chrono::nanoseconds at_most, bool is_long) {
    is_nap_ = true;
    is_long_ = is_long;
    nap_over_.wait_for(held, at_most);
    is_nap_ = false;
    is_long_ = false;
  }
  bool is_nap() const { return is_nap_; }
  /// It relies on one leader, who ends it.
  bool is_long_nap() const { return is_long_; }
  void end_nap() { nap_over_.notify_all(); }
  /// Sleeps without a domain to wait for.
  void rest(Lock& held, std::chrono::nanoseconds at_most) { nap_over_.wait_for(held, at_most); }

 private:
  std::chrono::nanoseconds until_{0};  // 0: the service thread is awake
  bool is_nap_ = false;
  bool is_long_ = false;
  std::condition_variable_any nap_over_;
};

}  // namespace llamada::dcps::detail
