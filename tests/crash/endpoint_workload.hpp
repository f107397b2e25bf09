#pragma once

#include <atomic>
#include <cstdint>
#include <string>

// What the processes of endpoint_crash_test.cpp do. Role 0 has a writer of each kind and publishes the same
// numbers by all; roles 1 and 2 have a reader for each and see for themselves that what comes is whole.

namespace llamada::crash {

/// Shared with the test, outlives the processes.
struct EndpointBoard {
  std::atomic<std::uint32_t> readers_done;
  /// What a process found wrong.
  char error[512];
  /// Points passed by the last process of each role that ended in order.
  char points[3][16384];
};

/// Runs in a child process; never returns. Exit status 0: all is as it must be; 1: EndpointBoard::error says
/// what is not.
[[noreturn]] void run_endpoints(std::uint32_t role, const std::string& socket_name, EndpointBoard& board);

}  // namespace llamada::crash
