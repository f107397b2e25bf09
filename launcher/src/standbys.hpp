#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "llamada/launcher/job_arenas.hpp"

namespace llamada::launcher {

/// The parked copies of a rank's process, of which the newest becomes its next replacement. Only numbers: the
/// owner kills and wakes.
///
/// Threads: one.
class Standbys {
 public:
  /// So many are kept: each may need as much memory as the rank.
  static constexpr std::size_t kept_max = 1;

  /// Gives those that are no longer of use, and are to be killed: this one, too, if none is taken.
  [[nodiscard]] std::vector<pid_t> add(const ParkedCopy& copy);
  /// The newest, which is no standby any more; none: there is none.
  std::optional<ParkedCopy> take();
  /// All of them, which are to be killed.
  [[nodiscard]] std::vector<pid_t> take_all();
  /// All of them, which are to be killed. None is taken until the rank has another process: it has come to
  /// know that its copies are of no use.
  [[nodiscard]] std::vector<pid_t> refuse();
  /// The rank has another process.
  void begin() { refuses_ = false; }
  /// The process has ended. False: it is none of them.
  bool remove(pid_t pid);
  bool has(pid_t pid) const;
  std::size_t count() const { return copies_.size(); }

 private:
  std::deque<ParkedCopy> copies_;  // the newest last
  bool refuses_ = false;
};

}  // namespace llamada::launcher
