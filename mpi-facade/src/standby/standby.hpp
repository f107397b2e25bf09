#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "llamada/base/clock.hpp"
#include "llamada/base/file_descriptor.hpp"
#include "llamada/base/result.hpp"
#include "runtime/runtime.hpp"
#include "standby/pace.hpp"
#include "standby/page_faults.hpp"
#include "standby/program_files.hpp"
#include "world/world.hpp"

namespace llamada::mpi::standby {

/// Makes standbys of a rank: copies of its process, made by fork at the end of MPI calls, that are parked at
/// the driver. When the rank dies, the driver wakes the newest. The copy then has the state of that call, and
/// repeats only what the rank did behind it. docs/decisions/0052-forked-standby.md.
///
/// Nothing else goes by standbys: without one a replacement begins at the program's beginning.
///
/// Threads: the one that called MPI_Init.
class Standby {
 public:
  /// `runtime` is borrowed. `became_rank` is called in a copy that has taken over, before its replay begins.
  Standby(Runtime& runtime, const Clock& clock, std::function<void()> became_rank);

  /// Looks at the clock now and then, as the program calls MPI, from now on.
  void arm() { arm(pace_.calls_until_look()); }

 private:
  /// So many MPI calls in a row are tried: where one ends, communication may be under way.
  static constexpr int tries_max = 256;

  void arm(std::uint64_t calls);
  void look();
  void make();
  void fork(const ProgramFiles& files);
  bool is_under_way() const;
  std::string obstacle() const;
  void skip(const std::string& why);
  /// What a copy has that becomes the rank.
  struct Turn {
    std::vector<FileDescriptor> streams;
    FileDescriptor other;  ///< the copy that it has left (pidfd); none: it could not
  };
  Turn await_turn(std::uint64_t call);
  void be_parked(const ProgramFiles& files, const WrittenOutput& written, const struct BeforeCopy& before);

  Runtime& runtime_;
  const Clock& clock_;
  std::function<void()> became_rank_;
  Pace pace_;
  PageFaults faults_;
  int tries_ = 0;
  bool has_told_cost_ = false;
  std::set<std::string> told_;  // why there was none
};

}  // namespace llamada::mpi::standby
