#pragma once

#include <span>
#include <vector>

#include "coll/algorithms.hpp"
#include "coll/pieces.hpp"

// The collectives that move data without changing it (MPI 3.1, 5.3 to 5.8; between groups: 5.2.2). Parts have
// an element for each peer. A member's part of its own is copied, unless it gives in place.

namespace llamada::mpi::coll {

class Barrier final : public Machine {
 public:
  explicit Barrier(Channel& channel) : channel_(channel), peer_(channel.members().peer_begin()) {}
  void begin() override { channel_.begin_with_peers(Kind::barrier); }
  bool step() override;

 private:
  Channel& channel_;
  bool published_ = false;
  int peer_;
};

/// Whom a rooted collective begins or ends at: a member, or no one for those who have no part in it (between
/// groups).
inline constexpr int no_root = -1;

/// Of a member that has no part in a rooted collective between groups.
class Absence final : public Machine {
 public:
  Absence(Channel& channel, Kind kind) : channel_(channel), kind_(kind) {}
  void begin() override { channel_.begin_with_peers(kind_); }
  bool step() override { return true; }

 private:
  Channel& channel_;
  Kind kind_;
};

/// What members give who mean no bytes at all, where all mean the same number: one who means more is told.
class NothingMoved final : public Machine {
 public:
  /// All give to all, unless there is a root that gives or takes.
  NothingMoved(Channel& channel, Kind kind) : NothingMoved(channel, kind, true, everybody, true) {}
  static NothingMoved from_root(Channel& channel, Kind kind, int root) {
    return {channel, kind, root == channel.self(), everybody, root != channel.self(), root};
  }
  static NothingMoved to_root(Channel& channel, Kind kind, int root) {
    return {channel, kind, root != channel.self(), root, root == channel.self()};
  }
  void begin() override { channel_.begin_with_peers(kind_); }
  bool step() override;

 private:
  /// `source`: the only one that is taken from; everybody: all peers.
  NothingMoved(Channel& channel, Kind kind, bool gives, int audience, bool takes, int source = everybody)
      : channel_(channel),
        kind_(kind),
        audience_(audience),
        has_given_(!gives),
        next_(source == everybody ? channel.members().peer_begin() : source),
        end_(takes ? source == everybody ? channel.members().peer_end() : source + 1 : next_) {}
  bool has_given() const override { return has_given_; }

  Channel& channel_;
  Kind kind_;
  int audience_;
  bool has_given_;
  int next_;
  int end_;
};

class Broadcast final : public Machine {
 public:
  Broadcast(Channel& channel, const Data& data, int root);
  void begin() override { channel_.begin_with_peers(Kind::bcast); }
  bool step() override { return sending_.step() && receiving_.step(); }

 private:
  bool has_given() const override { return sending_.done(); }

  Channel& channel_;
  Sending sending_;
  Receiving receiving_;
};

/// Takes from all other peers, from each as it comes: what is for this member alone, or what is for all.
class ReceivingFromAll {
 public:
  ReceivingFromAll(Channel& channel, const Parts& results) : channel_(channel), results_(results) {}
  void begin();
  bool step();

 private:
  struct Source {
    Progress progress;
    bool done;
  };
  int peer(int offset) const;

  Channel& channel_;
  const Parts& results_;
  Source few_[16];
  std::vector<Source> many_;
  Source* sources_ = few_;
  int left_ = 0;
  int first_left_ = 0;  // in the order in which peers are looked at
};

/// Publishes to all other peers what is for each, beginning behind oneself so that not all begin with the
/// same. Little data goes in one record for everybody; what is large, and one piece of memory, is lent.
class SendingToAll {
 public:
  /// `lent_bytes_min`: how long a part is that is lent.
  SendingToAll(Channel& channel, const Parts& contributions, std::size_t lent_bytes_min)
      : channel_(channel), contributions_(contributions), lent_bytes_min_(lent_bytes_min) {}
  void begin();
  bool step();
  /// Whether nobody waits for anything more from here.
  bool done() const;

