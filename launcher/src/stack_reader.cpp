#include "stack_reader.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <utility>

#include "llamada/waits/stack.hpp"

namespace llamada::launcher {

void StackReader::read(pid_t process, Read read) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return read(std::string(waits::no_stack) + "\n");
  FileDescriptor in(ends[0]);
  const FileDescriptor out(ends[1]);
  const auto child = waits::start_stack_command(process, out.get());
  if (!child) return read(child.error().text() + "\n");
  const std::uint64_t number = ++last_;
  loop_.watch(in.get(), POLLIN, [this, number](short) { take(number); });
  const auto timer = loop_.after(time_max, [this, number] { end(number, false); });
  readings_[number] = {std::move(in), *child, {}, timer, std::move(read)};
}

void StackReader::take(std::uint64_t number) {
  Reading& reading = readings_.at(number);
  char part[4096];
  const ssize_t count = ::read(reading.pipe.get(), part, sizeof part);
  if (count <= 0) return end(number, true);
  reading.text.append(part, static_cast<std::size_t>(count));
  if (reading.text.size() > text_bytes_max) end(number, false);
}

/// A command that is not over, because it takes too long or says too much, is killed.
void StackReader::end(std::uint64_t number, bool is_over) {
  auto found = readings_.find(number);
  if (found == readings_.end()) return;
  Reading reading = std::move(found->second);
  readings_.erase(found);
  loop_.forget(reading.pipe.get());
  loop_.cancel(reading.timer);
  if (!is_over) kill(reading.command, SIGKILL);
  reading.read(reading.text.empty() ? std::string(waits::no_stack) + "\n" : std::move(reading.text));
}

}  // namespace llamada::launcher
