#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "event_loop.hpp"
#include "llamada/base/file_descriptor.hpp"

namespace llamada::launcher {

/// Reads the stacks of processes by a debugger's command (waits::start_stack_command()), without waiting for
/// it.
///
/// One thread. Its owner reaps the commands.
class StackReader {
 public:
  /// Called once, with what the command has printed, or with a sentence on why there is nothing.
  using Read = std::function<void(std::string text)>;

  /// `loop` is borrowed, and must be used no more once this is gone.
  explicit StackReader(EventLoop& loop) : loop_(loop) {}

  void read(pid_t process, Read read);

 private:
  static constexpr std::chrono::seconds time_max{3};
  static constexpr std::size_t text_bytes_max = 64 << 10;

  struct Reading {
    FileDescriptor pipe;
    pid_t command = 0;
    std::string text;
    std::uint64_t timer = 0;
    Read read;
  };
  void take(std::uint64_t number);
  void end(std::uint64_t number, bool is_over);

  EventLoop& loop_;
  std::map<std::uint64_t, Reading> readings_;
  std::uint64_t last_ = 0;
};

}  // namespace llamada::launcher
