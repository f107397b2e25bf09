#pragma once

#include "coll/channel.hpp"
#include "p2p/awaits.hpp"

namespace llamada::mpi::coll {

/// What the collective in progress in a channel needs of its members.
class AwaitsCollective final : public Awaits {
 public:
  static constexpr int root_unknown = -1;

  /// `channel` is borrowed. `root`: as it numbers members, if the collective has one.
  explicit AwaitsCollective(const Channel& channel, int root = root_unknown)
      : channel_(channel), root_(root) {}
  void describe(waits::Report& report) const override;

 private:
  const Channel& channel_;
  int root_;
};

/// What tells a channel from all others that any of its members has.
std::uint64_t identity_of(const Channel& channel);

}  // namespace llamada::mpi::coll
