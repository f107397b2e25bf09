#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "coll/pieces.hpp"
#include "object/communicator.hpp"

namespace llamada::mpi::coll {

/// The collective channels of a rank's communicators, and the context ids that it has seen. One for each
/// rank, made by MPI_Init.
///
/// Threads: the rank's MPI thread.
class Collectives {
 public:
  static constexpr std::uint32_t world_context = 1;
  static constexpr std::uint32_t self_context = 2;
  static constexpr std::uint32_t first_free_context = 3;

  struct Options {
    bool keep_all = false;  ///< rank_replacement REBUILD: see Channel
    std::function<std::string()> describe_call;
    std::function<void()> after_publish;
  };

  /// `world` and `waiter` are borrowed.
  Collectives(World& world, Waiter& waiter, Options options)
      : world_(world), waiter_(waiter), options_(std::move(options)) {}

  /// The channel of a communicator of at least two members, made at first use. It goes with the communicator.
  Result<Channel*> channel(Communicator& communicator);
  Waiter& waiter() { return waiter_; }

  /// Moves all readers behind what is of no use: to be called whenever the rank waits.
  void skip_stale();

  /// The lowest context id that this rank has not seen in use.
  std::uint32_t next_context() const { return next_context_; }
  /// All below `context` are in use.
  void use_contexts_below(std::uint32_t context) { next_context_ = std::max(next_context_, context); }

 private:
  class Holder;

  World& world_;
  Waiter& waiter_;
  Options options_;
  std::vector<Channel*> channels_;
  std::uint32_t next_context_ = first_free_context;
};

}  // namespace llamada::mpi::coll
