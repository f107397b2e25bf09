#include "coll/api.hpp"
#include "coll/direct_movement.hpp"
#include "coll/movement.hpp"

// All-to-all exchanges (MPI 3.1, 5.8, 5.12.6).

namespace {

using namespace llamada::mpi;
using namespace llamada::mpi::coll;

int exchange(Call& call, Parts contributions, Parts results, bool in_place,
             std::size_t lent_bytes_min = never) {
  if (!in_place)
    if (int code = check_no_overlap(call, contributions, results)) return code;
  return carry_out(call, [contributions = std::move(contributions), results = std::move(results), in_place,
                          lent_bytes_min](Channel& channel) {
    return Alltoall(channel, contributions, results, in_place, lent_bytes_min);
  });
}

int exchange_directly(Call& call, Parts contributions, Parts results, bool in_place) {
  if (!in_place)
    if (int code = check_no_overlap(call, contributions, results)) return code;
  return carry_out(call, [contributions = std::move(contributions), results = std::move(results),
                          in_place](Channel& channel) {
    return DirectIfPossible(
        channel, Kind::alltoall, results[0].bytes,
        [&](Channel& with) {
          return std::make_unique<DirectFromAll>(with, Kind::alltoall, contributions, results, in_place);
        },
        [&](Channel& with) { return std::make_unique<Alltoall>(with, contributions, results, in_place); });
  });
}

/// Parts that lie one behind the other in one record for all others.
int exchange_together(const Call& call, const Data& given, const Data& taken) {
  const std::size_t own = static_cast<std::size_t>(call.communicator->rank()) * given.bytes;
  std::memcpy(taken.memory() + own, given.memory() + own, given.bytes);
  return perform(*call.communicator, [=](Channel& channel, Waiter& waiter) {
    return alltoall_small(channel, waiter, given.memory(), taken.memory(), given.bytes);
  });
}

std::size_t lent_bytes_min(const Call& call, Way way) {
  return coll::lent_bytes_min(way, direct_alltoall_bytes_min(call.communicator->size()));
}

/// `given` and `taken` are the first parts.
[[gnu::noinline]] int exchange_any(Call& call, Data given, int given_count, Data taken, int taken_count,
                                   bool in_place, Way way) {
  if (way == Way::nothing) return move_nothing(call, Kind::alltoall);
  Parts contributions, results = even_parts(taken, taken_count);
  if (!in_place) contributions = even_parts(given, given_count);
  if (way == Way::direct)
    return exchange_directly(call, std::move(contributions), std::move(results), in_place);
  return exchange(call, std::move(contributions), std::move(results), in_place, lent_bytes_min(call, way));
}

/// Between members that each give all others small parts.
int exchange_small(Call& call, const Data& given, const Data& taken, Way way) {
  if (int code = check_no_overlap(call, given, taken)) return code;
  if (way == Way::together) return exchange_together(call, given, taken);
  const auto apart = static_cast<std::ptrdiff_t>(given.bytes);
  return exchange_little(call, Kind::alltoall, given.memory(), apart, 1 - call.communicator->rank(), taken);
}

int check_alltoall(Call& call, const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                   int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  if (int code = call.find_communicator(comm)) return code;
  Data given, taken;
  const bool in_place = is_in_place(call, sendbuf);
  if (int code = find_data(call, recvbuf, recvcount, recvtype, taken)) return code;
  if (!in_place)
    if (int code = find_data(call, sendbuf, sendcount, sendtype, given)) return code;
  const Way way = choose<alltoall_ways>(facts_of(call, given, taken, in_place));
  if (way == Way::small || way == Way::together) return exchange_small(call, given, taken, way);
  return exchange_any(call, given, sendcount, taken, recvcount, in_place, way);
}

template <typename Count, typename Displacement>
int check_alltoallv(Call& call, const void* sendbuf, const Count* sendcounts, const Displacement* sdispls,
                    MPI_Datatype sendtype, void* recvbuf, const Count* recvcounts,
                    const Displacement* rdispls, MPI_Datatype recvtype, MPI_Comm comm) {
  if (int code = call.find_communicator(comm)) return code;
  Parts contributions, results;
  const bool in_place = is_in_place(call, sendbuf);
  const int peers = call.communicator->peers().size();
  if (int code = find_parts(call, recvbuf, recvcounts, rdispls, recvtype, peers, results)) return code;
  if (!in_place)
    if (int code = find_parts(call, sendbuf, sendcounts, sdispls, sendtype, peers, contributions))
      return code;
  const Way way = choose<alltoallv_ways>(facts_of(call, 0, false));
  return exchange(call, std::move(contributions), std::move(results), in_place, lent_bytes_min(call, way));
}

int check_alltoallw(Call& call, const void* sendbuf, const int* sendcounts, const int* sdispls,
                    const MPI_Datatype* sendtypes, void* recvbuf, const int* recvcounts, const int* rdispls,
                    const MPI_Datatype* recvtypes, MPI_Comm comm) {
  if (int code = call.find_communicator(comm)) return code;
  Parts contributions, results;
  const bool in_place = is_in_place(call, sendbuf);
  const int peers = call.communicator->peers().size();
  if (int code = find_typed_parts(call, recvbuf, recvcounts, rdispls, recvtypes, peers, results)) return code;
  if (!in_place)
    if (int code = find_typed_parts(call, sendbuf, sendcounts, sdispls, sendtypes, peers, contributions))
      return code;
  const Way way = choose<alltoallv_ways>(facts_of(call, 0, false));
  return exchange(call, std::move(contributions), std::move(results), in_place, lent_bytes_min(call, way));
}

}  // namespace

LLAMADA_COLLECTIVE(Alltoall, Ialltoall, check_alltoall,
                   (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                    MPI_Datatype recvtype, MPI_Comm comm),
                   sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)
LLAMADA_COLLECTIVE(Alltoallv, Ialltoallv, check_alltoallv,
                   (const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                    void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                    MPI_Comm comm),
                   sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm)
LLAMADA_COLLECTIVE(Alltoallw, Ialltoallw, check_alltoallw,
                   (const void* sendbuf, const int sendcounts[], const int sdispls[],
                    const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                    const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm),
                   sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm)

LLAMADA_MPI_FUNCTION(Alltoallv_c)
int PMPI_Alltoallv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                     MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
                     const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
  LLAMADA_MPI_ENTER(Alltoallv_c);
  Call call;
  return check_alltoallv(call, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
                         comm);
}
