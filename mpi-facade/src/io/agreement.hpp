#pragma once

#include <span>
#include <vector>

#include "llamada/base/plain_bytes.hpp"
#include "llamada/base/result.hpp"
#include "object/communicator.hpp"

/// What collective operations on files exchange. Each is collective over the communicator and replays as
/// every collective does. Errors: those of the collectives.
namespace llamada::mpi::io {

namespace detail {
Status allgather(Communicator& communicator, std::span<const std::byte> own, std::span<std::byte> all);
}

/// What each member gives, by rank.
template <typename T>
Result<std::vector<T>> gather_from_all(Communicator& communicator, const T& own) {
  std::vector<T> all(static_cast<std::size_t>(communicator.size()), own);
  auto status = detail::allgather(communicator, plain_bytes(own), std::as_writable_bytes(std::span(all)));
  if (!status) return propagate(status);
  return all;
}

/// Returns when all members have called it.
Status meet(Communicator& communicator);

/// outgoing[r] goes to member r; gives what they have sent here.
Result<std::vector<std::vector<std::byte>>> send_around(Communicator& communicator,
                                                        const std::vector<std::vector<std::byte>>& outgoing);

}  // namespace llamada::mpi::io
