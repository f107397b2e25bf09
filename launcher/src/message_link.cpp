#include "message_link.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

#include "node_codec.hpp"

namespace llamada::launcher {

template <typename In, typename Out>
MessageLink<In, Out>::MessageLink(EventLoop& loop, Stream stream, Handler on_message, ClosedHandler on_closed)
    : loop_(loop),
      socket_(std::move(stream.socket)),
      on_message_(std::move(on_message)),
      on_closed_(std::move(on_closed)) {
  decoder_.append(stream.read);
  loop_.watch(socket_.get(), POLLIN, [this](short events) { ready(events); });
}

template <typename In, typename Out>
MessageLink<In, Out>::~MessageLink() {
  loop_.forget(socket_.get());
}

template <typename In, typename Out>
void MessageLink<In, Out>::send(const Out& message) {
  if (closed_) return;
  queue_.push_back(encode(message));
  queued_bytes_ += queue_.back().size();
  write_some();
}

template <typename In, typename Out>
void MessageLink<In, Out>::pause_reading(bool pause) {
  paused_ = pause;
  look_for();
}

template <typename In, typename Out>
void MessageLink<In, Out>::pause_writing(bool pause) {
  holds_ = pause;
  write_some();
}

template <typename In, typename Out>
void MessageLink<In, Out>::flush() {
  while (!closed_ && !queue_.empty()) {
    pollfd one{socket_.get(), POLLOUT, 0};
    if (poll(&one, 1, -1) < 0 && errno != EINTR) return;
    write_some();
  }
}

template <typename In, typename Out>
typename MessageLink<In, Out>::Stream MessageLink<In, Out>::give_up() {
  flush();
  closed_ = true;
  loop_.forget(socket_.get());
  return {std::move(socket_), decoder_.rest()};
}

template <typename In, typename Out>
void MessageLink<In, Out>::hang_up() {
  queue_.clear();
  queued_bytes_ = 0;
  shutdown(socket_.get(), SHUT_WR);
  look_for();
}

template <typename In, typename Out>
void MessageLink<In, Out>::look_for() {
  if (closed_) return;
  const bool writes = !queue_.empty() && !holds_;
  loop_.change(socket_.get(), static_cast<short>((paused_ ? 0 : POLLIN) | (writes ? POLLOUT : 0)));
}

template <typename In, typename Out>
void MessageLink<In, Out>::ready(short events) {
  if (events & POLLOUT) write_some();
  if (!closed_ && !paused_ && (events & (POLLIN | POLLHUP | POLLERR))) read_some();
}

template <typename In, typename Out>
void MessageLink<In, Out>::read_some() {
  // Not on the stack, which may be small, and which the handlers use.
  part_.resize(control::part_size_bytes_max);
  const ssize_t count = recv(socket_.get(), part_.data(), part_.size(), MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) return close_with(Error(Errc::closed, "the other end is gone"));
  decoder_.append({part_.data(), static_cast<std::size_t>(count)});
  while (!closed_) {
    auto message = decoder_.next();
    if (!message) return close_with(message.error());
    if (!*message) return;
    on_message_(std::move(**message));
  }
}

template <typename In, typename Out>
void MessageLink<In, Out>::write_some() {
  while (!queue_.empty() && !holds_) {
    const std::vector<std::byte>& first = queue_.front();
    const ssize_t count = ::send(socket_.get(), first.data() + written_of_first_,
                                 first.size() - written_of_first_, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) break;
    // A lost peer is noticed by reading, behind whatever it still sent.
    if (count < 0) {
      queue_.clear();
      queued_bytes_ = 0;
      break;
    }
    written_of_first_ += static_cast<std::size_t>(count);
    queued_bytes_ -= static_cast<std::size_t>(count);
    if (written_of_first_ < first.size()) continue;
    queue_.pop_front();
    written_of_first_ = 0;
  }
  look_for();
}

template <typename In, typename Out>
void MessageLink<In, Out>::close_with(const Error& error) {
  if (closed_) return;
  closed_ = true;
  loop_.forget(socket_.get());
  on_closed_(error);
}

template class MessageLink<control::Message, control::Message>;
template class MessageLink<node::FromNode, node::ToNode>;
template class MessageLink<node::ToNode, node::FromNode>;

}  // namespace llamada::launcher
