#include <algorithm>
#include <numeric>

#include "coll/api.hpp"
#include "coll/direct_reduction.hpp"
#include "coll/reduction.hpp"

// Reductions (MPI 3.1, 5.9 to 5.11, 5.12.7 to 5.12.12).

namespace {

using namespace llamada::mpi;
using namespace llamada::mpi::coll;

/// What all reductions are given.
struct Arguments {
  Call& call;
  Datatype* type = nullptr;
  Operation* operation = nullptr;

  /// Without the buffers.
  int find(MPI_Comm comm, int count, MPI_Datatype datatype, MPI_Op op) {
    if (int code = call.find_communicator(comm)) return code;
    return find(count, datatype, op);
  }
  int find(int count, MPI_Datatype datatype, MPI_Op op) {
    if (int code = call.find_type(datatype, type)) return code;
    if (int code = check_count(call.communicator, count)) return code;
    return call.find_operation(op, *type, operation);
  }
  /// The contribution, which lies in the result's place when `sendbuf` is MPI_IN_PLACE.
  int find_contribution(const void* sendbuf, const void* recvbuf, int count, Data& contribution) {
    const void* buffer = is_in_place(call, sendbuf) ? recvbuf : sendbuf;
    if (int code = check_buffer(call.communicator, buffer, count, *type)) return code;
    contribution = Data::of(buffer, static_cast<std::size_t>(count), *type);
    return MPI_SUCCESS;
  }
  int find_result(void* recvbuf, int count, Data& result) {
    if (int code = check_buffer(call.communicator, recvbuf, count, *type)) return code;
    result = Data::of(recvbuf, static_cast<std::size_t>(count), *type);
    return MPI_SUCCESS;
  }
  int find_both(const void* sendbuf, void* recvbuf, int count, Data& contribution, Data& result) {
    if (int code = find_contribution(sendbuf, recvbuf, count, contribution)) return code;
    if (int code = find_result(recvbuf, count, result)) return code;
    return check_no_alias(call, sendbuf, count, recvbuf, count);
  }

  Reduction reduction() const { return {*operation, *type}; }

