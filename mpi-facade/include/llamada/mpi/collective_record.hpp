#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "llamada/log/arena_layout.hpp"
#include "llamada/mpi/message_record.hpp"

// The format of the records in collective logs (docs/internals/collectives.md), for the facade and for tools
// that look at them: the names. What the facade makes of them is in coll/record.hpp.
//
//   kind   Kind
//   flags  0 for everybody, else 1 + the member that it is for
//   label  ordinal u32 << 32 | content u8 << 24 | number u24

namespace llamada::mpi::coll {

/// The collective that a record belongs to: Record::kind. Members that call different ones are told so.
enum class Kind : std::uint8_t {
  barrier = 32,
  bcast,
  reduce,
  allreduce,
  reduce_scatter,
  scan,
  exscan,
  gather,
  scatter,
  allgather,
  alltoall,
  neighbour,
  context,
};
inline const char* to_string(Kind kind) {
  switch (kind) {
    case Kind::barrier:
      return "Barrier";
    case Kind::bcast:
      return "Bcast";
    case Kind::reduce:
      return "Reduce";
    case Kind::allreduce:
      return "Allreduce";
    case Kind::reduce_scatter:
      return "Reduce_scatter";
    case Kind::scan:
      return "Scan";
    case Kind::exscan:
      return "Exscan";
    case Kind::gather:
      return "Gather";
    case Kind::scatter:
      return "Scatter";
    case Kind::allgather:
      return "Allgather";
    case Kind::alltoall:
      return "Alltoall";
    case Kind::neighbour:
      return "Neighbor collective";
    case Kind::context:
      return "Comm_idup";
  }
  return "unknown collective";
}
/// Whether a record's kind is one of them.
constexpr bool is_collective(std::uint8_t kind) {
  return kind >= static_cast<std::uint8_t>(Kind::barrier) && kind <= static_cast<std::uint8_t>(Kind::context);
}

/// What a record's payload is. Members whose lengths lead them to different machines see it here, and take
/// nothing for what it is not.
enum class Content : std::uint8_t {
  data = 0,       ///< a piece of what the member gives; numbered from 0
  segment = 1,    ///< a piece of a segment of a reduction; numbered from 0
  dealt_out = 2,  ///< a contribution whose result is dealt out; the number stands for how
  step = 3,       ///< 0: an Offer, where the member's data lie; then, empty, that a step is done
  card = 4,       ///< of an Introduction: 0 the process's card, 1 whether it reaches all others
  loan = 5,       ///< a Loan: one member may copy its part from there
  loan_over = 6,  ///< one byte: a loan is over; 0 if its lender's memory could not be reached
  together = 7,   ///< the parts of all peers: a table of where each begins and the last one ends; the parts
};

/// What a communicator's collective logs are found by. `persistent`: the number of a persistent collective,
/// which has logs of its own. `checkpoint`: log_kind().
inline constexpr std::uint64_t collective_log_kind = 2;
constexpr log::LogKey collective_log_key(std::uint32_t context, std::uint32_t persistent = 0,
                                         std::uint32_t checkpoint = 0) {
  return {log_kind(collective_log_kind, checkpoint), std::uint64_t{persistent} << 32 | context};
}

/// The context and the number of the persistent collective in such a key; nothing for other keys.
constexpr std::optional<std::pair<std::uint32_t, std::uint32_t>> name_of_collective_log(
    const log::LogKey& key) {
  if (kind_of_log(key) != collective_log_kind) return std::nullopt;
  return std::pair{static_cast<std::uint32_t>(key.low), static_cast<std::uint32_t>(key.low >> 32)};
}

}  // namespace llamada::mpi::coll
