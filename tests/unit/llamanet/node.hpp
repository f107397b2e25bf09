#pragma once

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "llamada/llamanet/application.hpp"
#include "llamada/llamanet/driver.hpp"
#include "test.hpp"

// A driver under a name of its own, driven by a thread, for tests in one process.

namespace llamada::llamanet {

inline std::string unique_name() {
  static std::atomic<int> last{0};
  return fmt::format("test-{}-{}", ::getpid(), ++last);
}

class Node {
 public:
  explicit Node(DriverOptions options = {}, std::uint32_t slots = 0) {
    options.name = unique_name();
    if (options.arena_size_bytes == 0) options.arena_size_bytes = 64 << 20;
    auto driver = Driver::open(options);
    REQUIRE(driver);
    driver_ = std::make_unique<Driver>(std::move(*driver));
    if (slots > 0) REQUIRE(driver_->create_slots(slots));
  }
  ~Node() { stop(); }

  Driver& driver() { return *driver_; }  // only while stopped
  const std::string& socket_name() const { return driver_->socket_name(); }

  void start() {
    running_ = true;
    thread_ = std::thread([this] {
      while (running_)
        for (auto& event : driver_->poll(std::chrono::milliseconds(1))) events_.push_back(event);
    });
  }
  /// Afterwards events() holds all that happened.
  void stop() {
    if (!thread_.joinable()) return;
    running_ = false;
    thread_.join();
    for (auto& event : driver_->poll(std::chrono::milliseconds(0))) events_.push_back(event);
  }
  /// While it has been started: the driver's thread stands still meanwhile, since it might have the lock of
  /// AddressSanitizer's allocator, for which the child would wait for ever.
  pid_t fork() {
    stop();
    const pid_t child = ::fork();
    if (child != 0) start();
    return child;
  }
  /// Polls until the condition holds. Only while stopped.
  void poll_until(const std::function<bool()>& condition) {
    while (!condition())
      for (auto& event : driver_->poll(std::chrono::milliseconds(1))) events_.push_back(event);
  }
  /// Whoever had the slot has ended: the next one to attach there is its successor, with this token.
  void expect_successor(std::uint32_t slot, std::uint64_t token) {
    stop();
    driver_->expect(slot, token, driver_->next_incarnation(slot));
    start();
  }
  std::vector<DriverEvent>& events() { return events_; }
  std::size_t count(DriverEvent::Kind kind) const {
    std::size_t count = 0;
    for (auto& event : events_) count += event.kind == kind ? 1 : 0;
    return count;
  }
  void end_driver() {
    stop();
    driver_.reset();
  }

  ApplicationOptions options(std::uint32_t slot = any_slot, std::uint64_t token = 0) const {
    ApplicationOptions options;
    options.socket_name = socket_name();
    options.slot = slot;
    options.token = token;
    options.arena.log_count_max = 64;
    options.arena.cursor_count_max = 64;
    options.arena.endpoint_count_max = 16;
    options.arena.extent_bytes = 64 << 10;
    return options;
  }

 private:
  std::unique_ptr<Driver> driver_;
  std::thread thread_;
  std::atomic<bool> running_{false};
  std::vector<DriverEvent> events_;
};

inline DriverOptions on_demand() {
  DriverOptions options;
  options.on_demand = true;
  options.slot_count_max = 8;
  return options;
}

}  // namespace llamada::llamanet
