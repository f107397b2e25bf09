#include "coll/movement.hpp"

namespace llamada::mpi::coll {
namespace {

/// Takes from all other members, from each as it comes.
class ReceivingFromAll {
 public:
  ReceivingFromAll(Channel& channel, std::span<const Data> results) {
    parts_.reserve(results.size());
    for (int offset = 1; offset < channel.size(); ++offset) {
      int member = (channel.self() + offset) % channel.size();
      parts_.emplace_back(channel, results[member], member);
    }
  }
  bool step() {
    for (std::size_t i = 0; i < parts_.size();) {
      if (parts_[i].step()) {
        parts_[i] = parts_.back();
        parts_.pop_back();
      } else {
        ++i;
      }
    }
    return parts_.empty();
  }

 private:
  std::vector<Receiving> parts_;
};

/// Publishes to all other members what is for each, beginning behind oneself so that not all begin with the
/// same.
class SendingToAll {
 public:
  SendingToAll(Channel& channel, std::span<const Data> contributions)
      : channel_(channel), contributions_(contributions), sending_(channel, Data{}, everybody) {}
  bool step() {
    while (sending_.step()) {
      if (++offset_ >= channel_.size()) return true;
      int member = (channel_.self() + offset_) % channel_.size();
      sending_ = Sending(channel_, contributions_[member], member);
    }
    return false;
  }

 private:
  Channel& channel_;
  std::span<const Data> contributions_;
  Sending sending_;
  int offset_ = 0;
};

}  // namespace

Status barrier(Channel& channel, Waiter& waiter) {
  bool published = false;
  int member = 0;
  return run(channel, waiter, Kind::barrier, [&] {
    if (!published && !(published = channel.publish_small(0, everybody, {}))) return false;
    for (; member < channel.size(); ++member) {
      if (member == channel.self()) continue;
      if (!channel.expect(member, 0, 0)) return false;
      channel.next(member);
    }
    return true;
  });
}

Status broadcast(Channel& channel, Waiter& waiter, const Data& data, int root) {
  if (channel.self() == root) {
    Sending sending(channel, data, everybody);
    return run(channel, waiter, Kind::bcast, [&] { return sending.step(); });
  }
  Receiving receiving(channel, data, root);
  return run(channel, waiter, Kind::bcast, [&] { return receiving.step(); });
}

Status gather(Channel& channel, Waiter& waiter, const Data& contribution, std::span<const Data> results,
              int root, Kind kind) {
  if (channel.self() == root) {
    ReceivingFromAll receiving(channel, results);
    return run(channel, waiter, kind, [&] { return receiving.step(); });
  }
  Sending sending(channel, contribution, root);
  return run(channel, waiter, kind, [&] { return sending.step(); });
}

Status scatter(Channel& channel, Waiter& waiter, std::span<const Data> contributions, const Data& result,
               int root) {
  if (channel.self() == root) {
    SendingToAll sending(channel, contributions);
    return run(channel, waiter, Kind::scatter, [&] { return sending.step(); });
  }
  Receiving receiving(channel, result, root);
  return run(channel, waiter, Kind::scatter, [&] { return receiving.step(); });
}

Status allgather(Channel& channel, Waiter& waiter, const Data& contribution, std::span<const Data> results,
                 Kind kind) {
  Sending sending(channel, contribution, everybody);
  ReceivingFromAll receiving(channel, results);
  return run(channel, waiter, kind, [&] {
    bool sent = sending.step();
    return receiving.step() && sent;
  });
}

Status alltoall(Channel& channel, Waiter& waiter, std::span<const Data> contributions,
                std::span<const Data> results) {
  SendingToAll sending(channel, contributions);
  ReceivingFromAll receiving(channel, results);
  return run(channel, waiter, Kind::alltoall, [&] {
    bool sent = sending.step();
    return receiving.step() && sent;
  });
}

}  // namespace llamada::mpi::coll
