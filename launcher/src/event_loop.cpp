#include "event_loop.hpp"

#include <algorithm>
#include <cerrno>

namespace llamada::launcher {

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

int EventLoop::poll_timeout_ms() const {
  if (timers_.empty()) return -1;
  const auto left = timers_.begin()->first - std::chrono::steady_clock::now();
  const auto left_ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  return static_cast<int>(std::clamp<std::int64_t>(left_ms, 0, 1'000'000));
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
  if (poll(polled_.data(), polled_.size(), poll_timeout_ms()) < 0 && errno != EINTR)
    return system_failure("poll");
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
