#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "event_loop.hpp"
#include "llamada/base/file_descriptor.hpp"

namespace llamada::launcher {

/// The pipe to the standard input of a rank: takes what there is, and gives it as the rank reads. One thread.
class InputPipe {
 public:
  /// `taken` hears how many bytes more the rank has been given, or will never read.
  InputPipe(EventLoop& loop, std::function<void(std::size_t)> taken);

  /// A new process reads from the other end of this non-blocking pipe.
  void open(FileDescriptor pipe);
  /// Empty: the end.
  void give(std::string_view bytes);
  /// Nobody reads any more.
  void close();

 private:
  void write_some();

  EventLoop& loop_;
  std::function<void(std::size_t)> taken_;
  FileDescriptor pipe_;
  std::string waiting_;
  bool ended_ = false;
  bool watched_ = false;
};

}  // namespace llamada::launcher
