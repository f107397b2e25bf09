#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "llamada/types/type.hpp"

// The topics on which a job of ranks can be seen, with the ordinary API of DDS (docs/guide.md, "Looking into
// a job"). An observer publishes them, which looks into the ranks' logs: no rank has to do with them.

namespace llamada::types {

/// The names of the topics, of RankMessage and of RankEvent.
inline constexpr const char* rank_messages_topic = "llamada/messages";
inline constexpr const char* rank_events_topic = "llamada/events";

/// The most of a message that travels in a RankMessage.
inline constexpr std::uint32_t rank_payload_bytes_max = 256;

/// A message from one rank to another, of point-to-point communication. Ranks count over the whole job, as in
/// `llamada ls`; without MPI_Comm_spawn these are the ranks of MPI_COMM_WORLD.
struct RankMessage {
  std::string job;  ///< "job-…", as `llamada ls` shows it
  std::int32_t source = 0;
  std::int32_t destination = 0;
  std::uint32_t context = 0;  ///< the communicator: 1 MPI_COMM_WORLD, 2 MPI_COMM_SELF, others as agreed on
  std::int32_t tag = 0;
  std::uint64_t length = 0;  ///< of the message in bytes, packed
  bool synchronous = false;  ///< the send waits for its match
  std::uint64_t number = 0;  ///< its place in the log from source to destination, from 1; controls count, too
  std::uint64_t ordinal = 0;  ///< among those with this source, destination and context, from 1; 0: unknown
  std::uint32_t incarnation = 0;  ///< of the source, when the observer saw the message
  std::uint64_t call_index = 0;   ///< MPI calls that the source had begun when the observer saw it
  /// False: the log does not have the message's bytes, which go from memory to memory.
  bool has_payload = false;
  std::vector<std::byte> payload;  ///< the first bytes
};
LLAMADA_TYPE_APPENDABLE(RankMessage, LLAMADA_BOUND(job, 64), source, destination, context, tag, length,
                        synchronous, number, ordinal, incarnation, call_index, has_payload,
                        LLAMADA_BOUND(payload, 256));

enum class RankEventKind : std::uint8_t {
  started,           ///< a rank runs: its first incarnation, or the one that the observer met first
  died,              ///< a process of a rank has died
  replaced,          ///< a new incarnation has started, and repeats what its predecessor did
  live,              ///< the new incarnation does what no predecessor has done
  ended,             ///< a rank has ended in order
  protection_ended,  ///< ranks of the job can no longer be replaced; rank is -1
  missed,            ///< `count` records of the rank were gone before the observer could read them
  job_ended,         ///< rank is -1; the last event of a job
  deadline_missed,   ///< a rank has been in one MPI call for longer than the profile's DEADLINE
};
LLAMADA_ENUM(RankEventKind, started, died, replaced, live, ended, protection_ended, missed, job_ended,
             deadline_missed);

/// Something that has become of a rank, or of the job.
struct RankEvent {
  std::string job;
  RankEventKind kind = RankEventKind::started;
  std::int32_t rank = -1;         ///< of the job; -1: the job itself
  std::uint32_t incarnation = 0;  ///< that the event is about; 0: none
  std::uint32_t pid = 0;          ///< its process; 0 where it is gone
  std::uint64_t count = 0;  ///< of `missed`; of `deadline_missed`: which MPI call of the rank it is, from 1
  std::string call;         ///< of `deadline_missed`: the name of that call, "MPI_Recv"
};
LLAMADA_TYPE_APPENDABLE(RankEvent, LLAMADA_BOUND(job, 64), kind, rank, incarnation, pid, count,
                        LLAMADA_BOUND(call, 64));

}  // namespace llamada::types
