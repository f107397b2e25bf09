#include "event_loop.hpp"

#include <algorithm>
#include <cerrno>

namespace llamada::launcher {
namespace {

/// Which signals have come since their handlers were called. Written by the kernel's call of `note_signal`,
/// which happens only while a loop waits, and read after that wait, by the same thread.
volatile sig_atomic_t has_come[NSIG];

extern "C" void note_signal(int signal) { has_come[signal] = 1; }

}  // namespace

void EventLoop::watch(int descriptor, short events, Handler handler) {
  watched_[descriptor] = {events, next_serial_++, std::move(handler)};
}

void EventLoop::change(int descriptor, short events) {
  const auto found = watched_.find(descriptor);
  if (found != watched_.end()) found->second.events = events;
}

void EventLoop::forget(int descriptor) { watched_.erase(descriptor); }

std::uint64_t EventLoop::at(TimePoint when, TimerHandler handler) {
  const std::uint64_t number = next_serial_++;
  timers_.emplace(when, Timer{number, std::move(handler)});
  return number;
}

std::uint64_t EventLoop::after(std::chrono::nanoseconds delay, TimerHandler handler) {
  return at(std::chrono::steady_clock::now() + delay, std::move(handler));
}

void EventLoop::cancel(std::uint64_t timer) {
  std::erase_if(timers_, [timer](const auto& entry) { return entry.second.number == timer; });
}

void EventLoop::on_signal(int signal, SignalHandler handler) {
  signal_handlers_[signal].push_back(std::move(handler));
  struct sigaction action {};
  action.sa_handler = note_signal;
  sigfillset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

std::optional<timespec> EventLoop::time_left() const {
  if (timers_.empty()) return std::nullopt;
  const std::chrono::nanoseconds left =
      std::max(timers_.begin()->first - std::chrono::steady_clock::now(), std::chrono::nanoseconds(0));
  const auto whole = std::chrono::floor<std::chrono::seconds>(left);
  return timespec{whole.count(), (left - whole).count()};
}

sigset_t EventLoop::blocked_in_waits() const {
  sigset_t blocked;
  sigprocmask(SIG_BLOCK, nullptr, &blocked);
  for (const auto& [signal, handlers] : signal_handlers_) sigdelset(&blocked, signal);
  return blocked;
}

void EventLoop::call_signal_handlers() {
  for (const auto& [signal, handlers] : signal_handlers_) {
    if (has_come[signal] == 0) continue;
    has_come[signal] = 0;
    for (const SignalHandler& handler : handlers) handler();
  }
}

void EventLoop::call_due_timers() {
  const TimePoint now = std::chrono::steady_clock::now();
  while (!timers_.empty() && timers_.begin()->first <= now) {
    const TimerHandler handler = std::move(timers_.begin()->second.handler);
    timers_.erase(timers_.begin());
    handler();
  }
}

Status EventLoop::run_once() {
  polled_.clear();
  polled_serials_.clear();
  for (const auto& [descriptor, entry] : watched_) {
    if (entry.events == 0) continue;
    polled_.push_back({descriptor, entry.events, 0});
    polled_serials_.push_back(entry.serial);
  }
  const auto left = time_left();
  const sigset_t blocked = blocked_in_waits();
  if (ppoll(polled_.data(), polled_.size(), left ? &*left : nullptr, &blocked) < 0) {
    if (errno != EINTR) return system_failure("cannot wait for the processes of the job (ppoll)");
    for (pollfd& one : polled_) one.revents = 0;
  }
  call_signal_handlers();
  for (std::size_t index = 0; index < polled_.size(); ++index) {
    if (polled_[index].revents == 0) continue;
    const auto found = watched_.find(polled_[index].fd);
    if (found == watched_.end() || found->second.serial != polled_serials_[index]) continue;
    const Handler handler = found->second.handler;
    handler(polled_[index].revents);
  }
  call_due_timers();
  return {};
}

}  // namespace llamada::launcher
