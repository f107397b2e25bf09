#pragma once

#include <cstdint>

#include "rank_watch.hpp"

namespace llamada::tools {

/// Prints what a RankWatch tells, a line each: messages and collectives to standard output; what becomes of
/// the ranks, and what was missed, to standard error.
class RankPrinter final : public RankWatchEvents {
 public:
  /// After `count_max` messages it prints no more; 0: without end.
  RankPrinter(bool as_json, std::uint64_t count_max) : as_json_(as_json), count_max_(count_max) {}

  bool is_done() const { return count_max_ != 0 && count_ >= count_max_; }
  std::uint64_t missed() const { return missed_; }

  void on_message(const SeenMessage& message) override;
  void on_collective(const SeenCollective& collective) override;
  void on_missed(int source, std::optional<int> destination, std::uint64_t count) override;
  void on_change(const RankChange& change) override;

 private:
  const bool as_json_;
  const std::uint64_t count_max_;
  std::uint64_t count_ = 0;
  std::uint64_t missed_ = 0;
};

}  // namespace llamada::tools
