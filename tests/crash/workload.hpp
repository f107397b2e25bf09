#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "llamada/log/log_reader.hpp"

// What the two applications of the crash tests do, so that every step of publishing, consuming, recycling,
// attaching, sleeping and waking is taken, and how each sees for itself that the history is whole after any
// death.

namespace llamada::crash {

inline constexpr std::uint32_t writer_slot = 0;
inline constexpr std::uint32_t reader_slot = 1;
inline constexpr std::uint64_t records_count = 3000;  // in each log

/// What outlives the processes: shared with the test.
struct Board {
  /// Sequence numbers of the last record that any incarnation of the reader has passed, one a log.
  std::array<std::atomic<std::uint64_t>, 2> passed;
  /// Where the chunk of the log that recycles begins which the reader stood in when it gave back those
  /// before: from there on nothing is reused. No chunk before the first time.
  log::LogPosition held;
  /// What an incarnation found wrong.
  char error[512];
  /// "name passes\n" of each point that an incarnation passed which ended in order, one text a slot.
  std::array<char[16384], 2> points;
};

struct Assignment {
  std::string socket_name;
  std::uint32_t slot = 0;
  std::uint64_t token = 0;
  std::string point;  ///< die there; empty: live
  std::uint64_t count = 1;
};

/// Runs in a child process; never returns. Exit status 0: all is as it must be; 1: Board::error says what is
/// not.
[[noreturn]] void run_application(const Assignment& assignment, Board& board);

}  // namespace llamada::crash
