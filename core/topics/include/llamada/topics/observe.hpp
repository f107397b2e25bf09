#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "llamada/log/peer_arena.hpp"
#include "llamada/topics/discovery.hpp"

namespace llamada::topics {

/// A writer or reader as its arena describes it.
struct ObservedEndpoint {
  EndpointInfo info;
  std::uint64_t published = 0;  ///< Of a writer: samples.
  /// Of a writer whose samples lie in a log; slots do not count them.
  std::optional<std::uint64_t> published_bytes = std::nullopt;
};

/// A reader's match with a writer.
struct ObservedMatch {
  EndpointId writer;
  EndpointId reader;
  bool reliable = false;
  std::uint64_t acknowledged = 0;  ///< The sequence number up to which the samples are the reader's.
  std::uint64_t number = 0;        ///< Of the match, in the reader's arena.
};

/// A writer's answer to a match, in the writer's arena.
struct ObservedGrant {
  std::uint64_t reader_participant = 0;
  std::uint64_t match_number = 0;
  std::uint64_t sequence = 0;  ///< The last sample that the reader does not get: it came too late for it.
};

/// What lies in one arena.
struct ObservedArena {
  std::optional<ParticipantInfo> participant;
  std::vector<ObservedEndpoint> endpoints;
  std::vector<ObservedMatch> matches;  ///< Of its readers.
  std::vector<ObservedGrant> grants;   ///< Of its writers.
};

/// Reads what the Participant in an arena says of itself, for tools: its owner notices nothing. What is being
/// changed at this moment is left out, what is damaged, too. `arena_id` is the number that the driver gave
/// the arena, the EndpointId::participant of its endpoints. An arena without a Participant (a rank's) has
/// nothing in it. Threads: any; the owner may write meanwhile.
ObservedArena observe(const log::PeerArena& arena, std::uint64_t arena_id, std::uint32_t slot);

}  // namespace llamada::topics
