#pragma once

#include <mpi.h>

#include <cstring>

#include "coll/algorithms.hpp"
#include "coll/call.hpp"
#include "coll/direct.hpp"
#include "coll/movement.hpp"
#include "coll/small.hpp"
#include "coll/ways.hpp"

// What the C functions of collectives share.

namespace llamada::mpi::coll {

/// The channel at its first use, or an error that has been reported.
int make_channel(Communicator& communicator, Channel*& channel);

/// Runs `collective(channel, waiter)`, unless the caller is the only member, and gives what the C function
/// returns.
template <typename Collective>
int perform(Communicator& communicator, Collective&& collective) {
  if (communicator.size() == 1) return MPI_SUCCESS;
  auto& collectives = *runtime().collectives;
  Channel* channel = collectives.channel_if_made(communicator);
  if (!channel) [[unlikely]]
    if (int code = make_channel(communicator, channel)) return code;
  const Status status = collective(*channel, collectives.waiter());
  return status ? MPI_SUCCESS : report(&communicator, status.error());
}

/// Where a rooted collective begins or ends: a rank, or between groups MPI_ROOT and MPI_PROC_NULL (5.2.3).
struct Root {
  int member = no_root;  ///< as the Channel numbers members
  bool is_here = false;  ///< this process is it
  bool gives = true;     ///< this process gives to it or takes from it (between groups: in the other group)

  int find(Communicator& communicator, int root) {
    if (communicator.is_inter()) return find_between_groups(communicator, root);
    *this = {root, root == communicator.rank(), true};
    runtime().collectives->set_root(root);
    return check_root(&communicator, root);
  }

