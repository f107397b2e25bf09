#pragma once

#include <span>
#include <vector>

#include "llamada/base/plain_bytes.hpp"
#include "llamada/base/result.hpp"
#include "object/communicator.hpp"

/// What the members of an intracommunicator tell each other where one of the library's own operations needs
/// it. Each is collective over the communicator and replays as every collective does. Errors: those of the
/// collectives.
namespace llamada::mpi {

namespace detail {
Status allgather(Communicator& communicator, std::span<const std::byte> own, std::span<std::byte> all);
Status broadcast(Communicator& communicator, std::span<std::byte> bytes, int root);
}  // namespace detail

/// What each member gives, by rank.
template <typename T>
Result<std::vector<T>> gather_from_all(Communicator& communicator, const T& own) {
  std::vector<T> all(static_cast<std::size_t>(communicator.size()), own);
  auto status = detail::allgather(communicator, plain_bytes(own), std::as_writable_bytes(std::span(all)));
  if (!status) return propagate(status);
  return all;
}

/// The root's `values` for all members, which agree in how many there are.
template <typename T>
Status broadcast(Communicator& communicator, std::span<T> values, int root) {
  static_assert(std::has_unique_object_representations_v<T>);
  return detail::broadcast(communicator, std::as_writable_bytes(values), root);
}

/// Returns when all members have called it.
Status meet(Communicator& communicator);

/// outgoing[r] goes to member r; gives what they have sent here.
Result<std::vector<std::vector<std::byte>>> send_around(Communicator& communicator,
                                                        const std::vector<std::vector<std::byte>>& outgoing);

}  // namespace llamada::mpi
