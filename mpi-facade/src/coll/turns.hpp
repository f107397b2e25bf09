#pragma once

#include <deque>
#include <vector>

namespace llamada::mpi::coll {

/// A nonblocking collective that is in progress, or waits until those called before it are done.
class Pending {
 public:
  virtual ~Pending() = default;
  /// Goes on as far as it can; true when it is over.
  virtual bool advance() = 0;
};

/// The nonblocking collectives of a channel, carried out one after the other in the order of their calls,
/// which all members share: so a replacement publishes the same records in the same order.
///
/// Threads: the rank's MPI thread.
class Turns {
 public:
  /// Puts a collective behind those that are pending. It must stay until advance() has given true, or be
  /// withdrawn.
  void enqueue(Pending& pending) { pending_.push_back(&pending); }
  void withdraw(const Pending& pending) { std::erase(pending_, &pending); }
  /// Goes on with the pending ones in the order of their calls; true when none is left.
  bool advance() {
    if (advancing_) return false;
    advancing_ = true;
    while (!pending_.empty() && pending_.front()->advance()) pending_.pop_front();
    advancing_ = false;
    return pending_.empty();
  }
  bool is_idle() const { return pending_.empty(); }

  /// How many tasks know the channel, from their making to the moment in which the program is told of their
  /// end.
  void add_task() { ++task_count_; }
  void remove_task() { --task_count_; }
  bool has_tasks() const { return task_count_ != 0; }

 private:
  std::deque<Pending*> pending_;
  int task_count_ = 0;
  bool advancing_ = false;
};

}  // namespace llamada::mpi::coll
