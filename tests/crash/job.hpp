#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "llamada/llamanet/driver.hpp"
#include "points.hpp"
#include "workload.hpp"

namespace llamada::crash {

/// The two applications with a driver in this process, run until both have ended as they should. The one that
/// dies is replaced, by a process that is not to die.
class Job {
 public:
  struct Outcome {
    std::string error;  ///< empty: all was as it must be
    int deaths = 0;
    std::array<Passes, 2> passes;  ///< of the incarnation that ended in order, by slot
  };

  /// `slot` dies at the `count`th pass of `point`; an empty point: nobody dies.
  static Outcome run(std::uint32_t slot = 0, const std::string& point = {}, std::uint64_t count = 1);

 private:
  Job();
  ~Job();
  void start(std::uint32_t slot, std::uint32_t incarnation, const std::string& point, std::uint64_t count);
  /// Collects a process that has ended; true when none is left.
  bool collect();
  void judge(std::uint32_t slot, int status);
  void kill_all();

  llamanet::Driver driver_;
  Board* board_;
  std::array<pid_t, 2> processes_{};
  std::uint64_t token_ = 100;
  Outcome outcome_;
};

}  // namespace llamada::crash
