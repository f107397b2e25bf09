#pragma once

#include <condition_variable>
#include <cstdint>

#include "llamada/dcps/entity.hpp"

namespace llamada::dcps::detail {

/// Records which thread looks at the domain and waits for it: the service thread, or instead of it a thread
/// of the application that waits anyway, the leader. Followers are threads that wait without leading.
///
/// Threads: any, with the participant's lock held.
class Lead {
 public:
  /// The application has looked by itself.
  void looked() { ++looks_; }
  void follower_came() { ++followers_; }
  void follower_went() { --followers_; }
  bool has_followers() const { return followers_ > 0; }

  bool is_taken() const { return is_taken_; }
  /// A listener, which runs in the service thread, leads.
  bool is_service_threads() const { return is_service_threads_; }
  /// A thread waits in await_service().
  bool is_wanted() const { return wanted_ > 0; }
  void take(bool by_service_thread) {
    is_taken_ = true;
    is_service_threads_ = by_service_thread;
    ++takings_;
  }
  void give_up() {
    is_taken_ = false;
    is_service_threads_ = false;
    ++looks_;
    free_.notify_all();
  }

  bool service_waits() const { return service_waits_; }
  void service_begins_to_wait() { service_waits_ = true; }
  void service_has_waited() {
    service_waits_ = false;
    free_.notify_all();
  }
  /// Waits until the service thread no longer waits for the domain, another thread leads, or `stopping`.
  void await_service(Lock& held, const bool& stopping) {
    ++wanted_;
    free_.wait(held, [&] { return !service_waits_ || is_taken_ || stopping; });
    --wanted_;
  }
  /// Waits until nobody leads.
  void await_free(Lock& held) {
    free_.wait(held, [this] { return !is_taken_; });
  }
  /// `stopping` has become true.
  void wake_all() { free_.notify_all(); }

  /// The application has looked since note().
  bool has_been_looked() const { return looks_ != looks_noted_; }
  /// The leader is the one that led at the last note().
  bool has_stayed() const { return is_taken_ && takings_ == takings_noted_; }
  void note() {
    looks_noted_ = looks_;
    takings_noted_ = takings_;
  }

 private:
  std::condition_variable_any free_;
  bool is_taken_ = false;
  bool is_service_threads_ = false;
  bool service_waits_ = false;
  std::uint32_t wanted_ = 0;
  std::uint32_t followers_ = 0;
  std::uint64_t looks_ = 0;  // of the application
  std::uint64_t looks_noted_ = 0;
  std::uint64_t takings_ = 0;
  std::uint64_t takings_noted_ = 0;
};

}  // namespace llamada::dcps::detail
