#pragma once

#include <sys/types.h>

#include <functional>

#include "event_loop.hpp"

namespace llamada::launcher {

/// Watches one child of this process: tells that it has ended, and continues it when it has been stopped for
/// a second. mpirun, guardian and keeper each do so for the process below them. They and llamanetd never stop
/// by themselves, and a stopped one would neither end the job nor see its end. A debugger's stops are not
/// seen.
///
/// SIGCHLD is blocked, not ignored. One thread.
class ChildWatch {
 public:
  /// `on_end` is called once, with the child reaped and its status as wait() has it.
  ChildWatch(EventLoop& loop, pid_t child, std::function<void(int wait_status)> on_end);
  ChildWatch(const ChildWatch&) = delete;
  ChildWatch& operator=(const ChildWatch&) = delete;

  /// Looks now, not only when the loop hears of a child.
  void look();

 private:
  void continue_later();

  EventLoop& loop_;
  pid_t child_;
  bool ended_ = false;
  std::function<void(int)> on_end_;
};

}  // namespace llamada::launcher
