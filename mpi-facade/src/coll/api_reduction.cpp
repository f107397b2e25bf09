#include <numeric>

#include "coll/api.hpp"
#include "coll/reduction.hpp"

// Reductions (MPI 3.1, 5.9 to 5.11).

namespace {

using namespace llamada::mpi;
using namespace llamada::mpi::coll;

/// What all reductions are given.
struct Arguments {
  Communicator* communicator = nullptr;
  Datatype* type = nullptr;
  Operation* operation = nullptr;

  /// Without the buffers.
  int find(MPI_Comm comm, int count, MPI_Datatype datatype, MPI_Op op) {
    if (int code = find_intracommunicator(comm, communicator)) return code;
    if (int code = find_committed(communicator, datatype, type)) return code;
    if (int code = check_count(communicator, count)) return code;
    return find_operation(communicator, op, *type, operation);
  }
  /// The contribution, which lies in the result's place when `sendbuf` is MPI_IN_PLACE.
  int find_contribution(const void* sendbuf, const void* recvbuf, int count, Data& contribution) {
    const void* buffer = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
    if (int code = check_buffer(communicator, buffer, count, *type)) return code;
    contribution = Data::of(buffer, static_cast<std::size_t>(count), *type);
    return MPI_SUCCESS;
  }
  int find_result(void* recvbuf, int count, Data& result) {
    if (int code = check_buffer(communicator, recvbuf, count, *type)) return code;
    result = Data::of(recvbuf, static_cast<std::size_t>(count), *type);
    return MPI_SUCCESS;
  }

  Reduction reduction() const { return {*operation, *type}; }
};

/// Runs one; alone, the contribution is the result.
template <typename Collective>
int reduce_to(Arguments& arguments, const Data& contribution, const Data& result, Collective&& collective) {
  if (contribution.bytes == 0) return MPI_SUCCESS;
  if (arguments.communicator->size() == 1) copy(contribution, result);
  return perform(*arguments.communicator, std::forward<Collective>(collective));
}

int scatter_reduction(Arguments& arguments, const void* sendbuf, void* recvbuf,
                      std::span<const std::size_t> counts) {
  std::size_t total = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  std::size_t own = counts[arguments.communicator->rank()];
  if (total > std::size_t{0x7fffffff})
    return report(arguments.communicator, MPI_ERR_COUNT, "the counts together exceed an int");
  Data contribution, result;
  if (int code = arguments.find_contribution(sendbuf, recvbuf, static_cast<int>(total), contribution))
    return code;
  if (int code = arguments.find_result(recvbuf, static_cast<int>(own), result)) return code;
  return reduce_to(arguments, contribution, result, [&](Channel& channel, Waiter& waiter) {
    return reduce_scatter(channel, waiter, arguments.reduction(), contribution, result, counts);
  });
}

}  // namespace

extern "C" {

LLAMADA_MPI_FUNCTION(Reduce)
int PMPI_Reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                MPI_Comm comm) {
  LLAMADA_MPI_ENTER(Reduce);
  Arguments arguments;
  if (int code = arguments.find(comm, count, datatype, op)) return code;
  if (int code = check_root(arguments.communicator, root)) return code;
  bool is_root = arguments.communicator->rank() == root;
  Data contribution, result;
  if (sendbuf == MPI_IN_PLACE && !is_root)
    return check_buffer(arguments.communicator, sendbuf, count, *arguments.type);
  if (int code = arguments.find_contribution(sendbuf, recvbuf, count, contribution)) return code;
  if (is_root)
    if (int code = arguments.find_result(recvbuf, count, result)) return code;
  return reduce_to(arguments, contribution, result, [&](Channel& channel, Waiter& waiter) {
    return reduce(channel, waiter, arguments.reduction(), contribution, result, root);
  });
}

LLAMADA_MPI_FUNCTION(Allreduce)
int PMPI_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                   MPI_Comm comm) {
  LLAMADA_MPI_ENTER(Allreduce);
  Arguments arguments;
  Data contribution, result;
  if (int code = arguments.find(comm, count, datatype, op)) return code;
  if (int code = arguments.find_contribution(sendbuf, recvbuf, count, contribution)) return code;
  if (int code = arguments.find_result(recvbuf, count, result)) return code;
  return reduce_to(arguments, contribution, result, [&](Channel& channel, Waiter& waiter) {
    return allreduce(channel, waiter, arguments.reduction(), contribution, result);
  });
}

LLAMADA_MPI_FUNCTION(Reduce_scatter)
int PMPI_Reduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype datatype,
                        MPI_Op op, MPI_Comm comm) {
  LLAMADA_MPI_ENTER(Reduce_scatter);
  Arguments arguments;
  if (int code = arguments.find(comm, 0, datatype, op)) return code;
  if (int code = check_counts(arguments.communicator, recvcounts)) return code;
  std::vector<std::size_t> counts(recvcounts, recvcounts + arguments.communicator->size());
  return scatter_reduction(arguments, sendbuf, recvbuf, counts);
}

LLAMADA_MPI_FUNCTION(Reduce_scatter_block)
int PMPI_Reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype,
                              MPI_Op op, MPI_Comm comm) {
  LLAMADA_MPI_ENTER(Reduce_scatter_block);
  Arguments arguments;
  if (int code = arguments.find(comm, recvcount, datatype, op)) return code;
  std::vector<std::size_t> counts(arguments.communicator->size(), static_cast<std::size_t>(recvcount));
  return scatter_reduction(arguments, sendbuf, recvbuf, counts);
}

LLAMADA_MPI_FUNCTION(Scan)
int PMPI_Scan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
              MPI_Comm comm) {
  LLAMADA_MPI_ENTER(Scan);
  Arguments arguments;
  Data contribution, result;
  if (int code = arguments.find(comm, count, datatype, op)) return code;
  if (int code = arguments.find_contribution(sendbuf, recvbuf, count, contribution)) return code;
  if (int code = arguments.find_result(recvbuf, count, result)) return code;
  return reduce_to(arguments, contribution, result, [&](Channel& channel, Waiter& waiter) {
    return scan(channel, waiter, arguments.reduction(), contribution, result);
  });
}

LLAMADA_MPI_FUNCTION(Exscan)
int PMPI_Exscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                MPI_Comm comm) {
  LLAMADA_MPI_ENTER(Exscan);
  Arguments arguments;
  Data contribution, result;
  if (int code = arguments.find(comm, count, datatype, op)) return code;
  if (int code = arguments.find_contribution(sendbuf, recvbuf, count, contribution)) return code;
  bool has_result =
      arguments.communicator->rank() > 0;  // On rank 0 the result buffer means nothing (5.11.2).
  if (has_result)
    if (int code = arguments.find_result(recvbuf, count, result)) return code;
  if (contribution.bytes == 0) return MPI_SUCCESS;
  return perform(*arguments.communicator, [&](Channel& channel, Waiter& waiter) {
    return exscan(channel, waiter, arguments.reduction(), contribution, result);
  });
}

}  // extern "C"