  /// What decides about the call's way. `folds`: this member folds contributions.
  Facts facts(const Data& contribution, bool folds = true) const {
    Facts facts = facts_of(call, contribution);
    facts.is_nothing = contribution.bytes == 0;
    facts.is_plain = facts.is_plain && (!folds || (type->is_plain() && operation->is_predefined()));
    return facts;
  }
  SmallReduction small(const Data& contribution, const Data& result, std::size_t first_byte = 0) const {
    return {reduction(),
            {contribution.memory(), contribution.bytes},
            first_byte,
            {result.memory(), result.bytes}};
  }
};

/// The same result as `through_logs(channel)` makes.
template <typename Make>
int reduce_directly(Call& call, Kind kind, const Reduction& reduction, const Data& contribution,
                    const Data& result, int root, std::vector<std::size_t> segments, Make through_logs) {
  return carry_out(call, [=, segments = std::move(segments)](Channel& channel) {
    return DirectIfPossible(
        channel, kind, contribution.bytes,
        [&](Channel& with) {
          return std::make_unique<DirectReduction>(with, kind, reduction, contribution, result, root,
                                                   segments);
        },
        [&](Channel& with) { return through_logs(with); });
  });
}

/// Nobody gives or takes anything; but it counts as a call, so that who means something by it is told.
int reduce_nothing(Call& call, Kind kind) {
  return carry_out(call, [kind](Channel& channel) { return Absence(channel, kind); });
}

[[gnu::noinline]] int reduce_by_others(Call& call) {
  return carry_out(call, [](Channel& channel) { return Absence(channel, Kind::reduce); });
}

[[gnu::noinline]] int reduce_any(Arguments arguments, Data contribution, Data result, int member, Way way) {
  Call& call = arguments.call;
  const Reduction reduction = arguments.reduction();
  if (way == Way::nothing) return reduce_nothing(call, Kind::reduce);
  if (way == Way::direct)
    return reduce_directly(
        call, Kind::reduce, reduction, contribution, result, member,
        DirectReduction::even_segments(contribution.bytes / reduction.type.size(), call.communicator->size()),
        [=](Channel& channel) {
          return std::make_unique<SegmentedReduction>(channel, Kind::reduce, reduction, contribution, result,
                                                      member);
        });
  if (way == Way::at_root)
    return carry_out(
        call, [=](Channel& channel) { return FoldAtRoot(channel, reduction, contribution, result, member); });
  return carry_out(call, [=](Channel& channel) {
    return SegmentedReduction(channel, Kind::reduce, reduction, contribution, result, member);
  });
}

int check_reduce(Call& call, const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                 int root, MPI_Comm comm) {
  Arguments arguments{call};
  Root to;
  if (int code = call.find_communicator(comm)) return code;
  if (int code = to.find(*call.communicator, root)) return code;
  if (to.member == no_root) return reduce_by_others(call);
  if (int code = arguments.find(count, datatype, op)) return code;
  Data contribution, result;
  if (to.gives && sendbuf == MPI_IN_PLACE && !to.is_here)
    return check_buffer(call.communicator, sendbuf, count, *arguments.type);
  if (to.gives)
    if (int code = arguments.find_contribution(sendbuf, recvbuf, count, contribution)) return code;
  if (to.is_here) {
    if (int code = arguments.find_result(recvbuf, count, result)) return code;
    if (int code = check_no_alias(call, sendbuf, count, recvbuf, count)) return code;
    if (!to.gives) contribution = result;  // As long as the others'.
  }
  const Way way = choose<reduce_ways>(arguments.facts(contribution, to.is_here));
  if (way != Way::small) return reduce_any(arguments, contribution, result, to.member, way);
  if (!to.is_here)
    return perform(*call.communicator, [=](Channel& channel, Waiter& waiter) {
      return give_small(channel, waiter, Kind::reduce, {contribution.memory(), contribution.bytes},
                        to.member);
    });
  return perform(*call.communicator, [=](Channel& channel, Waiter& waiter) {
    return reduce_small(channel, waiter, arguments.small(contribution, result));
  });
}

[[gnu::noinline]] int allreduce_any(Arguments arguments, Data contribution, Data result, Way way) {
  Call& call = arguments.call;
  const Reduction reduction = arguments.reduction();
  if (way == Way::nothing) return reduce_nothing(call, Kind::allreduce);
  if (way == Way::everywhere)
    return carry_out(call, [=](Channel& channel) {
      return FoldEverywhere(channel, Kind::allreduce, reduction, contribution, result,
                            channel.members().peer_begin(), channel.members().peer_end());
    });
  return carry_out(call, [=](Channel& channel) {
    return SegmentedReduction(channel, Kind::allreduce, reduction, contribution, result, everybody);
  });
}

int check_allreduce(Call& call, const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                    MPI_Op op, MPI_Comm comm) {
  Arguments arguments{call};
  Data contribution, result;
  if (int code = arguments.find(comm, count, datatype, op)) return code;
  if (int code = arguments.find_both(sendbuf, recvbuf, count, contribution, result)) return code;
  const Way way = choose<allreduce_ways>(arguments.facts(contribution));
  if (way == Way::small)
    return perform(*call.communicator, [=](Channel& channel, Waiter& waiter) {
      return fold_small(channel, waiter, Kind::allreduce, {}, arguments.small(contribution, result));
    });
  return allreduce_any(arguments, contribution, result, way);
}

[[gnu::noinline]] int scatter_any_reduction(Arguments arguments, Data contribution, Data result,
                                            std::span<const std::size_t> counts, Way way) {
  Call& call = arguments.call;
  const Reduction reduction = arguments.reduction();
  if (way == Way::nothing) return reduce_nothing(call, Kind::reduce_scatter);
  std::vector<std::size_t> kept(counts.begin(), counts.end());
  if (way == Way::direct)
    return reduce_directly(
        call, Kind::reduce_scatter, reduction, contribution, result, 0, kept, [=](Channel& channel) {
          return std::make_unique<ReduceScatter>(channel, reduction, contribution, result, kept);
        });
  return carry_out(call, [reduction, contribution, result, kept = std::move(kept)](Channel& channel) {
    return ReduceScatter(channel, reduction, contribution, result, kept);
  });
}

int scatter_reduction(Arguments& arguments, const void* sendbuf, void* recvbuf,
                      std::span<const std::size_t> counts) {
  Call& call = arguments.call;
  const auto self = static_cast<std::ptrdiff_t>(call.communicator->rank());
  const std::size_t before = std::accumulate(counts.begin(), counts.begin() + self, std::size_t{0});
  const std::size_t total = std::accumulate(counts.begin() + self, counts.end(), before);
  const std::size_t own = counts[static_cast<std::size_t>(self)];
  if (total > std::size_t{0x7fffffff})
    return report(call.communicator, MPI_ERR_COUNT, "the counts together exceed an int");
  Data contribution, result;
  if (int code = arguments.find_contribution(sendbuf, recvbuf, static_cast<int>(total), contribution))
    return code;
  if (int code = arguments.find_result(recvbuf, static_cast<int>(own), result)) return code;
  if (int code = check_no_alias(call, sendbuf, static_cast<int>(total), recvbuf, static_cast<int>(own)))
    return code;
  Facts facts = arguments.facts(contribution);
  facts.share_bytes = contribution.bytes / counts.size();
  const Way way = choose<reduce_scatter_ways>(facts);
  if (way == Way::small)
    return perform(*call.communicator, [=](Channel& channel, Waiter& waiter) {
      return fold_small(channel, waiter, Kind::reduce_scatter, ReduceScatter::small_piece(counts),
                        arguments.small(contribution, result, before * arguments.type->size()));
    });
  return scatter_any_reduction(arguments, contribution, result, counts, way);
}

/// How many elements each member keeps.
class Counts {
 public:
  explicit Counts(const Call& call) : size_(static_cast<std::size_t>(call.communicator->size())) {
    if (size_ > std::size(few_)) [[unlikely]]
      many_.resize(size_);
  }
  std::span<std::size_t> all() { return {many_.empty() ? few_ : many_.data(), size_}; }

