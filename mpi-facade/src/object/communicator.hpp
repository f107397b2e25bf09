#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

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

/// An intracommunicator (MPI 3.1, 6.2): a context, and the group that talks in it. The caller is a member.
class Communicator : public Counted {
 public:
  /// `context` is what the members agreed on; it names messages of this communicator and of no other that its
  /// members share. Point-to-point and collective messages are told apart by the layers above.
  Communicator(std::uint32_t context, Reference<Group> group, Reference<ErrorHandler> error_handler)
      : context_(context), group_(std::move(group)), error_handler_(std::move(error_handler)) {}

  std::uint32_t context() const { return context_; }
  int size() const { return group_->size(); }
  int rank() const { return group_->rank(); }
  /// The rank in MPI_COMM_WORLD of a member.
  int world_rank(int rank) const { return group_->world_rank(rank); }
  /// The rank here of a rank in MPI_COMM_WORLD, MPI_UNDEFINED if it is no member.
  int rank_of(int world_rank) const { return group_->rank_of(world_rank); }
  const Reference<Group>& group() const { return group_; }

  /// MPI_COMM_NULL once the program has freed it, while requests in flight still need it.
  MPI_Comm handle() const { return handle_; }
  void set_handle(MPI_Comm handle) { handle_ = handle; }

  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }
  /// For messages: its name, or "a communicator of 4 ranks".
  std::string description() const;

  const Reference<ErrorHandler>& error_handler() const { return error_handler_; }
  void set_error_handler(Reference<ErrorHandler> handler) { error_handler_ = std::move(handler); }

  const CartesianTopology* topology() const { return topology_ ? &*topology_ : nullptr; }
  void set_topology(CartesianTopology topology) { topology_ = std::move(topology); }

  Attributes& attributes() { return attributes_; }
  const Attributes& attributes() const { return attributes_; }

  /// How many communicators have been made from this one: what context ids are derived from.
  std::uint32_t next_child() { return child_count_++; }

  /// One slot for each layer.
  std::unique_ptr<CommunicatorExtension> collectives;
  std::unique_ptr<CommunicatorExtension> point_to_point;

 private:
  std::uint32_t context_;
  Reference<Group> group_;
  Reference<ErrorHandler> error_handler_;
  MPI_Comm handle_ = MPI_COMM_NULL;
  std::string name_;
  std::optional<CartesianTopology> topology_;
  Attributes attributes_;
  std::uint32_t child_count_ = 0;
};

}  // namespace llamada::mpi
