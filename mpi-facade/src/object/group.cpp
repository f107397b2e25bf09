#include "object/group.hpp"

#include <algorithm>
#include <mutex>

namespace llamada::mpi {
namespace {

// Ranks that are threads of one process (tests) share these.
std::mutex groups_mutex;
Group* first_group = nullptr;

}  // namespace

Group::~Group() {
  const std::lock_guard lock(groups_mutex);
  (before_ ? before_->next_ : first_group) = next_;
  if (next_) next_->before_ = before_;
}

bool Group::is_named(int world_rank) {
  const std::lock_guard lock(groups_mutex);
  for (const Group* group = first_group; group; group = group->next_)
    if (group->rank_of(world_rank) != MPI_UNDEFINED) return true;
  return false;
}

Group::Group(std::vector<int> members, int self) : members_(std::move(members)), self_(self) {
  if (!members_.empty()) {
    const int highest = *std::max_element(members_.begin(), members_.end());
    rank_of_.assign(static_cast<std::size_t>(highest) + 1, MPI_UNDEFINED);
  }
  for (int rank = 0; rank < size(); ++rank) rank_of_[static_cast<std::size_t>(world_rank(rank))] = rank;
  rank_ = rank_of(self);
  const std::lock_guard lock(groups_mutex);
  next_ = first_group;
  if (next_) next_->before_ = this;
  first_group = this;
}

int Group::rank_of(int world_rank) const {
  if (world_rank < 0 || static_cast<std::size_t>(world_rank) >= rank_of_.size()) return MPI_UNDEFINED;
  return rank_of_[static_cast<std::size_t>(world_rank)];
}

Reference<Group> Group::of(std::vector<int> members) const {
  return make_counted<Group>(std::move(members), self_);
}

int Group::compare(const Group& other) const {
  if (members_ == other.members_) return MPI_IDENT;
  if (size() != other.size()) return MPI_UNEQUAL;
  const bool same = std::all_of(members_.begin(), members_.end(),
                                [&](int member) { return other.rank_of(member) != MPI_UNDEFINED; });
  return same ? MPI_SIMILAR : MPI_UNEQUAL;
}

Reference<Group> Group::united_with(const Group& other) const {
  std::vector<int> members = members_;
  std::copy_if(other.members_.begin(), other.members_.end(), std::back_inserter(members),
               [&](int member) { return rank_of(member) == MPI_UNDEFINED; });
  return of(std::move(members));
}

Reference<Group> Group::intersected_with(const Group& other) const {
  std::vector<int> members;
  std::copy_if(members_.begin(), members_.end(), std::back_inserter(members),
               [&](int member) { return other.rank_of(member) != MPI_UNDEFINED; });
  return of(std::move(members));
}

Reference<Group> Group::without(const Group& other) const {
  std::vector<int> members;
  std::copy_if(members_.begin(), members_.end(), std::back_inserter(members),
               [&](int member) { return other.rank_of(member) == MPI_UNDEFINED; });
  return of(std::move(members));
}

Status Group::check(std::span<const int> ranks) const {
  std::vector<bool> named(members_.size());
  for (const int rank : ranks) {
    if (rank < 0 || rank >= size()) {
      return failure(Errc::invalid_argument, "rank {} is not in a group of {}", rank, size());
    }
    if (named[static_cast<std::size_t>(rank)]) {
      return failure(Errc::invalid_argument, "rank {} is named twice", rank);
    }
    named[static_cast<std::size_t>(rank)] = true;
  }
  return {};
}

Result<Reference<Group>> Group::including(std::span<const int> ranks) const {
  if (auto good = check(ranks); !good) return propagate(good);
  std::vector<int> members;
  for (const int rank : ranks) members.push_back(world_rank(rank));
  return of(std::move(members));
}

Result<Reference<Group>> Group::excluding(std::span<const int> ranks) const {
  if (auto good = check(ranks); !good) return propagate(good);
  std::vector<int> members;
  for (int rank = 0; rank < size(); ++rank) {
    if (std::find(ranks.begin(), ranks.end(), rank) == ranks.end()) members.push_back(world_rank(rank));
  }
  return of(std::move(members));
}

Result<std::vector<int>> Group::expand(std::span<const int[3]> ranges) const {
  std::vector<int> ranks;
  for (const auto& [first, last, stride] : ranges) {
    if (stride == 0) return failure(Errc::invalid_argument, "the stride of a range is 0");
    for (long long rank = first; stride > 0 ? rank <= last : rank >= last; rank += stride) {
      if (rank < 0 || rank >= size()) {
        return failure(Errc::invalid_argument, "rank {} of a range is not in a group of {}", rank, size());
      }
      ranks.push_back(static_cast<int>(rank));
      if (ranks.size() > members_.size())
        return failure(Errc::invalid_argument, "the ranges name a rank twice");
    }
  }
  return ranks;
}

}  // namespace llamada::mpi
