#pragma once

#include <vector>

#include "coll/direct.hpp"
#include "coll/movement.hpp"

// Data moved from memory to memory, within one group; parts are even, and not empty.

namespace llamada::mpi::coll {

/// Between a root and all others: broadcast and scatter (from it), gather (to it). Each member copies its
/// part; of two, the root copies half of it.
class DirectRooted final : public Machine {
 public:
  enum class Direction { from_root, to_root };
  /// `parts`: at the root; `own`: at the others, and at a root that does not give or take in place.
  DirectRooted(Channel& channel, Kind kind, Direction direction, const Data& own, const Parts& parts,
               int root, bool in_place);
  void begin() override;
  bool step() override { return is_root_ ? step_at_root() : step_elsewhere(); }

 private:
  bool has_given() const override { return is_done_; }
  bool step_at_root();
  bool step_elsewhere();
  bool copy_for(int member);
  bool copy_own();
  void finish();
  std::size_t given_bytes() const;
  std::size_t members_share(std::size_t part_bytes) const;

  Channel& channel_;
  Kind kind_;
  Direction direction_;
  Data own_;
  const Parts& parts_;
  int root_;
  bool is_root_;
  bool in_place_;
  bool copied_ = false;
  bool is_done_ = false;  // and so are the others
  Packed packed_;
  Partners partners_;
  std::vector<bool> copied_for_;
};

/// From all to all: allgather (each gives everybody the same) and alltoall.
class DirectFromAll final : public Machine {
 public:
  /// `contributions`: one part for all, or one for each. In place: what is given lies in the results.
  DirectFromAll(Channel& channel, Kind kind, const Parts& contributions, const Parts& results, bool in_place);
  void begin() override;
  bool step() override;

 private:
  bool has_given() const override { return is_done_; }
  void open_contributions();
  std::size_t given_bytes() const { return in_place_ ? part_bytes_ : contributions_[0].bytes; }
  void take_own();
  bool take_all();

  Channel& channel_;
  Kind kind_;
  const Parts& contributions_;
  const Parts& results_;
  bool in_place_;
  bool own_taken_ = false;
  bool is_done_ = false;  // and so are the others
  std::size_t part_bytes_ = 0;
  Packed given_;
  Packed taken_;
  Partners partners_;
  std::vector<bool> taken_from_;
  int left_ = 0;
};

}  // namespace llamada::mpi::coll
