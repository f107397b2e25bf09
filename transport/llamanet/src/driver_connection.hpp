#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "ask.hpp"
#include "llamada/base/kept_descriptor.hpp"
#include "llamada/llamanet/bell.hpp"

namespace llamada::llamanet {

/// An application's end of the connection with its driver.
///
/// Threads: one at a time, but that one may check() and sleep on it while another asks.
class DriverConnection final : public Bell::Source {
 public:
  /// `is_outlived`: the application goes on without its driver, and no sleep ends because that is gone.
  /// Errors: closed (nobody listens there), permission_denied (another user does).
  static Result<std::unique_ptr<DriverConnection>> open(const std::string& socket_name, bool is_outlived);

  /// One question, one answer, with at most `count_max` descriptors. Errors: what the driver refused with;
  /// closed; parse_error for an answer of another kind.
  template <typename Expected>
  Result<Expected> ask(Message question, std::vector<FileDescriptor>& descriptors, std::size_t count_max) {
    const std::lock_guard lock(mutex_);
    return llamanet::ask<Expected>(socket_.get(), ++request_, std::move(question), descriptors, count_max);
  }
  template <typename Expected>
  Result<Expected> ask(Message question) {
    std::vector<FileDescriptor> none;
    return ask<Expected>(std::move(question), none, 0);
  }
  /// A message without an answer. Errors: closed.
  Status tell(Message message) { return send(prepare(std::move(message))); }
  /// The same in two steps, of which a signal handler may take the second.
  std::vector<std::byte> prepare(Message message) { return encode({++request_, std::move(message)}); }
  Status send(std::span<const std::byte> prepared) const { return send_datagram(socket_.get(), prepared); }

  /// Whether the driver is still there. No wait. Errors: closed.
  Status check();
  /// lose() or check() found that it is not.
  bool is_lost() const { return is_lost_.load(std::memory_order_relaxed); }
  void lose() { is_lost_.store(true, std::memory_order_relaxed); }
  /// Makes this the connection with the driver at the other end of `socket`, which is not lost; calls
  /// `take_over` before anybody else can ask. Its number stays: another thread may be about to wait for it.
  /// Errors: those of the system.
  Status replace(const FileDescriptor& socket, const std::function<void()>& take_over);
  /// The same in a child of fork(), whose parent keeps the connection until now.
  Status replace(int socket);

  int socket() const { return socket_.get(); }
  /// Whether the socket is still one: the program may have closed it.
  bool is_open() const;

  int descriptor() const override { return is_outlived_ && is_lost() ? -1 : socket_.get(); }
  Status on_ready() override { return check(); }

 private:
  DriverConnection(FileDescriptor socket, bool is_outlived)
      : socket_(std::move(socket)), is_outlived_(is_outlived) {}

  KeptDescriptor socket_;
  const bool is_outlived_;
  std::mutex mutex_;  // while an answer is on its way, or it is seen whether there is one
  std::uint32_t request_ = 0;
  std::atomic<bool> is_lost_{false};
};

}  // namespace llamada::llamanet
