#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string_view>

#include "llamada/llamanet/inspector.hpp"

namespace llamada::tools {

enum class RankChangeKind { started, died, replaced, live, ended, protection_ended };
std::string_view to_string(RankChangeKind kind);

struct RankChange {
  RankChangeKind kind = RankChangeKind::started;
  int rank = 0;                   ///< Of the job, as in `llamada ls`; -1 for what concerns the whole job.
  std::uint32_t incarnation = 0;  ///< That started, died, replaced its predecessor, went live or ended.
  std::uint32_t pid = 0;          ///< 0 where the process is gone.
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
  struct Known {
    std::uint32_t arena_id = 0;
    std::uint32_t incarnation = 0;
    bool is_dead = false;
    bool is_live = false;
    bool has_ended = false;
    bool has_begun = false;  // its replay, or its attaching, was seen
    std::chrono::steady_clock::time_point seems_live_since{};
  };

  void look_at(const llamanet::Inspector::Slot& slot, RankChangeEvents& events);
  void look_for_live(const llamanet::Inspector::Slot& slot, Known& known, RankChangeEvents& events);

  std::map<std::uint32_t, Known> ranks_;
  bool is_protected_ = true;
};

}  // namespace llamada::tools