 private:
  std::size_t size_;
  std::size_t few_[16];
  std::vector<std::size_t> many_;
};

int check_reduce_scatter(Call& call, const void* sendbuf, void* recvbuf, const int* recvcounts,
                         MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  Arguments arguments{call};
  if (int code = arguments.find(comm, 0, datatype, op)) return code;
  if (int code = check_pointer(call.communicator, recvcounts, "recvcounts")) return code;
  Counts counts(call);
  for (std::size_t& count : counts.all()) {
    const int given = *recvcounts++;
    if (int code = check_count(call.communicator, given)) return code;
    count = static_cast<std::size_t>(given);
  }
  return scatter_reduction(arguments, sendbuf, recvbuf, counts.all());
}

int check_reduce_scatter_block(Call& call, const void* sendbuf, void* recvbuf, int recvcount,
                               MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  Arguments arguments{call};
  if (int code = arguments.find(comm, recvcount, datatype, op)) return code;
  Counts counts(call);
  std::ranges::fill(counts.all(), static_cast<std::size_t>(recvcount));
  return scatter_reduction(arguments, sendbuf, recvbuf, counts.all());
}

int check_scan(Call& call, const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
               MPI_Comm comm) {
  Arguments arguments{call};
  Data contribution, result;
  if (int code = find_intracommunicator(comm, call.communicator)) return code;
  if (int code = arguments.find(comm, count, datatype, op)) return code;
  if (int code = arguments.find_both(sendbuf, recvbuf, count, contribution, result)) return code;
  if (choose<scan_ways>(arguments.facts(contribution)) == Way::nothing)
    return reduce_nothing(call, Kind::scan);
  const Reduction reduction = arguments.reduction();
  return carry_out(call, [=](Channel& channel) {
    return FoldEverywhere(channel, Kind::scan, reduction, contribution, result, 0, channel.self() + 1);
  });
}

int check_exscan(Call& call, const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                 MPI_Comm comm) {
  Arguments arguments{call};
  Data contribution, result;
  if (int code = find_intracommunicator(comm, call.communicator)) return code;
  if (int code = arguments.find(comm, count, datatype, op)) return code;
  if (int code = arguments.find_contribution(sendbuf, recvbuf, count, contribution)) return code;
  // On rank 0 the result buffer means nothing (5.11.2), but the same one as on the others is as wrong there.
  if (int code = check_no_alias(call, sendbuf, count, recvbuf, count)) return code;
  if (call.communicator->rank() > 0)
    if (int code = arguments.find_both(sendbuf, recvbuf, count, contribution, result)) return code;
  if (choose<scan_ways>(arguments.facts(contribution)) == Way::nothing)
    return reduce_nothing(call, Kind::exscan);
  const Reduction reduction = arguments.reduction();
  return carry_out(call, [=](Channel& channel) {
    return FoldEverywhere(channel, Kind::exscan, reduction, contribution, result, 0, channel.self());
  });
}

}  // namespace

LLAMADA_COLLECTIVE(Reduce, Ireduce, check_reduce,
                   (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                    MPI_Comm comm),
                   sendbuf, recvbuf, count, datatype, op, root, comm)
LLAMADA_COLLECTIVE(Allreduce, Iallreduce, check_allreduce,
                   (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                    MPI_Comm comm),
                   sendbuf, recvbuf, count, datatype, op, comm)
LLAMADA_COLLECTIVE(Reduce_scatter, Ireduce_scatter, check_reduce_scatter,
                   (const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype datatype,
                    MPI_Op op, MPI_Comm comm),
                   sendbuf, recvbuf, recvcounts, datatype, op, comm)
LLAMADA_COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, check_reduce_scatter_block,
                   (const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op,
                    MPI_Comm comm),
                   sendbuf, recvbuf, recvcount, datatype, op, comm)
LLAMADA_COLLECTIVE(Scan, Iscan, check_scan,
                   (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                    MPI_Comm comm),
                   sendbuf, recvbuf, count, datatype, op, comm)
LLAMADA_COLLECTIVE(Exscan, Iexscan, check_exscan,
                   (const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                    MPI_Comm comm),
                   sendbuf, recvbuf, count, datatype, op, comm)
