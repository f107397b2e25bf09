#include "coll/api.hpp"
#include "coll/movement.hpp"

// Barrier, broadcast, gather, scatter and allgather (MPI 3.1, 5.3 to 5.7, 5.12.1 to 5.12.5).

namespace {

using namespace llamada::mpi;
using namespace llamada::mpi::coll;

int check_barrier(Call& call, MPI_Comm comm) {
  if (int code = call.find_communicator(comm)) return code;
  return carry_out(call, [](Channel& channel) { return Barrier(channel); });
}

int check_bcast(Call& call, void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  if (int code = call.find_communicator(comm)) return code;
  Root to;
  if (int code = to.find(*call.communicator, root)) return code;
  Data data;
  if (to.is_here || to.gives)
    if (int code = find_data(call, buffer, count, datatype, data)) return code;
  return carry_out(call,
                   [data, root = to.member](Channel& channel) { return Broadcast(channel, data, root); });
}

/// One's own part of a rooted collective: at the root it may be MPI_IN_PLACE.
int own_part(Call& call, const Root& root, const void* buffer, int count, MPI_Datatype datatype, Data& part,
             bool& in_place) {
  in_place = root.is_here && is_in_place(call, buffer);
  if (in_place || !root.gives) return MPI_SUCCESS;
  return find_data(call, buffer, count, datatype, part);
}

int gather_to(Call& call, const Data& own, Parts results, const Root& root, bool in_place) {
  return carry_out(call, [own, results = std::move(results), root = root.member, in_place](Channel& channel) {
    return Gather(channel, own, results, root, in_place);
  });
}

int check_gather(Call& call, const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                 int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  if (int code = call.find_communicator(comm)) return code;
  Root to;
  Data own;
  Parts results;
  bool in_place = false;
  if (int code = to.find(*call.communicator, root)) return code;
  if (int code = own_part(call, to, sendbuf, sendcount, sendtype, own, in_place)) return code;
  if (to.is_here) {
    if (int code = find_even_parts(call, recvbuf, recvcount, recvtype, results)) return code;
    if (int code = check_no_overlap(call, own, results)) return code;
  }
  return gather_to(call, own, std::move(results), to, in_place);
}

int check_gatherv(Call& call, const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                  const int* recvcounts, const int* displs, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  if (int code = call.find_communicator(comm)) return code;
  Root to;
  Data own;
  Parts results;
  bool in_place = false;
  if (int code = to.find(*call.communicator, root)) return code;
  if (int code = own_part(call, to, sendbuf, sendcount, sendtype, own, in_place)) return code;
  if (to.is_here) {
    if (int code = find_parts(call, recvbuf, recvcounts, displs, recvtype, call.communicator->peers().size(),
                              results))
      return code;
    if (int code = check_no_overlap(call, own, results)) return code;
  }
  return gather_to(call, own, std::move(results), to, in_place);
}

int scatter_from(Call& call, Parts contributions, const Data& own, const Root& root, bool in_place) {
  return carry_out(
      call, [contributions = std::move(contributions), own, root = root.member, in_place](Channel& channel) {
        return Scatter(channel, contributions, own, root, in_place);
      });
}

int check_scatter(Call& call, const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                  int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  if (int code = call.find_communicator(comm)) return code;
  Root from;
  Data own;
  Parts contributions;
  bool in_place = false;
  if (int code = from.find(*call.communicator, root)) return code;
  if (int code = own_part(call, from, recvbuf, recvcount, recvtype, own, in_place)) return code;
  if (from.is_here) {
    if (int code = find_even_parts(call, sendbuf, sendcount, sendtype, contributions)) return code;
    if (int code = check_no_overlap(call, own, contributions)) return code;
  }
  return scatter_from(call, std::move(contributions), own, from, in_place);
}

int check_scatterv(Call& call, const void* sendbuf, const int* sendcounts, const int* displs,
                   MPI_Datatype sendtype, void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                   MPI_Comm comm) {
  if (int code = call.find_communicator(comm)) return code;
  Root from;
  Data own;
  Parts contributions;
  bool in_place = false;
  if (int code = from.find(*call.communicator, root)) return code;
  if (int code = own_part(call, from, recvbuf, recvcount, recvtype, own, in_place)) return code;
  if (from.is_here) {
    if (int code = find_parts(call, sendbuf, sendcounts, displs, sendtype, call.communicator->peers().size(),
                              contributions))
      return code;
    if (int code = check_no_overlap(call, own, contributions)) return code;
  }
  return scatter_from(call, std::move(contributions), own, from, in_place);
}

int allgather_to(Call& call, const Data& own, Parts results, bool in_place) {
  return carry_out(call, [own, results = std::move(results), in_place](Channel& channel) {
    return Allgather(channel, own, results, in_place);
  });
}

int check_allgather(Call& call, const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                    int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  if (int code = call.find_communicator(comm)) return code;
  Data own;
  Parts results;
  const bool in_place = is_in_place(call, sendbuf);
  if (!in_place)
    if (int code = find_data(call, sendbuf, sendcount, sendtype, own)) return code;
  if (int code = find_even_parts(call, recvbuf, recvcount, recvtype, results)) return code;
  if (int code = check_no_overlap(call, own, results)) return code;
  return allgather_to(call, own, std::move(results), in_place);
}

int check_allgatherv(Call& call, const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                     const int* recvcounts, const int* displs, MPI_Datatype recvtype, MPI_Comm comm) {
  if (int code = call.find_communicator(comm)) return code;
  Data own;
  Parts results;
  const bool in_place = is_in_place(call, sendbuf);
  if (!in_place)
    if (int code = find_data(call, sendbuf, sendcount, sendtype, own)) return code;
  const int peers = call.communicator->peers().size();
  if (int code = find_parts(call, recvbuf, recvcounts, displs, recvtype, peers, results)) return code;
  if (int code = check_no_overlap(call, own, results)) return code;
  return allgather_to(call, own, std::move(results), in_place);
}

}  // namespace

LLAMADA_COLLECTIVE(Barrier, Ibarrier, check_barrier, (MPI_Comm comm), comm)
LLAMADA_COLLECTIVE(Bcast, Ibcast, check_bcast,
                   (void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm), buffer, count,
                   datatype, root, comm)
LLAMADA_MPI_FUNCTION(Bcast_c)
int PMPI_Bcast_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  LLAMADA_MPI_ENTER(Bcast_c);
  Call call;
  return check_bcast(call, buffer, count, datatype, root, comm);
}
LLAMADA_COLLECTIVE(Gather, Igather, check_gather,
                   (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                    MPI_Datatype recvtype, int root, MPI_Comm comm),
                   sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm)
LLAMADA_COLLECTIVE(Gatherv, Igatherv, check_gatherv,
                   (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                    const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                    MPI_Comm comm),
                   sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm)
LLAMADA_COLLECTIVE(Scatter, Iscatter, check_scatter,
                   (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                    MPI_Datatype recvtype, int root, MPI_Comm comm),
                   sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm)
LLAMADA_COLLECTIVE(Scatterv, Iscatterv, check_scatterv,
                   (const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
                    void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm),
                   sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm)
LLAMADA_COLLECTIVE(Allgather, Iallgather, check_allgather,
                   (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                    MPI_Datatype recvtype, MPI_Comm comm),
                   sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)
LLAMADA_COLLECTIVE(Allgatherv, Iallgatherv, check_allgatherv,
                   (const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                    const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm),
                   sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm)
