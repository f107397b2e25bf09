#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "coll/channel.hpp"
#include "object/communicator.hpp"

namespace llamada::mpi::coll {

/// A channel that lost its communicator.
struct SpareChannel {
  std::unique_ptr<CommunicatorExtension> holder;  ///< what hangs on a communicator
  Channel* channel = nullptr;                     ///< in it
};

/// The channels of communicators and of persistent collectives that the program has freed, for the next ones
/// of the same members in the same order: a program may make and free these for days, and logs are never
/// taken out of an arena's directory.
///
/// Who makes a communicator offers some of its spare channels to the others, in the same exchange that names
/// its context. The new one goes on with a channel that all its members offer; if there is none, it gets a
/// new channel at its first collective. What is offered follows from what the program did alone, so that a
/// replacement offers the same.
///
/// Threads: the rank's MPI thread, or whoever holds the lock.
class SpareChannels {
 public:
  /// Beyond, those that waited longest are given up: all are looked at whenever the rank waits.
  static constexpr std::size_t kept_max = 16;

  /// Keeps a channel that nothing uses or will use; returns what is to be given up: this one if it cannot be
  /// used again, or another one.
  SpareChannel keep(SpareChannel spare);
  /// Those that have this rank as a member are given up.
  std::vector<SpareChannel> with(int world_rank);
  /// None is left.
  std::deque<SpareChannel> take_all() { return std::exchange(spares_, {}); }

 private:
  friend class ChannelOffer;
  std::deque<SpareChannel> spares_;  // those that were not offered for longest first
};

/// What one process offers for one communicator; nobody else is offered it meanwhile.
class ChannelOffer {
 public:
  /// A channel, by its context and number; how many collectives it has had, and whether its members know
  /// each other's processes. Zeros are none.
  struct Name {
    std::uint64_t channel = 0;
    std::uint64_t state = 0;
    auto operator<=>(const Name&) const = default;
  };
  using Names = std::array<Name, SpareChannels::kept_max>;

  /// Offers channels of these members; of any members if there are none. Members may have freed theirs in
  /// different orders: only if each offers all that it has do they find what they have in common.
  ChannelOffer(SpareChannels& spares, std::span<const int> members,
               std::size_t count_max = SpareChannels::kept_max);
  ~ChannelOffer();
  ChannelOffer(const ChannelOffer&) = delete;
  ChannelOffer& operator=(const ChannelOffer&) = delete;

  Names names() const;
  /// One for these members that is in what each of them offers, this process included; null if there is none.
  /// `context`: of the communicator that goes on with it.
  std::unique_ptr<CommunicatorExtension> take(std::span<const int> members, std::span<const Names> offers,
                                              std::uint32_t context);

 private:
  SpareChannels& spares_;
  std::vector<SpareChannel> offered_;
};

}  // namespace llamada::mpi::coll
