#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <vector>

#include "event_loop.hpp"
#include "llamada/base/file_descriptor.hpp"
#include "llamada/launcher/job_control.hpp"

namespace llamada::launcher {

/// One end of the socket between mpirun and llamanetd, on an event loop: sends never block, what does not fit
/// yet is queued. The loop must outlive it.
class ControlLink {
 public:
  using Handler = std::function<void(control::Message)>;
  using ClosedHandler = std::function<void(const Error&)>;

  /// `on_message` is called for each message, `on_closed` once: the other end is gone, or does not make
  /// sense.
  ControlLink(EventLoop& loop, FileDescriptor socket, Handler on_message, ClosedHandler on_closed);
  ~ControlLink();
  ControlLink(const ControlLink&) = delete;
  ControlLink& operator=(const ControlLink&) = delete;

  void send(const control::Message& message);
  std::size_t queued_bytes() const { return queued_bytes_; }
  bool closed() const { return closed_; }
  /// Stops, or goes on with, taking messages.
  void pause_reading(bool pause);
  /// Sends what is queued, blocking.
  void flush();
  /// The other end sees the end of what we send; what it has sent can still be read.
  void hang_up();

 private:
  void ready(short events);
  void read_some();
  void write_some();
  void close_with(const Error& error);
  void look_for();

  EventLoop& loop_;
  FileDescriptor socket_;
  Handler on_message_;
  ClosedHandler on_closed_;
  control::Decoder decoder_;
  std::deque<std::vector<std::byte>> queue_;
  std::size_t written_of_first_ = 0;
  std::size_t queued_bytes_ = 0;
  bool closed_ = false;
  bool paused_ = false;
};

}  // namespace llamada::launcher
