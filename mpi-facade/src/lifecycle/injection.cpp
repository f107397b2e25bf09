#include "lifecycle/injection.hpp"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <string>

#include "llamada/base/crash_point.hpp"

namespace llamada::mpi {
namespace {

template <typename Number>
Status read_number(std::string_view text, Number& number) {
  auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || number == 0)
    return failure(Errc::parse_error, "'{}' is no number above 0", text);
  return {};
}

}  // namespace

Result<Injection> Injection::parse(std::string_view identity) {
  Injection injection;
  while (!identity.empty()) {
    auto line = identity.substr(0, identity.find('\n'));
    identity.remove_prefix(std::min(identity.size(), line.size() + 1));
    auto equals = line.find('=');
    if (equals == line.npos || !line.starts_with("die_")) continue;
    auto status = injection.read(line.substr(0, equals), line.substr(equals + 1));
    if (!status) return tl::unexpected<Error>(status.error().within(line));
  }
  return injection;
}

Status Injection::read(std::string_view key, std::string_view value) {
  if (key == "die_at_call") return read_number(value, at_call_);
  if (key == "die_signal") return read_number(value, signal_);
  if (key == "die_at_step") return read_step(value);
  if (key != "die_in" && key != "die_in_middle") return failure(Errc::parse_error, "unknown key");
  in_middle_ = key == "die_in_middle";
  return read_function(value);
}

Status Injection::read_function(std::string_view value) {
  auto colon = value.find(':');
  in_ = find_call(value.substr(0, colon));
  if (in_ == CallId::none) return failure(Errc::parse_error, "there is no function of this name");
  in_count_ = 1;
  return colon == value.npos ? Status{} : read_number(value.substr(colon + 1), in_count_);
}

Status Injection::read_step(std::string_view value) {
#if defined(LLAMADA_CRASH_POINTS)
  auto colon = value.rfind(':');
  std::uint64_t count = 0;
  if (colon == value.npos) return failure(Errc::parse_error, "a step is operation:step:count");
  auto status = read_number(value.substr(colon + 1), count);
  if (status) arm_crash_point(value.substr(0, colon), count);
  return status;
#else
  return failure(
      Errc::unsupported,
      "this build of libmpi has no crash points, so no rank can be killed at step {}; use the library of the "
      "test build that has them",
      value);
#endif
}

void Injection::arm(CallCounter& calls) {
  if (at_call_ != 0 || in_count_ != 0) watch_next(calls);
}

void Injection::watch_next(CallCounter& calls) {
  calls.watch(calls.begun() + 1, [this, &calls] { begin_call(calls); });
}

void Injection::begin_call(CallCounter& calls) {
  // In the call after it: a function that publishes nothing has no middle.
  if (in_middle_now_) die();
  if (at_call_ == calls.begun()) die();
  if (calls.current() == in_ && --in_count_ == 0) {
    if (!in_middle_) die();
    in_middle_now_ = true;
  }
  if (at_call_ > calls.begun() || in_count_ != 0 || in_middle_now_) watch_next(calls);
}

void Injection::die() const {
  // The kernel itself: a process id that the program is told may be the first incarnation's.
  auto pid = syscall(SYS_getpid);
  syscall(SYS_kill, pid, signal_);
  // The program ignores the signal, or has a handler that returns.
  syscall(SYS_kill, pid, SIGKILL);
  for (;;) pause();
}

}  // namespace llamada::mpi
