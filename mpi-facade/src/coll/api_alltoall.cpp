#include "coll/api.hpp"
#include "coll/movement.hpp"

// All-to-all exchanges (MPI 3.1, 5.8).

namespace {

using namespace llamada::mpi;
using namespace llamada::mpi::coll;

/// In place: what is sent is kept apart, for results take its place.
std::vector<std::vector<std::byte>> pack_all(const std::vector<Data>& parts) {
  std::vector<std::vector<std::byte>> packed;
  for (const Data& part : parts) {
    packed.emplace_back(part.bytes);
    part.pack(0, packed.back());
  }
  return packed;
}

int exchange(Communicator& communicator, const std::vector<Data>& contributions,
             const std::vector<Data>& results) {
  copy(contributions[communicator.rank()], results[communicator.rank()]);
  return perform(communicator, [&](Channel& channel, Waiter& waiter) {
    return alltoall(channel, waiter, contributions, results);
  });
}

int exchange_in_place(Communicator& communicator, const std::vector<Data>& results) {
  auto packed = pack_all(results);
  std::vector<Data> contributions;
  for (const auto& part : packed) contributions.push_back(Data::of(std::span<const std::byte>(part)));
  return exchange(communicator, contributions, results);
}

/// A type for each member, and displacements in bytes.
int find_typed_parts(Communicator* communicator, const void* buffer, const int* counts,
                     const int* displacements, const MPI_Datatype* datatypes, std::vector<Data>& parts) {
  if (int code = check_counts(communicator, counts)) return code;
  if (int code = check_pointer(communicator, displacements, "displacements")) return code;
  if (int code = check_pointer(communicator, datatypes, "datatypes")) return code;
  for (int member = 0; member < communicator->size(); ++member) {
    Datatype* type = nullptr;
    if (int code = find_committed(communicator, datatypes[member], type)) return code;
    if (int code = check_buffer(communicator, buffer, counts[member], *type)) return code;
    parts.push_back(
        Data::of(at(buffer, displacements[member]), static_cast<std::size_t>(counts[member]), *type));
  }
  return MPI_SUCCESS;
}

}  // namespace

extern "C" {

LLAMADA_MPI_FUNCTION(Alltoall)
int PMPI_Alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                  MPI_Datatype recvtype, MPI_Comm comm) {
  LLAMADA_MPI_ENTER(Alltoall);
  Communicator* communicator = nullptr;
  if (int code = find_intracommunicator(comm, communicator)) return code;
  std::vector<Data> contributions, results;
  if (int code = find_even_parts(communicator, recvbuf, recvcount, recvtype, results)) return code;
  if (sendbuf == MPI_IN_PLACE) return exchange_in_place(*communicator, results);
  if (int code = find_even_parts(communicator, sendbuf, sendcount, sendtype, contributions)) return code;
  return exchange(*communicator, contributions, results);
}

LLAMADA_MPI_FUNCTION(Alltoallv)
int PMPI_Alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                   void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                   MPI_Comm comm) {
  LLAMADA_MPI_ENTER(Alltoallv);
  Communicator* communicator = nullptr;
  if (int code = find_intracommunicator(comm, communicator)) return code;
  std::vector<Data> contributions, results;
  if (int code = find_parts(communicator, recvbuf, recvcounts, rdispls, recvtype, results)) return code;
  if (sendbuf == MPI_IN_PLACE) return exchange_in_place(*communicator, results);
  if (int code = find_parts(communicator, sendbuf, sendcounts, sdispls, sendtype, contributions)) return code;
  return exchange(*communicator, contributions, results);
}

LLAMADA_MPI_FUNCTION(Alltoallw)
int PMPI_Alltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[],
                   const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[], const int rdispls[],
                   const MPI_Datatype recvtypes[], MPI_Comm comm) {
  LLAMADA_MPI_ENTER(Alltoallw);
  Communicator* communicator = nullptr;
  if (int code = find_intracommunicator(comm, communicator)) return code;
  std::vector<Data> contributions, results;
  if (int code = find_typed_parts(communicator, recvbuf, recvcounts, rdispls, recvtypes, results))
    return code;
  if (sendbuf == MPI_IN_PLACE) return exchange_in_place(*communicator, results);
  if (int code = find_typed_parts(communicator, sendbuf, sendcounts, sdispls, sendtypes, contributions))
    return code;
  return exchange(*communicator, contributions, results);
}

}  // extern "C"
