#pragma once

#include <cerrno>
#include <cstdint>

#include "interpose/file_calls.hpp"

/// Calls of libc that wait, or ask whether there is something to read: what came of them is recorded, and
/// given again without waiting. Signals that came meanwhile are delivered before they return.
namespace llamada::mpi::interpose {

inline std::uint64_t packed_wait(const FileOutcome& outcome) {
  return outcome.error_number != 0 ? static_cast<std::uint64_t>(outcome.error_number) << 1 | 1
                                   : static_cast<std::uint64_t>(outcome.result) << 1;
}
inline FileOutcome unpacked_wait(std::uint64_t value) {
  if (value & 1) return {-1, static_cast<int>(value >> 1)};
  return {static_cast<long>(value >> 1), 0};
}

/// A call that a signal has interrupted.
inline int interrupted() {
  errno = EINTR;
  return -1;
}

/// Delivers the signals that came during the call, and gives its result.
long end_of_wait(const FileOutcome& outcome);

}  // namespace llamada::mpi::interpose
