#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <vector>

#include "event_loop.hpp"
#include "llamada/base/file_descriptor.hpp"
#include "llamada/launcher/job_control.hpp"
#include "node_messages.hpp"

namespace llamada::launcher {

/// One end of a stream socket that carries messages, on an event loop: it sends messages of Out and takes
/// messages of In. Sends never block, what does not fit yet is queued. The loop must outlive it.
template <typename In, typename Out>
class MessageLink {
 public:
  using Handler = std::function<void(In)>;
  using ClosedHandler = std::function<void(const Error&)>;

  /// A stream, and what was read of it and belongs to a message that is not whole.
  struct Stream {
    FileDescriptor socket;
    std::vector<std::byte> read{};
  };
  /// `on_message` is called for each message, `on_closed` once: the other end is gone, or does not make
  /// sense.
  MessageLink(EventLoop& loop, Stream stream, Handler on_message, ClosedHandler on_closed);
  ~MessageLink();
  MessageLink(const MessageLink&) = delete;
  MessageLink& operator=(const MessageLink&) = delete;

  void send(const Out& message);
  std::size_t queued_bytes() const { return queued_bytes_; }
  bool closed() const { return closed_; }
  /// Stops, or goes on with, taking messages.
  void pause_reading(bool pause);
  /// Queues what is sent from now on, or sends again. Not before flush().
  void pause_writing(bool pause);
  /// Sends what is queued, blocking.
  void flush();
  /// Sends what is queued, blocking. The stream is another link's from then on.
  Stream give_up();
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
  std::vector<std::byte> part_;  ///< what is read at a time
  StreamDecoder<In> decoder_;
  std::deque<std::vector<std::byte>> queue_;
  std::size_t written_of_first_ = 0;
  std::size_t queued_bytes_ = 0;
  bool closed_ = false;
  bool paused_ = false;
  bool holds_ = false;
};

/// Either end of the socket between mpirun and llamanetd.
using ControlLink = MessageLink<control::Message, control::Message>;
/// The coordinator's end of the stream to a node, and the node's.
using LinkToNode = MessageLink<node::FromNode, node::ToNode>;
using LinkToCoordinator = MessageLink<node::ToNode, node::FromNode>;

}  // namespace llamada::launcher