 private:
  int find_between_groups(Communicator& communicator, int root);
};

/// Checks one buffer's three arguments and gives the data.
inline int find_data(Call& call, const void* buffer, MPI_Count count, MPI_Datatype datatype, Data& data) {
  Datatype* type = nullptr;
  if (int code = call.find_type(datatype, type)) return code;
  if (int code = check_count(call.communicator, count)) return code;
  if (int code = check_buffer(call.communicator, buffer, count, *type)) return code;
  std::ptrdiff_t bytes = 0;
  if (__builtin_mul_overflow(count, type->size(), &bytes)) [[unlikely]]
    return detail::too_much_data(call.communicator, count);
  data = Data::of(buffer, static_cast<std::size_t>(count), *type);
  return MPI_SUCCESS;
}

inline bool is_in_place(const Call& call, const void* buffer) {
  return buffer == MPI_IN_PLACE && !call.communicator->is_inter();
}

int report_alias(const Call& call);
int report_overlap(const Call& call);
inline bool begin_together(const Data& one, const Data& other) {
  const auto lowest = [](const Data& data) {
    return reinterpret_cast<std::uintptr_t>(data.base) +
           static_cast<std::uintptr_t>(data.type->true_lower_bound());
  };
  return one.bytes > 0 && other.bytes > 0 && lowest(one) == lowest(other);
}

/// Whether buffers that two arguments name are the same one where MPI forbids it (5.2: only MPI_IN_PLACE).
inline int check_no_alias(const Call& call, const void* one, int one_count, const void* other,
                          int other_count) {
  if (one != other || one_count == 0 || other_count == 0 || one == nullptr) return MPI_SUCCESS;
  return report_alias(call);
}

/// The same for data that are given and taken: whether the first bytes of both are one. An element's lowest
/// byte decides, so that datatypes may pick given and taken data from one buffer.
inline int check_no_overlap(const Call& call, const Data& given, const Data& taken) {
  return begin_together(given, taken) ? report_overlap(call) : MPI_SUCCESS;
}
/// Between what is given, in whatever part, and the part that is taken by the same peer.
int check_no_overlap(const Call& call, const Parts& given, const Parts& taken);
/// Between this process's data and its own or the first one of all processes' even parts. Without data (in
/// place) there is none.
inline int check_no_overlap(const Call& call, const Data& own, const Data& first,
                            std::ptrdiff_t bytes_apart) {
  if (begin_together(own, first)) return report_overlap(call);
  if (call.communicator->is_inter()) return MPI_SUCCESS;
  return check_no_overlap(call, own, first.moved(bytes_apart * call.communicator->rank()));
}
/// The same for any parts.
int check_no_overlap(const Call& call, const Data& own, const Parts& all);

inline std::byte* at(const void* base, std::ptrdiff_t bytes) {
  return static_cast<std::byte*>(const_cast<void*>(base)) + bytes;
}

/// `count` elements for each peer, one behind the other.
inline std::ptrdiff_t bytes_apart(const Data& first, int count) { return first.type->extent() * count; }
inline Parts even_parts(const Data& first, int count) { return Parts(first, bytes_apart(first, count)); }
int find_even_parts(Call& call, const void* buffer, int count, MPI_Datatype datatype, Parts& parts);
/// `counts[i]` elements, `displacements[i]` elements behind the buffer's beginning, for `part_count` parts.
int find_parts(Call& call, const void* buffer, const int* counts, const int* displacements,
               MPI_Datatype datatype, int part_count, Parts& parts);
int find_parts(Call& call, const void* buffer, const MPI_Count* counts, const MPI_Aint* displacements,
               MPI_Datatype datatype, int part_count, Parts& parts);
/// A type for each part, and displacements in bytes.
template <typename Displacement>
int find_typed_parts(Call& call, const void* buffer, const int* counts, const Displacement* displacements,
                     const MPI_Datatype* datatypes, int part_count, Parts& parts) {
  std::vector<Data> list;
  if (part_count > 0) {
    if (int code = check_pointer(call.communicator, counts, "counts")) return code;
    if (int code = check_pointer(call.communicator, displacements, "displacements")) return code;
    if (int code = check_pointer(call.communicator, datatypes, "datatypes")) return code;
  }
  for (int part = 0; part < part_count; ++part) {
    Datatype* type = nullptr;
    if (int code = check_count(call.communicator, counts[part])) return code;
    if (int code = call.find_type(datatypes[part], type)) return code;
    // Displacements may be addresses, from MPI_BOTTOM on.
    const void* const begin = buffer == MPI_IN_PLACE ? buffer : at(buffer, displacements[part]);
    if (int code = check_buffer(call.communicator, begin, counts[part], *type)) return code;
    list.push_back(Data::of(at(buffer, displacements[part]), static_cast<std::size_t>(counts[part]), *type));
  }
  parts = Parts(std::move(list));
  return MPI_SUCCESS;
}

/// A collective in which everybody gives to everybody, as it turns out no bytes.
inline int move_nothing(Call& call, Kind kind) {
  return carry_out(call, [kind](Channel& channel) { return NothingMoved(channel, kind); });
}

/// What decides about the call's way, whose part is this one.
inline Facts facts_of(const Call& call, std::size_t part_bytes, bool is_plain) {
  Facts facts;
  facts.members = call.communicator->size();
  facts.between_groups = call.communicator->is_inter();
  // The ways of blocking collectives of little data have no barrier before them.
  facts.is_blocking = call.is_blocking() && !runtime().collectives->begins_with_barrier();
  facts.may_be_direct = runtime().collectives->may_be_direct();
  facts.bytes = part_bytes;
  facts.is_plain = is_plain;
  return facts;
}
inline Facts facts_of(const Call& call, const Data& part) {
  return facts_of(call, part.bytes, part.memory() != nullptr);
}
/// The same where a member gives and takes. Without data (in place) to be given they lie in one place.
inline Facts facts_of(const Call& call, const Data& given, const Data& taken, bool in_place) {
  Facts facts = facts_of(call, taken);
  facts.is_plain = !in_place && given.bytes == taken.bytes && facts.is_plain && given.memory() != nullptr;
  facts.is_nothing = given.bytes == 0 && taken.bytes == 0;
  return facts;
}

/// An exchange of small parts: gives a part to `audience`, and takes the others' parts, one behind the other
/// from the `first` on. What is given to each lies `bytes_apart` from what is given to the next.
inline int exchange_little(Call& call, Kind kind, const std::byte* given, std::ptrdiff_t bytes_apart,
                           int audience, const Data& first) {
  const int self = call.communicator->rank();
  const std::span<const std::byte> part{given + bytes_apart * (audience == everybody ? self : audience),
                                        first.bytes};
  std::byte* taken = first.memory();
  std::memcpy(taken + static_cast<std::size_t>(self) * first.bytes, given + bytes_apart * self, first.bytes);
  return perform(*call.communicator, [=](Channel& channel, Waiter& waiter) {
    return exchange_small(channel, waiter, kind, part, audience, taken);
  });
}

/// From how many bytes on a part is lent that goes this way, where `bytes_min` is the limit.
constexpr std::size_t lent_bytes_min(Way way, std::size_t bytes_min) {
  return way == Way::lent ? bytes_min : never;
}

}  // namespace llamada::mpi::coll
