#pragma once

#include <poll.h>
#include <signal.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "llamada/base/result.hpp"

namespace llamada::launcher {

/// Waits for descriptors, signals and points in time, and calls their handlers. One thread. A handler may
/// watch, change and forget whatever it likes.
class EventLoop {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  using Handler = std::function<void(short events)>;
  using TimerHandler = std::function<void()>;
  using SignalHandler = std::function<void()>;

  /// Calls `handler` while one of `events` (POLLIN …), POLLHUP or POLLERR holds. With events 0 it is not
  /// looked at.
  void watch(int descriptor, short events, Handler handler);
  void change(int descriptor, short events);
  void forget(int descriptor);

  /// Calls `handler` once, at `when` or later. The number is for cancel(), which may come too late.
  std::uint64_t at(TimePoint when, TimerHandler handler);
  std::uint64_t after(std::chrono::nanoseconds delay, TimerHandler handler);
  void cancel(std::uint64_t timer);

  /// Calls `handler` once after the process was sent `signal` one or more times; several handlers of a signal
  /// in the order in which they were given. The caller has blocked the
  /// signal (sigprocmask), and keeps it blocked: the loop lets it through only while it waits, so no other
  /// system call is ever interrupted. No descriptor is needed, as containers may refuse signalfd.
  void on_signal(int signal, SignalHandler handler);

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

  std::optional<timespec> time_left() const;
  sigset_t blocked_in_waits() const;
  void call_due_timers();
  void call_signal_handlers();

  std::map<int, Watched> watched_;
  std::multimap<TimePoint, Timer> timers_;
  std::map<int, std::vector<SignalHandler>> signal_handlers_;
  std::uint64_t next_serial_ = 1;
  std::vector<pollfd> polled_;
  std::vector<std::uint64_t> polled_serials_;
};

}  // namespace llamada::launcher
