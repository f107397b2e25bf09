#include "input_pipe.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace llamada::launcher {

InputPipe::InputPipe(EventLoop& loop, std::function<void(std::size_t)> taken)
    : loop_(loop), taken_(std::move(taken)) {}

void InputPipe::open(FileDescriptor pipe) {
  close();
  pipe_ = std::move(pipe);
}

void InputPipe::give(std::string_view bytes) {
  ended_ = bytes.empty();
  waiting_ += bytes;
  write_some();
}

void InputPipe::close() {
  if (std::exchange(watched_, false)) loop_.forget(pipe_.get());
  pipe_.reset();
  waiting_.clear();
  ended_ = false;
}

void InputPipe::write_some() {
  std::size_t given = 0;
  while (pipe_ && given < waiting_.size()) {
    const ssize_t count = write(pipe_.get(), waiting_.data() + given, waiting_.size() - given);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) {
      waiting_.erase(0, given);
      if (!std::exchange(watched_, true)) loop_.watch(pipe_.get(), POLLOUT, [this](short) { write_some(); });
      if (given > 0) taken_(given);
      return;
    }
    if (count < 0) break;
    given += static_cast<std::size_t>(count);
  }
  // A rank that does not read gets no more, but nobody must wait for it.
  const bool is_broken = !pipe_ || given < waiting_.size();
  const std::size_t all = waiting_.size();
  waiting_.clear();
  if (std::exchange(watched_, false)) loop_.forget(pipe_.get());
  if (is_broken || ended_) pipe_.reset();
  if (all > 0) taken_(all);
}

}  // namespace llamada::launcher