 private:
  int others() const { return channel_.members().peer_count() - (channel_.members().is_intra() ? 1 : 0); }
  int peer(int offset) const;
  bool step_together();
  bool lend_large();
  bool send_others();
  void send(int index);
  void hear();
  bool take_back();

  Channel& channel_;
  const Parts& contributions_;
  std::size_t lent_bytes_min_;
  Sending sending_;
  int offset_ = 0;
  int lending_offset_ = 0;          // up to there all that is to be lent is lent
  std::vector<int> lent_to_;        // peers that have not said that that is over
  std::size_t together_bytes_ = 0;  // 0: one after the other
};

class Gather final : public Machine {
 public:
  /// `results` at the root only. `kind`: whose phase it is.
  Gather(Channel& channel, const Data& own, const Parts& results, int root, bool in_place,
         Kind kind = Kind::gather);
  void begin() override;
  bool step() override { return is_root_ ? receiving_.step() : sending_.step(); }

 private:
  bool has_given() const override { return is_root_; }

  Channel& channel_;
  Data own_;
  const Parts& results_;
  bool is_root_;
  bool in_place_;
  Kind kind_;
  Sending sending_;
  ReceivingFromAll receiving_;
};

class Scatter final : public Machine {
 public:
  /// `contributions` at the root only.
  Scatter(Channel& channel, const Parts& contributions, const Data& own, int root, bool in_place,
          std::size_t lent_bytes_min = never);
  void begin() override;
  bool step() override;

 private:
  bool has_given() const override { return root_ != channel_.self(); }

  Channel& channel_;
  const Parts& contributions_;
  Data own_;
  int root_;
  bool in_place_;
  SendingToAll sending_;
  Receiving receiving_;
};

class Allgather final : public Machine {
 public:
  Allgather(Channel& channel, const Data& own, const Parts& results, bool in_place,
            Kind kind = Kind::allgather);
  void begin() override;
  bool step() override {
    const bool sent = sending_.step();
    return receiving_.step() && sent;
  }

 private:
  bool has_given() const override { return sending_.done(); }

  Channel& channel_;
  Data own_;
  const Parts& results_;
  bool in_place_;
  Kind kind_;
  Sending sending_;
  ReceivingFromAll receiving_;
};

class Alltoall final : public Machine {
 public:
  /// In place: what is given is what lies in the results.
  Alltoall(Channel& channel, const Parts& contributions, const Parts& results, bool in_place,
           std::size_t lent_bytes_min = never, Kind kind = Kind::alltoall)
      : channel_(channel),
        contributions_(contributions),
        results_(results),
        in_place_(in_place),
        kind_(kind),
        sending_(channel, in_place ? packed_parts_ : contributions, lent_bytes_min),
        receiving_(channel, results) {}
  void begin() override;
  bool step() override;

 private:
  bool has_given() const override { return sending_.done(); }
  void pack_results();
  void take_own();

  Channel& channel_;
  const Parts& contributions_;
  const Parts& results_;
  bool in_place_;
  Kind kind_;
  bool own_taken_ = false;
  std::vector<std::byte> packed_;
  Parts packed_parts_;
  SendingToAll sending_;
  ReceivingFromAll receiving_;
};

// Blocking ones, for the library's own use, within one group. Each returns when this member's part is done.
// Errors: invalid_argument when the members' calls do not fit each other. One's own part is not copied.

Status barrier(Channel& channel, Waiter& waiter);
Status broadcast(Channel& channel, Waiter& waiter, const Data& data, int root);
/// `results` at the root only.
Status gather(Channel& channel, Waiter& waiter, const Data& contribution, std::span<const Data> results,
              int root);
/// `contributions` at the root only.
Status scatter(Channel& channel, Waiter& waiter, std::span<const Data> contributions, const Data& result,
               int root);
Status allgather(Channel& channel, Waiter& waiter, const Data& contribution, std::span<const Data> results);
Status alltoall(Channel& channel, Waiter& waiter, std::span<const Data> contributions,
                std::span<const Data> results);

}  // namespace llamada::mpi::coll
