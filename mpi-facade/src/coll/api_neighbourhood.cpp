#include "coll/api.hpp"
#include "coll/neighbourhood.hpp"

// Neighbourhood collectives (MPI 3.1, 7.6 and 7.7).

namespace {

using namespace llamada::mpi;
using namespace llamada::mpi::coll;

/// Finds the communicator and its neighbours.
int find_neighbours(Call& call, MPI_Comm comm, Neighbours& neighbours) {
  if (int code = find_intracommunicator(comm, call.communicator)) return code;
  if (int code = call.find_communicator(comm)) return code;
  return neighbours.find(*call.communicator);
}

int source_count(const Neighbours& neighbours) { return static_cast<int>(neighbours.sources.size()); }
int destination_count(const Neighbours& neighbours) {
  return static_cast<int>(neighbours.destinations.size());
}

int exchange(Call& call, Neighbours neighbours, Parts contributions, Parts results) {
  return carry_out(call, [neighbours = std::move(neighbours), contributions = std::move(contributions),
                          results = std::move(results)](Channel& channel) {
    return NeighbourExchange(channel, neighbours, contributions, results);
  });
}

/// The same for each neighbour.
int find_for_each(Call& call, const void* sendbuf, int sendcount, MPI_Datatype sendtype, Parts& parts) {
  Data own;
  if (int code = find_data(call, sendbuf, sendcount, sendtype, own)) return code;
  parts = Parts(own, 0);
  return MPI_SUCCESS;
}

int check_neighbor_allgather(Call& call, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                             void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  Neighbours neighbours;
  Parts contributions, results;
  if (int code = find_neighbours(call, comm, neighbours)) return code;
  if (int code = find_for_each(call, sendbuf, sendcount, sendtype, contributions)) return code;
  if (int code = find_even_parts(call, recvbuf, recvcount, recvtype, results)) return code;
  return exchange(call, std::move(neighbours), std::move(contributions), std::move(results));
}

int check_neighbor_allgatherv(Call& call, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                              void* recvbuf, const int* recvcounts, const int* displs, MPI_Datatype recvtype,
                              MPI_Comm comm) {
  Neighbours neighbours;
  Parts contributions, results;
  if (int code = find_neighbours(call, comm, neighbours)) return code;
  if (int code = find_for_each(call, sendbuf, sendcount, sendtype, contributions)) return code;
  if (int code = find_parts(call, recvbuf, recvcounts, displs, recvtype, source_count(neighbours), results))
    return code;
  return exchange(call, std::move(neighbours), std::move(contributions), std::move(results));
}

int check_neighbor_alltoall(Call& call, const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                            void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  Neighbours neighbours;
  Parts contributions, results;
  if (int code = find_neighbours(call, comm, neighbours)) return code;
  if (int code = find_even_parts(call, sendbuf, sendcount, sendtype, contributions)) return code;
  if (int code = find_even_parts(call, recvbuf, recvcount, recvtype, results)) return code;
  return exchange(call, std::move(neighbours), std::move(contributions), std::move(results));
}

int check_neighbor_alltoallv(Call& call, const void* sendbuf, const int* sendcounts, const int* sdispls,
                             MPI_Datatype sendtype, void* recvbuf, const int* recvcounts, const int* rdispls,
                             MPI_Datatype recvtype, MPI_Comm comm) {
  Neighbours neighbours;
  Parts contributions, results;
  if (int code = find_neighbours(call, comm, neighbours)) return code;
  if (int code = find_parts(call, sendbuf, sendcounts, sdispls, sendtype, destination_count(neighbours),
                            contributions))
    return code;
  if (int code = find_parts(call, recvbuf, recvcounts, rdispls, recvtype, source_count(neighbours), results))
    return code;
  return exchange(call, std::move(neighbours), std::move(contributions), std::move(results));
}

int check_neighbor_alltoallw(Call& call, const void* sendbuf, const int* sendcounts, const MPI_Aint* sdispls,
                             const MPI_Datatype* sendtypes, void* recvbuf, const int* recvcounts,
                             const MPI_Aint* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm) {
  Neighbours neighbours;
  Parts contributions, results;
  if (int code = find_neighbours(call, comm, neighbours)) return code;
  if (int code = find_typed_parts(call, sendbuf, sendcounts, sdispls, sendtypes,
                                  destination_count(neighbours), contributions))
    return code;
  if (int code =
          find_typed_parts(call, recvbuf, recvcounts, rdispls, recvtypes, source_count(neighbours), results))
    return code;
  return exchange(call, std::move(neighbours), std::move(contributions), std::move(results));
}

}  // namespace

LLAMADA_COLLECTIVE(Neighbor_allgather, Ineighbor_allgather, check_neighbor_allgather,
                   (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                    MPI_Datatype recvtype, MPI_Comm comm),
                   sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)
LLAMADA_COLLECTIVE(Neighbor_allgatherv, Ineighbor_allgatherv, check_neighbor_allgatherv,
                   (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                    const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm),
                   sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm)
LLAMADA_COLLECTIVE(Neighbor_alltoall, Ineighbor_alltoall, check_neighbor_alltoall,
                   (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                    MPI_Datatype recvtype, MPI_Comm comm),
                   sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)
LLAMADA_COLLECTIVE(Neighbor_alltoallv, Ineighbor_alltoallv, check_neighbor_alltoallv,
                   (const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                    void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                    MPI_Comm comm),
                   sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm)
LLAMADA_COLLECTIVE(Neighbor_alltoallw, Ineighbor_alltoallw, check_neighbor_alltoallw,
                   (const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                    const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                    const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm),
                   sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm)
