#pragma once

#include <vector>

#include "coll/pieces.hpp"
#include "object/communicator.hpp"

namespace llamada::mpi::coll {

/// The edges of a member's neighbourhood, as buffers of neighbourhood collectives are ordered (MPI 3.1, 7.6).
struct Neighbours {
  /// An edge that begins or ends here: the other member (may be MPI_PROC_NULL, this one, or the same as
  /// another edge's), and its place among the edges from or to that member, as the giver orders them.
  struct Edge {
    int member;
    int order;
  };
  std::vector<Edge> sources, destinations;

  /// MPI_ERR_TOPOLOGY, reported, when the communicator has no topology.
  int find(Communicator& communicator);
};

/// Gives a part along each edge that begins here, and takes one from each that ends here.
class NeighbourExchange final : public Machine {
 public:
  /// `contributions` by destination, `results` by source.
  NeighbourExchange(Channel& channel, const Neighbours& neighbours, const Parts& contributions,
                    const Parts& results)
      : channel_(channel), neighbours_(neighbours), contributions_(contributions), results_(results) {}
  void begin() override;
  bool step() override;

 private:
  /// A member and the edges from it, in the order in which it gives.
  struct Source {
    int member;
    std::vector<int> edges;
    std::size_t next = 0;
    Receiving receiving;
  };
  void add_sendings();
  void add_sources();
  void copy_own(const Source& own);
  bool receive(Source& source);

  Channel& channel_;
  const Neighbours& neighbours_;
  const Parts& contributions_;
  const Parts& results_;
  std::vector<Sending> sendings_;
  std::size_t sent_ = 0;
  std::vector<Source> sources_;
};

}  // namespace llamada::mpi::coll
