#pragma once

#include <mpi.h>

#include <span>
#include <vector>

#include "llamada/base/result.hpp"
#include "object/reference.hpp"

namespace llamada::mpi {

/// An ordered set of ranks of the job (MPI 3.1, 6.2 and 6.3). Immutable.
class Group : public Counted {
 public:
  /// `members[i]` is the rank in MPI_COMM_WORLD of the group's rank i; `self` the caller's rank in
  /// MPI_COMM_WORLD.
  Group(std::vector<int> members, int self);

  ~Group() override;
  /// Whether any group of this process has this rank as a member: handles, communicators and windows hold
  /// groups.
  static bool is_named(int world_rank);

  int size() const { return static_cast<int>(members_.size()); }
  /// The caller's rank in the group, MPI_UNDEFINED if it is no member.
  int rank() const { return rank_; }
  int world_rank(int rank) const { return members_[static_cast<std::size_t>(rank)]; }
  std::span<const int> members() const { return members_; }
  /// The rank in this group of a rank in MPI_COMM_WORLD, MPI_UNDEFINED if it is no member.
  int rank_of(int world_rank) const;

  /// MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL.
  int compare(const Group& other) const;

  Reference<Group> united_with(const Group& other) const;
  Reference<Group> intersected_with(const Group& other) const;
  Reference<Group> without(const Group& other) const;
  /// invalid_argument: a rank that is not in the group, or one twice.
  Result<Reference<Group>> including(std::span<const int> ranks) const;
  Result<Reference<Group>> excluding(std::span<const int> ranks) const;
  /// The ranks that triplets {first, last, stride} name; invalid_argument: a stride of 0, a rank outside, one
  /// twice.
  Result<std::vector<int>> expand(std::span<const int[3]> ranges) const;

 private:
  Status check(std::span<const int> ranks) const;
  Reference<Group> of(std::vector<int> members) const;

  std::vector<int> members_;
  int self_;
  int rank_;
  std::vector<int> rank_of_;  ///< By rank in MPI_COMM_WORLD, up to the highest member.
  // All groups of the process, in a ring of their own: is_named().
  Group* next_ = nullptr;
  Group* before_ = nullptr;
};

}  // namespace llamada::mpi
