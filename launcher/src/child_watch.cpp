#include "child_watch.hpp"

#include <signal.h>
#include <sys/wait.h>

#include <utility>

namespace llamada::launcher {
namespace {

/// A batch system that suspends a job stops all of its processes within much less time.
constexpr std::chrono::milliseconds stopped_max{1000};

}  // namespace

ChildWatch::ChildWatch(EventLoop& loop, pid_t child, std::function<void(int)> on_end)
    : loop_(loop), child_(child), on_end_(std::move(on_end)) {
  loop_.on_signal(SIGCHLD, [this] { look(); });
}

void ChildWatch::look() {
  int status = 0;
  while (!ended_ && waitpid(child_, &status, WNOHANG | WUNTRACED) == child_) {
    if (WIFSTOPPED(status)) {
      continue_later();
      continue;
    }
    ended_ = true;
    on_end_(status);
  }
}

void ChildWatch::continue_later() {
  loop_.after(stopped_max, [this] {
    if (!ended_) kill(child_, SIGCONT);
  });
}

}  // namespace llamada::launcher
