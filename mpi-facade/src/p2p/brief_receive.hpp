#pragma once

#include "p2p/engine.hpp"

// The way of a small message to a blocking receive that is waiting for it, from the log into the buffer: what
// can be looked at before it comes is, for all that follows is part of its latency.

namespace llamada::mpi {

inline constexpr std::size_t answer_bytes_max = 4095;
/// The same where the receive is posted already. Two that exchange more than that are quicker without, where
/// their cores have no cache in common.
inline constexpr std::size_t posted_answer_bytes_max = 1024;

/// Who has sent to where it now waits for a message from waits for an answer: when it looks first matters.
/// What is long takes its time, and is better taken while it comes. What comes from another node comes only
/// while this rank carries it.
inline bool Engine::is_answer(int from, Stream& stream) {
  const std::uint64_t sent = outgoing_.published_to(from);
  const bool sent_since = sent != stream.sent_before;
  stream.sent_before = sent;
  return sent_since && stream.last_bytes <= answer_bytes_max && !stream.is_far && waiting_.spin_rounds() > 0;
}

/// Before the first look for an answer.
inline void Engine::look_late(const Stream& stream) {
  constexpr unsigned lines_expected_of_answer = 16;
  constexpr int room_taken_for_answer = 4;
  stream.first_look.wait();
  stream.reader.expect(lines_expected_of_answer);
  // Not before: who reads what was sent may fetch the lines behind it, too, and would take these away again.
  for (int i = 0; i < room_taken_for_answer; ++i) outgoing_.take_room_ahead();
}

/// After a look in vain.
inline void Engine::spend_look(const Stream& stream, unsigned looks) {
  progress_.carry();
  stream.reader.expect();
  make_ready(looks);
}

inline bool Engine::receive_briefly(std::span<std::byte> room, int source, int tag,
                                    const Communicator& communicator, MPI_Status* status) {
  if (!has_nothing_else()) return false;
  int from = mpi::world_source(communicator, source);
  Stream* const stream = incoming_.one_stream(from);
  if (!stream || !receiving_.is_untouched(communicator.context(), from)) return false;
  // Not before: what a probe has found is still the first for the receive after it, whatever came meanwhile.
  if (waiting_.is_turn_of_others()) {
    progress();
    return false;
  }
  const bool answers = is_answer(from, *stream);
  if (answers) look_late(*stream);
  const unsigned looks_max = waiting_.brief_looks_max();
  unsigned looks = 0;
  const log::Cell* cell = stream->reader.peek_cell();
  for (; !cell; ++looks) {
    if (looks == looks_max || stream->reader.is_announced()) return false;
    spend_look(*stream, looks);
    cell = stream->reader.peek_cell();
  }
  if (!receiving_.take_briefly(from, *stream, *cell, {room, source, tag, communicator, status})) return false;
  if (answers) stream->first_look.found_after(looks);
  return true;
}

}  // namespace llamada::mpi
