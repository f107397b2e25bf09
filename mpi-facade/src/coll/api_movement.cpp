#include "coll/api.hpp"
#include "coll/intercommunicator.hpp"
#include "coll/movement.hpp"

// Barrier, broadcast, gather, scatter and allgather (MPI 3.1, 5.3 to 5.7).

namespace {

using namespace llamada::mpi;
using namespace llamada::mpi::coll;

/// The root's part of a gather, once its results are known.
int gather_to(Communicator& communicator, const Data& own, const std::vector<Data>& results, int root) {
  if (communicator.rank() == root && own.base != MPI_IN_PLACE) copy(own, results[root]);
  return perform(communicator, [&](Channel& channel, Waiter& waiter) {
    return gather(channel, waiter, own, results, root);
  });
}

int scatter_from(Communicator& communicator, const std::vector<Data>& contributions, const Data& own,
                 int root) {
  if (communicator.rank() == root && own.base != MPI_IN_PLACE) copy(contributions[root], own);
  return perform(communicator, [&](Channel& channel, Waiter& waiter) {
    return scatter(channel, waiter, contributions, own, root);
  });
}

int allgather_to(Communicator& communicator, const Data& own, const std::vector<Data>& results) {
  if (own.base != MPI_IN_PLACE) copy(own, results[communicator.rank()]);
  const Data& contribution = own.base == MPI_IN_PLACE ? results[communicator.rank()] : own;
  return perform(communicator, [&](Channel& channel, Waiter& waiter) {
    return allgather(channel, waiter, contribution, results);
  });
}

/// One's own part, which may be MPI_IN_PLACE where `in_place_allowed`.
int own_part(Communicator* communicator, const void* buffer, int count, MPI_Datatype datatype,
             bool in_place_allowed, Data& part) {
  part.base = MPI_IN_PLACE;
  if (buffer == MPI_IN_PLACE && in_place_allowed) return MPI_SUCCESS;
  Datatype* type = nullptr;
  if (int code = check_data(communicator, buffer, count, datatype, type)) return code;
  part = Data::of(buffer, static_cast<std::size_t>(count), *type);
  return MPI_SUCCESS;
}

}  // namespace

extern "C" {

LLAMADA_MPI_FUNCTION(Barrier)
int PMPI_Barrier(MPI_Comm comm) {
  LLAMADA_MPI_ENTER(Barrier);
  Communicator* communicator = nullptr;
  if (int code = find_communicator(comm, communicator)) return code;
  if (communicator->is_inter()) {
    const auto status = barrier_inter(*communicator);
    return status ? MPI_SUCCESS : report(communicator, status.error());
  }
  return perform(*communicator, [](Channel& channel, Waiter& waiter) { return barrier(channel, waiter); });
}

LLAMADA_MPI_FUNCTION(Bcast)
int PMPI_Bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  LLAMADA_MPI_ENTER(Bcast);
  Communicator* communicator = nullptr;
  if (int code = find_intracommunicator(comm, communicator)) return code;
  Datatype* type = nullptr;
  if (int code = check_data(communicator, buffer, count, datatype, type)) return code;
  if (int code = check_root(communicator, root)) return code;
  Data data = Data::of(buffer, static_cast<std::size_t>(count), *type);
  return perform(*communicator,
                 [&](Channel& channel, Waiter& waiter) { return broadcast(channel, waiter, data, root); });
}

LLAMADA_MPI_FUNCTION(Gather)
int PMPI_Gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                MPI_Datatype recvtype, int root, MPI_Comm comm) {
  LLAMADA_MPI_ENTER(Gather);
  Communicator* communicator = nullptr;
  if (int code = find_intracommunicator(comm, communicator)) return code;
  if (int code = check_root(communicator, root)) return code;
  bool is_root = communicator->rank() == root;
  Data own;
  if (int code = own_part(communicator, sendbuf, sendcount, sendtype, is_root, own)) return code;
  std::vector<Data> results;
  if (is_root)
    if (int code = find_even_parts(communicator, recvbuf, recvcount, recvtype, results)) return code;
  return gather_to(*communicator, own, results, root);
}

LLAMADA_MPI_FUNCTION(Gatherv)
int PMPI_Gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                 const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm) {
  LLAMADA_MPI_ENTER(Gatherv);
  Communicator* communicator = nullptr;
  if (int code = find_intracommunicator(comm, communicator)) return code;
  if (int code = check_root(communicator, root)) return code;
  bool is_root = communicator->rank() == root;
  Data own;
  if (int code = own_part(communicator, sendbuf, sendcount, sendtype, is_root, own)) return code;
  std::vector<Data> results;
  if (is_root)
    if (int code = find_parts(communicator, recvbuf, recvcounts, displs, recvtype, results)) return code;
  return gather_to(*communicator, own, results, root);
}

LLAMADA_MPI_FUNCTION(Scatter)
int PMPI_Scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                 MPI_Datatype recvtype, int root, MPI_Comm comm) {
  LLAMADA_MPI_ENTER(Scatter);
  Communicator* communicator = nullptr;
  if (int code = find_intracommunicator(comm, communicator)) return code;
  if (int code = check_root(communicator, root)) return code;
  bool is_root = communicator->rank() == root;
  Data own;
  if (int code = own_part(communicator, recvbuf, recvcount, recvtype, is_root, own)) return code;
  std::vector<Data> contributions;
  if (is_root)
    if (int code = find_even_parts(communicator, sendbuf, sendcount, sendtype, contributions)) return code;
  return scatter_from(*communicator, contributions, own, root);
}

LLAMADA_MPI_FUNCTION(Scatterv)
int PMPI_Scatterv(const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
                  void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  LLAMADA_MPI_ENTER(Scatterv);
  Communicator* communicator = nullptr;
  if (int code = find_intracommunicator(comm, communicator)) return code;
  if (int code = check_root(communicator, root)) return code;
  bool is_root = communicator->rank() == root;
  Data own;
  if (int code = own_part(communicator, recvbuf, recvcount, recvtype, is_root, own)) return code;
  std::vector<Data> contributions;
  if (is_root)
    if (int code = find_parts(communicator, sendbuf, sendcounts, displs, sendtype, contributions))
      return code;
  return scatter_from(*communicator, contributions, own, root);
}

LLAMADA_MPI_FUNCTION(Allgather)
int PMPI_Allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm) {
  LLAMADA_MPI_ENTER(Allgather);
  Communicator* communicator = nullptr;
  if (int code = find_intracommunicator(comm, communicator)) return code;
  Data own;
  if (int code = own_part(communicator, sendbuf, sendcount, sendtype, true, own)) return code;
  std::vector<Data> results;
  if (int code = find_even_parts(communicator, recvbuf, recvcount, recvtype, results)) return code;
  return allgather_to(*communicator, own, results);
}

LLAMADA_MPI_FUNCTION(Allgatherv)
int PMPI_Allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                    const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm) {
  LLAMADA_MPI_ENTER(Allgatherv);
  Communicator* communicator = nullptr;
  if (int code = find_intracommunicator(comm, communicator)) return code;
  Data own;
  if (int code = own_part(communicator, sendbuf, sendcount, sendtype, true, own)) return code;
  std::vector<Data> results;
  if (int code = find_parts(communicator, recvbuf, recvcounts, displs, recvtype, results)) return code;
  return allgather_to(*communicator, own, results);
}

}  // extern "C"
