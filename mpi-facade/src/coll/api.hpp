#pragma once

#include <mpi.h>

#include "api/arguments.hpp"
#include "coll/collectives.hpp"

// What the C functions of collectives share.

namespace llamada::mpi::coll {

/// Runs `collective(channel, waiter)`, unless the caller is the only member, and gives what the C function
/// returns.
template <typename Collective>
int perform(Communicator& communicator, Collective&& collective) {
  if (communicator.size() == 1) return MPI_SUCCESS;
  auto& collectives = *runtime().collectives;
  auto channel = collectives.channel(communicator);
  if (!channel) return report(&communicator, channel.error());
  Status status = collective(**channel, collectives.waiter());
  return status ? MPI_SUCCESS : report(&communicator, status.error());
}

/// Checks one buffer's three arguments; `type` is what was found.
inline int check_data(Communicator* communicator, const void* buffer, int count, MPI_Datatype datatype,
                      Datatype*& type) {
  if (int code = find_committed(communicator, datatype, type)) return code;
  if (int code = check_count(communicator, count)) return code;
  return check_buffer(communicator, buffer, count, *type);
}

/// The same for a count, and maybe a displacement, for each member.
inline int check_counts(Communicator* communicator, const int* counts) {
  if (int code = check_pointer(communicator, counts, "counts")) return code;
  for (int member = 0; member < communicator->size(); ++member)
    if (int code = check_count(communicator, counts[member])) return code;
  return MPI_SUCCESS;
}

inline std::byte* at(const void* base, std::ptrdiff_t bytes) {
  return static_cast<std::byte*>(const_cast<void*>(base)) + bytes;
}

/// `count` elements for each member, one behind the other.
inline std::vector<Data> even_parts(const void* base, int members, int count, const Datatype& type) {
  std::vector<Data> parts;
  parts.reserve(static_cast<std::size_t>(members));
  for (int member = 0; member < members; ++member)
    parts.push_back(
        Data::of(at(base, type.extent() * count * member), static_cast<std::size_t>(count), type));
  return parts;
}

/// `counts[member]` elements, `displacements[member]` elements behind the base.
inline std::vector<Data> parts_at(const void* base, int members, const int* counts, const int* displacements,
                                  const Datatype& type) {
  std::vector<Data> parts;
  parts.reserve(static_cast<std::size_t>(members));
  for (int member = 0; member < members; ++member)
    parts.push_back(Data::of(at(base, type.extent() * displacements[member]),
                             static_cast<std::size_t>(counts[member]), type));
  return parts;
}

/// Parts of equal size.
inline int find_even_parts(Communicator* communicator, const void* buffer, int count, MPI_Datatype datatype,
                           std::vector<Data>& parts) {
  Datatype* type = nullptr;
  if (int code = check_data(communicator, buffer, count, datatype, type)) return code;
  parts = even_parts(buffer, communicator->size(), count, *type);
  return MPI_SUCCESS;
}

/// Parts with counts and displacements.
inline int find_parts(Communicator* communicator, const void* buffer, const int* counts,
                      const int* displacements, MPI_Datatype datatype, std::vector<Data>& parts) {
  Datatype* type = nullptr;
  if (int code = find_committed(communicator, datatype, type)) return code;
  if (int code = check_counts(communicator, counts)) return code;
  if (int code = check_pointer(communicator, displacements, "displacements")) return code;
  for (int member = 0; member < communicator->size(); ++member)
    if (int code = check_buffer(communicator, buffer, counts[member], *type)) return code;
  parts = parts_at(buffer, communicator->size(), counts, displacements, *type);
  return MPI_SUCCESS;
}

}  // namespace llamada::mpi::coll
