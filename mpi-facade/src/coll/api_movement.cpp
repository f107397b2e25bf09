#include "coll/api.hpp"
#include "coll/direct_movement.hpp"
#include "coll/movement.hpp"

// Barrier, broadcast, gather, scatter and allgather (MPI 3.1, 5.3 to 5.7, 5.12.1 to 5.12.5).

namespace {

using namespace llamada::mpi;
using namespace llamada::mpi::coll;

[[gnu::noinline]] int any_barrier(Call& call) {
  return carry_out(call, [](Channel& channel) { return Barrier(channel); });
}

int check_barrier(Call& call, MPI_Comm comm) {
  if (int code = call.find_communicator(comm)) return code;
  if (choose<barrier_ways>(facts_of(call, 0, false)) == Way::small)
    return perform(*call.communicator,
                   [](Channel& channel, Waiter& waiter) { return barrier_small(channel, waiter); });
  return any_barrier(call);
}

int move_nothing_from(Call& call, Kind kind, const Root& root) {
  return carry_out(call, [kind, root = root.member](Channel& channel) {
    return NothingMoved::from_root(channel, kind, root);
  });
}

int move_nothing_to(Call& call, Kind kind, const Root& root) {
  return carry_out(call, [kind, root = root.member](Channel& channel) {
    return NothingMoved::to_root(channel, kind, root);
  });
}

int broadcast_directly(Call& call, const Data& data, int root) {
  return carry_out(call, [data, everybodys = Parts(data, 0), root](Channel& channel) {
    return DirectIfPossible(
        channel, Kind::bcast, data.bytes,
        [&](Channel& with) {
          return std::make_unique<DirectRooted>(with, Kind::bcast, DirectRooted::Direction::from_root, data,
                                                everybodys, root, true);
        },
        [&](Channel& with) { return std::make_unique<Broadcast>(with, data, root); });
  });
}

[[gnu::noinline]] int broadcast_any(Call& call, Data data, Root to, Way way) {
  if (way == Way::nothing) return move_nothing_from(call, Kind::bcast, to);
  if (way == Way::direct) return broadcast_directly(call, data, to.member);
  return carry_out(call,
                   [data, root = to.member](Channel& channel) { return Broadcast(channel, data, root); });
}

int check_bcast(Call& call, void* buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  if (int code = call.find_communicator(comm)) return code;
  Root to;
  if (int code = to.find(*call.communicator, root)) return code;
  Data data;
  if (to.is_here || to.gives)
    if (int code = find_data(call, buffer, count, datatype, data)) return code;
  Facts facts = facts_of(call, data);
  facts.is_nothing = data.bytes == 0 && to.member != no_root;
  const Way way = choose<bcast_ways>(facts);
  if (way == Way::small)
    return perform(*call.communicator, [=](Channel& channel, Waiter& waiter) {
      return broadcast_small(channel, waiter, {data.memory(), data.bytes}, to.member);
    });
  return broadcast_any(call, data, to, way);
}

/// What decides about a gather or scatter in which this process has `own`, and at the root `first`, the first
/// of all parts.
Facts rooted_facts(const Call& call, const Root& root, const Data& own, const Data& first, bool in_place) {
  Facts facts = facts_of(call, root.is_here ? first : own);
  facts.is_plain = facts.is_plain && (!root.is_here || in_place || own.bytes == first.bytes);
  facts.is_nothing = own.bytes == 0 && first.bytes == 0 && root.member != no_root;
  facts.is_root = root.is_here;
  return facts;
}

/// One's own part of a rooted collective: at the root it may be MPI_IN_PLACE.
int own_part(Call& call, const Root& root, const void* buffer, int count, MPI_Datatype datatype, Data& part,
             bool& in_place) {
  in_place = root.is_here && is_in_place(call, buffer);
  if (in_place || !root.gives) return MPI_SUCCESS;
  return find_data(call, buffer, count, datatype, part);
}

int gather_directly(Call& call, const Data& own, Parts results, int root, bool in_place) {
  return carry_out(call, [own, results = std::move(results), root, in_place](Channel& channel) {
    return DirectIfPossible(
        channel, Kind::gather, root == channel.self() ? results[0].bytes : own.bytes,
        [&](Channel& with) {
          return std::make_unique<DirectRooted>(with, Kind::gather, DirectRooted::Direction::to_root, own,
                                                results, root, in_place);
        },
        [&](Channel& with) { return std::make_unique<Gather>(with, own, results, root, in_place); });
  });
}

/// Copies one's own part to or from the root's, of which `parts` is the first: all are small, as long as each
/// other, and without gaps. One's own may have some.
int copy_little(const Call& call, const Data& own, const Data& parts, int root, bool to_root) {
  std::byte* const first = parts.memory();
  std::byte* const place = first + static_cast<std::size_t>(root) * parts.bytes;
  std::byte* const memory = own.memory();
  if (memory == nullptr || memory == first || memory == place) [[unlikely]] {
    const Parts all(parts, static_cast<std::ptrdiff_t>(parts.bytes));
    if (int code = check_no_overlap(call, own, all)) return code;
    to_root ? copy(own, all[root]) : copy(all[root], own);
    return MPI_SUCCESS;
  }
  std::memcpy(to_root ? place : memory, to_root ? memory : place, parts.bytes);
  return MPI_SUCCESS;
}

int give_little(const Call& call, const Data& own, const Root& root) {
  return perform(*call.communicator, [=](Channel& channel, Waiter& waiter) {
    return give_small(channel, waiter, Kind::gather, {own.memory(), own.bytes}, root.member);
  });
}

/// At the root.
int gather_little(const Call& call, const Data& own, const Data& first, const Root& root, bool in_place) {
  if (!in_place)
    if (int code = copy_little(call, own, first, root.member, true)) return code;
  return perform(*call.communicator, [=](Channel& channel, Waiter& waiter) {
    return gather_small(channel, waiter, first.memory(), first.bytes);
  });
}

int gather_to(Call& call, const Data& own, Parts results, const Root& root, bool in_place) {
  return carry_out(call, [own, results = std::move(results), root = root.member, in_place](Channel& channel) {
    return Gather(channel, own, results, root, in_place);
  });
}

/// Gives a part to one other member alone, and takes the results' parts, in a group.
int give_to(Call& call, Kind kind, const Data& own, int member, Parts results, bool in_place,
            std::size_t lent_bytes_min) {
  std::vector<Data> contributions(static_cast<std::size_t>(call.communicator->size()));
  contributions[static_cast<std::size_t>(member)] = own;
  if (!in_place) contributions[static_cast<std::size_t>(call.communicator->rank())] = own;
  return carry_out(call, [kind, contributions = Parts(std::move(contributions)), results = std::move(results),
                          lent_bytes_min](Channel& channel) {
    return Alltoall(channel, contributions, results, false, lent_bytes_min, kind);
  });
}

/// `first` is the first of the parts, at the root.
[[gnu::noinline]] int gather_any(Call& call, Data own, Data first, int count, Root to, bool in_place,
                                 Way way) {
  Parts results;
  if (to.is_here) {
    results = even_parts(first, count);
    if (int code = check_no_overlap(call, own, results)) return code;
  }
  if (way == Way::nothing) return move_nothing_to(call, Kind::gather, to);
  if (way == Way::direct) return gather_directly(call, own, std::move(results), to.member, in_place);
  return gather_to(call, own, std::move(results), to, in_place);
}

int check_gather(Call& call, const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                 int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  if (int code = call.find_communicator(comm)) return code;
  Root to;
  Data own, first;
  bool in_place = false;
  if (int code = to.find(*call.communicator, root)) return code;
  if (int code = own_part(call, to, sendbuf, sendcount, sendtype, own, in_place)) return code;
  if (to.is_here)
    if (int code = find_data(call, recvbuf, recvcount, recvtype, first)) return code;
  const Way way = choose<gather_ways>(rooted_facts(call, to, own, first, in_place));
  if (way == Way::small)
    return to.is_here ? gather_little(call, own, first, to, in_place) : give_little(call, own, to);
  return gather_any(call, own, first, recvcount, to, in_place, way);
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
  if (choose<gatherv_ways>(rooted_facts(call, to, own, {}, in_place)) == Way::lent)
    return give_to(call, Kind::gather, own, to.member, {}, true,
                   direct_gather_bytes_min(call.communicator->size()));
  return gather_to(call, own, std::move(results), to, in_place);
}

int scatter_directly(Call& call, Parts contributions, const Data& own, int root, bool in_place) {
  return carry_out(call, [contributions = std::move(contributions), own, root, in_place](Channel& channel) {
    return DirectIfPossible(
        channel, Kind::scatter, root == channel.self() ? contributions[0].bytes : own.bytes,
        [&](Channel& with) {
          return std::make_unique<DirectRooted>(with, Kind::scatter, DirectRooted::Direction::from_root, own,
                                                contributions, root, in_place);
        },
        [&](Channel& with) { return std::make_unique<Scatter>(with, contributions, own, root, in_place); });
  });
}

/// At the root of two, whose record for the other is its part alone. `first` is the first of the parts.
int scatter_little(const Call& call, const Data& first, const Data& own, const Root& root, bool in_place) {
  if (!in_place)
    if (int code = copy_little(call, own, first, root.member, false)) return code;
  return perform(*call.communicator, [=](Channel& channel, Waiter& waiter) {
    const int other = 1 - root.member;
    const std::span<const std::byte> part(first.memory() + static_cast<std::size_t>(other) * first.bytes,
                                          first.bytes);
    return give_small(channel, waiter, Kind::scatter, part, other);
  });
}

int scatter_from(Call& call, Parts contributions, const Data& own, const Root& root, bool in_place,
                 std::size_t lent_bytes_min = never) {
  return carry_out(call, [contributions = std::move(contributions), own, root = root.member, in_place,
                          lent_bytes_min](Channel& channel) {
    return Scatter(channel, contributions, own, root, in_place, lent_bytes_min);
  });
}

/// `first` is the first of the parts, at the root.
[[gnu::noinline]] int scatter_any(Call& call, Data first, int count, Data own, Root from, bool in_place,
                                  Way way) {
  Parts contributions;
  if (from.is_here) {
    contributions = even_parts(first, count);
    if (int code = check_no_overlap(call, own, contributions)) return code;
  }
  if (way == Way::nothing) return move_nothing_from(call, Kind::scatter, from);
  if (way == Way::direct) return scatter_directly(call, std::move(contributions), own, from.member, in_place);
  return scatter_from(call, std::move(contributions), own, from, in_place);
}

int check_scatter(Call& call, const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                  int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  if (int code = call.find_communicator(comm)) return code;
  Root from;
  Data own, first;
  bool in_place = false;
  if (int code = from.find(*call.communicator, root)) return code;
  if (int code = own_part(call, from, recvbuf, recvcount, recvtype, own, in_place)) return code;
  if (from.is_here)
    if (int code = find_data(call, sendbuf, sendcount, sendtype, first)) return code;
  const Way way = choose<scatter_ways>(rooted_facts(call, from, own, first, in_place));
  if (way != Way::small) return scatter_any(call, first, sendcount, own, from, in_place, way);
  if (from.is_here) return scatter_little(call, first, own, from, in_place);
  return perform(*call.communicator, [=](Channel& channel, Waiter& waiter) {
    return take_small(channel, waiter, Kind::scatter, {own.memory(), own.bytes}, from.member);
  });
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
  const Way way = choose<scatterv_ways>(rooted_facts(call, from, own, {}, in_place));
  return scatter_from(call, std::move(contributions), own, from, in_place,
                      lent_bytes_min(way, direct_scatter_bytes_min(call.communicator->size())));
}

int allgather_to(Call& call, const Data& own, Parts results, bool in_place) {
  return carry_out(call, [own, results = std::move(results), in_place](Channel& channel) {
    return Allgather(channel, own, results, in_place);
  });
}

int allgather_directly(Call& call, const Data& own, Parts results, bool in_place) {
  return carry_out(
      call, [own, given = Parts(own, 0), results = std::move(results), in_place](Channel& channel) {
        return DirectIfPossible(
            channel, Kind::allgather, results[0].bytes,
            [&](Channel& with) {
              return std::make_unique<DirectFromAll>(with, Kind::allgather, given, results, in_place);
            },
            [&](Channel& with) { return std::make_unique<Allgather>(with, own, results, in_place); });
      });
}

/// `first` is the first of the parts.
[[gnu::noinline]] int allgather_any(Call& call, Data own, Data first, int count, bool in_place, Way way) {
  Parts results = even_parts(first, count);
  if (way == Way::nothing) return move_nothing(call, Kind::allgather);
  if (way == Way::direct) return allgather_directly(call, own, std::move(results), in_place);
  return allgather_to(call, own, std::move(results), in_place);
}

int check_allgather(Call& call, const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                    int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  if (int code = call.find_communicator(comm)) return code;
  Data own, first;
  const bool in_place = is_in_place(call, sendbuf);
  if (!in_place)
    if (int code = find_data(call, sendbuf, sendcount, sendtype, own)) return code;
  if (int code = find_data(call, recvbuf, recvcount, recvtype, first)) return code;
  if (int code = check_no_overlap(call, own, first, bytes_apart(first, recvcount))) return code;
  const Way way = choose<allgather_ways>(facts_of(call, own, first, in_place));
  if (way == Way::small) return exchange_little(call, Kind::allgather, own.memory(), 0, everybody, first);
  return allgather_any(call, own, first, recvcount, in_place, way);
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
  const Data given = in_place ? results[call.communicator->rank()] : own;
  if (choose<allgatherv_ways>(facts_of(call, given)) == Way::lent)
    return give_to(call, Kind::allgather, given, 1 - call.communicator->rank(), std::move(results), in_place,
                   lent_allgatherv_bytes_min(call.communicator->size()));
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
