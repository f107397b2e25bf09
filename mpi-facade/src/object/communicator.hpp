#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>

#include "object/attribute.hpp"
#include "object/error_handler.hpp"
#include "object/group.hpp"
#include "object/reference.hpp"
#include "object/topology.hpp"

namespace llamada::mpi {

/// What a layer above hangs on a communicator: the collectives' channel, the matching's tables.
class CommunicatorExtension {
 public:
  virtual ~CommunicatorExtension() = default;
};

/// A communicator (MPI 3.1, 6.2): a context, and the group that talks in it, of which the caller is a member.
/// An intercommunicator (6.6) has a second, remote group, and messages go from each to the other.
class Communicator : public Counted {
 public:
  /// `context` is what the members agreed on; it names messages of this communicator and of no other that its
  /// members share. Point-to-point and collective messages are told apart by the layers above.
  Communicator(std::uint32_t context, Reference<Group> group, Reference<ErrorHandler> error_handler)
      : context_(context),
        peer_ranks_(group->members()),
        group_(std::move(group)),
        error_handler_(std::move(error_handler)) {}

  std::uint32_t context() const { return context_; }
  /// Of one that was made before its members had agreed (MPI_Comm_idup), and not yet used.
  void set_context(std::uint32_t context) { context_ = context; }
  int size() const { return group_->size(); }
  int rank() const { return group_->rank(); }
  const Reference<Group>& group() const { return group_; }

  /// Makes it an intercommunicator. `local` is an intracommunicator of the caller's group alone, for the
  /// library's own collectives; it has no handle.
  void set_remote(Reference<Group> remote, Reference<Communicator> local) {
    remote_group_ = std::move(remote);
    peer_ranks_ = remote_group_->members();
    local_ = std::move(local);
  }
  bool is_inter() const { return static_cast<bool>(remote_group_); }
  /// Only of an intercommunicator.
  const Reference<Group>& remote_group() const { return remote_group_; }
  Communicator& local() const { return *local_; }

  /// Those to whom messages go and from whom they come: the members, or the remote group.
  const Group& peers() const { return remote_group_ ? *remote_group_ : *group_; }
  /// The rank in MPI_COMM_WORLD of a peer.
  int world_rank(int rank) const { return peer_ranks_[static_cast<std::size_t>(rank)]; }
  /// How many peers there are.
  int peer_count() const { return static_cast<int>(peer_ranks_.size()); }
  /// The rank among the peers of a rank in MPI_COMM_WORLD, MPI_UNDEFINED if it is none.
  int rank_of(int world_rank) const { return peers().rank_of(world_rank); }

  /// MPI_COMM_NULL once the program has freed it, while requests in flight still need it.
  MPI_Comm handle() const { return handle_; }
  void set_handle(MPI_Comm handle) { handle_ = handle; }

  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }
  /// For messages: its name, or "a communicator of 4 ranks".
  std::string description() const;

  const Reference<ErrorHandler>& error_handler() const { return error_handler_; }
  void set_error_handler(Reference<ErrorHandler> handler) { error_handler_ = std::move(handler); }

  /// At most one of the three is not null.
  const CartesianTopology* topology() const { return std::get_if<CartesianTopology>(&topology_); }
  const GraphTopology* graph() const { return std::get_if<GraphTopology>(&topology_); }
  const DistributedGraph* distributed_graph() const { return std::get_if<DistributedGraph>(&topology_); }
  void set_topology(Topology topology) { topology_ = std::move(topology); }
  void copy_topology(const Communicator& other) { topology_ = other.topology_; }

  Attributes& attributes() { return attributes_; }
  const Attributes& attributes() const { return attributes_; }

  /// How many communicators have been made from this one: what context ids are derived from.
  std::uint32_t next_child() { return child_count_++; }

  /// How many persistent collectives one of the members had made before, the same on all: see
  /// coll::Collectives.
  std::uint32_t persistents_before = 0;

  /// Agreements that have been called on it; members call them in one order.
  std::uint32_t agreements = 0;
  /// How many of the ranks that are lost the program has acknowledged here (p2p/losses.hpp).
  std::size_t acknowledged = 0;

  /// One slot for each layer.
  std::unique_ptr<CommunicatorExtension> collectives;
  std::unique_ptr<CommunicatorExtension> point_to_point;

 private:
  std::uint32_t context_;
  std::span<const int> peer_ranks_;  // in MPI_COMM_WORLD
  Reference<Group> group_;
  Reference<ErrorHandler> error_handler_;
  MPI_Comm handle_ = MPI_COMM_NULL;
  std::string name_;
  Reference<Group> remote_group_;
  Reference<Communicator> local_;
  Topology topology_;
  Attributes attributes_;
  std::uint32_t child_count_ = 0;
};

}  // namespace llamada::mpi
