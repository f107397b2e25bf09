#pragma once

#include <utility>

#include "llamada/mpi/calls.hpp"
#include "llamada/waits/judge.hpp"

// Surveys as tests write them down.

namespace llamada::waits::test {

using Course = SurveyedRank::Course;

inline Awaited receive(std::int32_t peer, std::int32_t tag = 5) {
  Awaited awaited;
  awaited.kind = Kind::receive;
  awaited.peer = peer;
  awaited.tag = tag;
  awaited.name = "MPI_COMM_WORLD";
  if (peer == any_rank) awaited.ranks = Ranks::everybody();
  return awaited;
}

inline Awaited send(std::int32_t peer) {
  Awaited awaited = receive(peer);
  awaited.kind = Kind::send;
  awaited.bytes = 8;
  return awaited;
}

inline Awaited collective(const char* operation, std::uint32_t ordinal, std::int32_t root = any_rank,
                          std::uint64_t communicator = 1) {
  Awaited awaited;
  awaited.kind = Kind::collective;
  awaited.operation = operation;
  awaited.ordinal = ordinal;
  awaited.root = root;
  awaited.communicator = communicator;
  awaited.ranks = Ranks::everybody();
  awaited.name = communicator == 1 ? "MPI_COMM_WORLD" : "halves";
  return awaited;
}

inline SurveyedRank waits(std::vector<Awaited> awaited, bool any = false,
                          mpi::CallId call = mpi::CallId::Recv) {
  SurveyedRank rank;
  rank.course = Course::waits;
  rank.report.emplace();
  rank.report->call = static_cast<std::uint32_t>(call);
  rank.report->any_suffices = any;
  for (Awaited& each : awaited) rank.report->add_awaited(std::move(each));
  return rank;
}

/// Waits in a collective, of which it is in the middle.
inline SurveyedRank in_collective(Awaited awaited, mpi::CallId call = mpi::CallId::Barrier) {
  const Position here{awaited.communicator, awaited.ordinal, false};
  SurveyedRank rank = waits({std::move(awaited)}, false, call);
  rank.report->positions.push_back(here);
  return rank;
}

inline SurveyedRank runs() { return {}; }
inline SurveyedRank ended() {
  SurveyedRank rank;
  rank.course = Course::ended;
  return rank;
}

inline Survey survey(std::vector<SurveyedRank> ranks) {
  for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i].name = "rank " + std::to_string(i);
  return ranks;
}

}  // namespace llamada::waits::test
