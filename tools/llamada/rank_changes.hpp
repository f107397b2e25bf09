#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "llamada/llamanet/inspector.hpp"
#include "llamada/qos/policy.hpp"

namespace llamada::tools {

enum class RankChangeKind { started, died, replaced, live, ended, protection_ended, deadline_missed };
std::string_view to_string(RankChangeKind kind);

struct RankChange {
  RankChangeKind kind = RankChangeKind::started;
  int rank = 0;                   ///< Of the job, as in `llamada ls`; -1 for what concerns the whole job.
  std::uint32_t incarnation = 0;  ///< That started, died, replaced its predecessor, went live or ended.
  std::uint32_t pid = 0;          ///< 0 where the process is gone.
  std::uint64_t call_index = 0;   ///< Of `deadline_missed`: which MPI call of the rank it is, from 1.
  std::string_view call{};        ///< Of `deadline_missed`: its name, "MPI_Recv".
};

class RankChangeEvents {
 public:
  virtual ~RankChangeEvents() = default;
  virtual void on_change(const RankChange& change) = 0;
};

/// Finds out what has become of a job's ranks by comparing the roster with what it was at the last look. It
/// goes by the incarnations' numbers, so it misses no death that a replacement follows, however fast.
class RankChanges {
 public:
  /// At the first look each rank that runs is told of as started.
  void look(const llamanet::Inspector& job, RankChangeEvents& events);

 private:
  /// In one MPI call.
  struct Stay {
    std::uint64_t call_index = 0;
    std::chrono::steady_clock::time_point since{};  // the look that found the rank there first
    bool is_told = false;
  };
  struct Known {
    std::uint32_t arena_id = 0;
    std::uint32_t incarnation = 0;
    bool is_dead = false;
    bool is_live = false;
    bool has_ended = false;
    bool has_begun = false;  // its replay, or its attaching, was seen
    std::chrono::steady_clock::time_point seems_live_since{};
    Stay stay{};
  };

  void look_at(const llamanet::Inspector::Slot& slot, RankChangeEvents& events);
  void look_for_live(const llamanet::Inspector::Slot& slot, Known& known, RankChangeEvents& events);

  void look_at_deadline(const llamanet::Inspector::Slot& slot, Known& known, RankChangeEvents& events) const;

  std::map<std::uint32_t, Known> ranks_;
  std::optional<qos::Duration> deadline_;  // of the job, once it was looked at
  bool is_protected_ = true;
};

}  // namespace llamada::tools
