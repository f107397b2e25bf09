#pragma once

#include <poll.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "llamada/base/result.hpp"

namespace llamada::launcher {

/// Waits for descriptors and for points in time, and calls their handlers. One thread. A handler may watch,
/// change and forget whatever it likes.
class EventLoop {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Handler = std::function<void(short events)>;
  using TimerHandler = std::function<void()>;

  /// Calls `handler` while one of `events` (POLLIN …), POLLHUP or POLLERR holds. With events 0 it is not
  /// looked at.
  void watch(int descriptor, short events, Handler handler);
  void change(int descriptor, short events);
  void forget(int descriptor);

  /// Calls `handler` once, at `when` or later. The number is for cancel(), which may come too late.
  std::uint64_t at(TimePoint when, TimerHandler handler);
  std::uint64_t after(std::chrono::nanoseconds delay, TimerHandler handler);
  void cancel(std::uint64_t timer);

  /// Waits until something is ready or due and calls what it concerns.
  Status run_once();

 private:
  struct Watched {
    short events;
    std::uint64_t serial;
    Handler handler;
  };
  struct Timer {
    std::uint64_t number;
    TimerHandler handler;
  };

  int poll_timeout_ms() const;
  void call_due_timers();

  std::map<int, Watched> watched_;
  std::multimap<TimePoint, Timer> timers_;
  std::uint64_t next_serial_ = 1;
  std::vector<pollfd> polled_;
  std::vector<std::uint64_t> polled_serials_;
};

}  // namespace llamada::launcher
